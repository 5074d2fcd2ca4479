// A sweep and its folder:
//
//   sweep.json, plan.toml   what it is; --resume and workers elsewhere read them
//   results/                what workers leave (result_files.hpp)
//   files/HASH/             what a point itself leaves: a calibration's campaign and model
//   slurm/N/                the Nth submission: its points, scripts, job numbers
//   sweep.db                the results, a row a point (store.hpp), made from results/
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ww/sweep/points.hpp"
#include "ww/sweep/pool.hpp"
#include "ww/sweep/store.hpp"

namespace ww::sweep {

class ResultWriter;

// The program whose commands are swept.
struct Program {
  RunCommand run;
  // Refuses a command line that the command would refuse, without running it.
  std::function<Status(const std::vector<std::string>& arguments)> check;
  std::string hash;                  // of the executable and what it loads of the project
  std::filesystem::path executable;  // to be started on other machines
};

// Hash of files, each named and read whole. Errors: not_found, io_error, permission_denied.
[[nodiscard]] Result<std::string> hash_files(const std::vector<std::filesystem::path>& files);

struct Sweep {
  std::filesystem::path folder;  // absolute
  std::unique_ptr<Plan> plan;    // points refer to it
  std::unique_ptr<Points> points;
  std::string program_hash;

  [[nodiscard]] std::filesystem::path results() const { return folder / "results"; }
  [[nodiscard]] std::filesystem::path database() const { return folder / "sweep.db"; }
};

// Loads, expands and checks a plan; touches nothing. Each value of each axis is checked, and up to
// 500 points spread over the plan. Errors: those of load_plan and Points::expand, invalid_argument
// with the option's name.
[[nodiscard]] Result<Sweep> plan_sweep(const std::filesystem::path& plan,
                                       const std::filesystem::path& folder, const Program& program);

// Makes the folder, or with `resume` takes it over. Errors: invalid_argument (it is there and
// `resume` is not given), permission_denied, io_error.
Status make_folder(const Sweep& sweep, const Program& program, bool resume);

// Opens a sweep from its folder, as its workers do. Error bad_data when this program is not the one
// that the sweep was begun with.
[[nodiscard]] Result<Sweep> open_sweep(const std::filesystem::path& folder, const Program& program);

// First points of each hash that have no final record under results/, in order.
[[nodiscard]] Result<std::vector<std::uint32_t>> missing_points(const Sweep& sweep);

// Calls visit with every record under results/. Errors: io_error, permission_denied.
Status each_record(const Sweep& sweep, const std::function<void(const Record&)>& visit);

// A point as a worker gets it.
struct Work {
  PointHash hash;
  std::vector<std::string> arguments;
  std::string host;  // where it must run; empty: anywhere
};
[[nodiscard]] Work work_of(const Sweep& sweep, std::uint32_t point);

using OnRecord = std::function<void(const Record&)>;

// Runs work in a pool of `slots` and writes records; what points leave goes under `folder`.
// Whatever ends it, finished points are written if the disk lets. Errors: cancelled, io_error,
// permission_denied.
Status run_work(const Plan& plan, const std::filesystem::path& folder, unsigned slots,
                const Program& program, const std::function<std::optional<Work>()>& next,
                ResultWriter& writer, const OnRecord& on_record);

// Runs points on this machine. `slots` 0: as many as cores and memory allow. Errors: as run_work.
Status run_local(const Sweep& sweep, const std::vector<std::uint32_t>& points, unsigned slots,
                 const Program& program, const OnRecord& on_record);

// What a few points took: the first and, where that was quick, one in the middle and the last.
struct Pilot {
  std::size_t points{};
  double seconds{};       // of a slot, for one point
  double peak_mib{};      // most of them
  double result_bytes{};  // of result files, for one point
  double file_bytes{};    // of files/, for one point
  std::vector<Record> records;
};
// With `keep` the records become results of the sweep; without, nothing stays. Errors: as run_work.
[[nodiscard]] Result<Pilot> run_pilot(const Sweep& sweep, const std::vector<std::uint32_t>& todo,
                                      const Program& program, bool keep);

// Puts the result files together and makes sweep.db from them.
Result<StatusCounts> collect(const Sweep& sweep);

}  // namespace ww::sweep
