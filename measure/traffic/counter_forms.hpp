// The readers behind parse_counter_file, one for each tool.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ww/measure/counter_file.hpp"
#include "ww/measure/csv.hpp"

namespace ww::measure {

[[nodiscard]] tl::unexpected<Error> at_line(ErrorCode code, std::string message,
                                            const std::string& source, std::size_t line);

// Column names of a row, looked up without regard to case.
class Header {
 public:
  explicit Header(const CsvRow& row) : row_(row) {}
  // First column of any of these names; npos where there is none.
  static constexpr auto npos = static_cast<std::size_t>(-1);
  [[nodiscard]] std::size_t find(std::initializer_list<std::string_view> names) const;
  [[nodiscard]] bool has(std::string_view name) const { return find({name}) != npos; }

 private:
  const CsvRow& row_;
};

[[nodiscard]] std::string lower(std::string_view text);

// rows.front() is the header.
[[nodiscard]] Result<CounterFile> read_wide(const std::vector<CsvRow>& rows, CounterForm form,
                                            const std::string& source);
// A row for each launch and counter, of which there may be millions: row by row.
[[nodiscard]] Result<CounterFile> read_long(std::string_view text, const std::string& source,
                                            const CsvOptions& options);
[[nodiscard]] Result<CounterFile> read_kernel_trace(const std::vector<CsvRow>& rows,
                                                    const std::string& source);
[[nodiscard]] Result<CounterFile> read_ncu(const std::vector<CsvRow>& rows,
                                           const std::string& source);

// Offset of the first line that `is` one, its byte order mark left out (one may stand behind what a
// program printed before its table); npos where there is none.
template <class Predicate>
std::size_t find_line(std::string_view text, Predicate is) {
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    const auto whole = text.substr(at, end == std::string_view::npos ? end : end - at);
    const auto line = without_bom(whole);
    if (is(line)) return at + (whole.size() - line.size());
    if (end == std::string_view::npos) break;
    at = end + 1;
  }
  return std::string_view::npos;
}

// Offset of the line with ncu's header, if the text has one.
[[nodiscard]] std::size_t ncu_header(std::string_view text);

// A kernel's name without the profiler's "[clone .kd]", "(.kd)" or ".kd".
[[nodiscard]] std::string plain_kernel_name(std::string_view text);

// The values that several passes gave for one counter of a dispatch.
class RepeatedCounters {
 public:
  void add(const std::string& counter, double value) { values_[counter].push_back(value); }
  // Equal values are one measurement; of others the dispatch gets the mean and a remark.
  void settle(CounterDispatch& dispatch) const;

 private:
  std::map<std::string, std::vector<double>> values_;
};

// The counters of a dispatch come from several passes, each an execution with a time of its own:
// bytes must not be divided by the time of another run.
void forget_times_of_passes(CounterDispatch& dispatch);

// Whether a counter has one value a pass, so that a second value is another pass's. Others may have
// a row for each instance.
[[nodiscard]] inline bool is_sum(std::string_view counter) {
  return counter.ends_with("_sum");
}

// Moves the counters of launches that the profiler did not count into `missing`, with the reason:
// whatever runs on a GPU, one of its counters moves. Radeon cards count nothing in their caches
// unless their clocks are fixed.
void refuse_uncounted(CounterFile& file, std::string_view architecture);

// Undoes refuse_uncounted(), for launches whose other passes say more: a pass that counts rare
// events alone may truly have counted none.
void restore_uncounted(CounterFile& file);

// Meaning of several rows of one process, agent and id.
enum class SameRows {
  passes,   // executions of one launch
  unknown,  // passes, dies or instances: counters and times must show
};

// Joins a further pass of a program: the same launches in the same order, with other counters.
// Zeros stay: whoever joins calls refuse_uncounted() at the end. Error bad_data: they are not the
// same.
[[nodiscard]] Status join_pass(CounterFile& all, CounterFile pass);

// Orders dispatches by process, agent and id, and joins rows that are passes of one launch and
// processes that are passes of one another. Error bad_data: rows of a launch that are not its
// passes.
[[nodiscard]] Status sort_dispatches(CounterFile& file, SameRows same);

}  // namespace ww::measure
