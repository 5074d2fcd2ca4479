#include "row_table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <iterator>

#include "ww/rocprofiler/counting_files.hpp"

namespace ww::collect {
namespace {

std::string csv_text(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

std::filesystem::path with_ending(std::filesystem::path stem, const char* ending) {
  return stem += ending;
}

}  // namespace

Result<RowTable> RowTable::create(const std::filesystem::path& stem) {
  WW_ASSIGN(file, StreamedFile::create(with_ending(stem, rocprofiler::kFinished),
                                       with_ending(stem, rocprofiler::kUnfinished)));
  RowTable table(std::move(file));
  WW_TRY(table.file_.write(rocprofiler::kRowHeader));
  WW_TRY(table.file_.flush());
  return table;
}

Status RowTable::add(const Launch& launch, std::optional<LaunchTimes> times,
                     const std::vector<CounterSum>& sums) {
  const std::string head = fmt::format(
      "{0},{0},\"Agent {1}\",{2},{3},0,{4},{5},{6},{7},{8},{9},", launch.dispatch, launch.agent,
      launch.queue, ::getpid(), launch.grid_size, launch.kernel_id, csv_text(launch.kernel),
      launch.workgroup_size, launch.group_bytes, launch.private_bytes);
  const std::string tail =
      times ? fmt::format(",{},{},", times->start_ns, times->end_ns) : std::string(",,,");
  text_.clear();
  const auto out = std::back_inserter(text_);
  for (const CounterSum& sum : sums) {
    fmt::format_to(out, "{}\"{}\",", head, sum.name);
    if (sum.instances > 0) fmt::format_to(out, "{}", sum.value);
    fmt::format_to(out, "{}{}\n", tail, sum.instances);
  }
  WW_TRY(file_.write(text_));
  return file_.flush();
}

}  // namespace ww::collect
