// A sweep and its folder:
//
//   sweep.json, plan.toml   the sweep and its plan; --resume and workers elsewhere read them
//   results/                the workers' result files (result_files.hpp)
//   files/HASH/             files of a point: a calibration's campaign and model
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
  // Options of a command whose values name files that it reads, without dashes.
  std::function<std::vector<std::string>(const std::vector<std::string>& command)> input_files;
  std::string hash;                  // of the executable and what it loads of the project
  std::filesystem::path executable;  // to be started on other machines
};

// Hash over the names and contents of files. Errors: not_found, io_error, permission_denied.
[[nodiscard]] Result<std::string> hash_files(const std::vector<std::filesystem::path>& files);

struct Sweep {
  std::filesystem::path folder;  // absolute
  std::unique_ptr<Plan> plan;    // points refer to it
  std::unique_ptr<Points> points;
  std::string program_hash;

  [[nodiscard]] std::filesystem::path results() const { return folder / "results"; }
  [[nodiscard]] std::filesystem::path database() const { return folder / "sweep.db"; }
};

// Loads, expands and checks a plan, and writes nothing. It checks each value of each axis, and up
// to 500 points spread over the plan. Errors: those of load_plan and Points::expand,
// invalid_argument with the option's name.
[[nodiscard]] Result<Sweep> plan_sweep(const std::filesystem::path& plan,
                                       const std::filesystem::path& folder, const Program& program);

// Makes the folder, or with `resume` uses the existing one. Errors: invalid_argument (it exists and
// `resume` is not given), permission_denied, io_error.
Status make_folder(const Sweep& sweep, const Program& program, bool resume);

// Opens a sweep from its folder, as its workers do. Error bad_data if this program is not the one
// that began the sweep.
[[nodiscard]] Result<Sweep> open_sweep(const std::filesystem::path& folder, const Program& program);

// The first point of each hash that has no final record under results/, in order.
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

// Runs work in a pool of `slots` and writes records. Files of points go under `folder`. Finished
// points are written however the run ends, if the disk permits. Errors: cancelled, io_error,
// permission_denied.
Status run_work(const Plan& plan, const std::filesystem::path& folder, unsigned slots,
                const Program& program, const std::function<std::optional<Work>()>& next,
                ResultWriter& writer, const OnRecord& on_record);

// Runs points on this machine. If `slots` is 0, as many at a time as cores and memory allow.
// Errors: those of run_work.
Status run_local(const Sweep& sweep, const std::vector<std::uint32_t>& points, unsigned slots,
                 const Program& program, const OnRecord& on_record);

// The cost of a few points of those that may run on this machine: the first and, if that was quick,
// one in the middle and the last. Without points the cost is not known.
struct Pilot {
  std::size_t points{};   // that say what a point costs
  double seconds{};       // of a slot, for one point
  double peak_mib{};      // most of them
  double result_bytes{};  // of result files, for one point
  double file_bytes{};    // of files/, for one point
  std::vector<Record> records;

  // A point that misses a device or permission here says nothing of a machine that has them.
  [[nodiscard]] static bool counts(const Record& record) {
    return record.status != PointStatus::environment;
  }
};
// Runs the pilot. With `keep` its records become results of the sweep; otherwise nothing is kept.
// Errors: those of run_work.
[[nodiscard]] Result<Pilot> run_pilot(const Sweep& sweep, const std::vector<std::uint32_t>& todo,
                                      const Program& program, bool keep);

// Joins the result files and makes sweep.db from them.
Result<StatusCounts> collect(const Sweep& sweep);

}  // namespace ww::sweep
