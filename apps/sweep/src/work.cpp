// Points through the pool into result files: the same for this machine and for a task elsewhere.
#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <unordered_map>

#include "host.hpp"
#include "ww/core/log.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sweep/result_files.hpp"
#include "ww/sweep/sweep.hpp"

namespace ww::sweep {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kPointsPerProcess = 200;
constexpr double kPilotIsQuick_s = 3;
constexpr std::size_t kPilotPoints = 3;

// Holds a point's files until it is done; they are then renamed to files/HASH.
class Scratch {
 public:
  Scratch(fs::path folder, std::string option)
      : folder_(std::move(folder)), option_(std::move(option)) {}

  [[nodiscard]] std::string argument(const PointHash& hash) const {
    return option_.empty() ? std::string() : fmt::format("--{}={}", option_, place(hash).string());
  }
  // A point whose files cannot be kept has no result: --resume runs it again.
  void settle(Record& record) const {
    if (option_.empty()) return;
    std::error_code ec;
    const auto from = place(record.hash);
    if (!is_final(record.status) || !fs::exists(from, ec)) {
      fs::remove_all(from, ec);
      return;
    }
    const auto to = folder_ / "files" / record.hash.text();
    fs::create_directories(to.parent_path(), ec);
    if (!ec) fs::remove_all(to, ec);
    if (!ec) fs::rename(from, to, ec);
    if (!ec) return;
    record.status = PointStatus::environment;
    record.reason = fmt::format("{}: cannot keep the point's files: {}", to.string(), ec.message());
    record.result.clear();
    fs::remove_all(from, ec);
  }

 private:
  [[nodiscard]] fs::path place(const PointHash& hash) const {
    return folder_ / "work" / fmt::format("{}-{}-{}", hash.text(), host_name(), ::getpid());
  }
  fs::path folder_;
  std::string option_;
};

bool may_run_here(const std::string& host) {
  return host.empty() || host == host_name();
}

Record other_host(const Work& work) {
  Record record;
  record.hash = work.hash;
  record.status = PointStatus::environment;
  record.reason =
      fmt::format("is to run on {}, not here; --executor slurm sends it there", work.host);
  record.timings = "{}";
  record.host = host_name();
  record.started_ms = now_ms();
  return record;
}

double bytes_under(const fs::path& folder) {
  double sum = 0;
  std::error_code ec;
  for (fs::recursive_directory_iterator at(folder, ec); !ec && at != decltype(at)();
       at.increment(ec)) {
    if (at->is_regular_file(ec)) sum += static_cast<double>(at->file_size(ec));
  }
  return sum;
}

}  // namespace

Status run_work(const Plan& plan, const fs::path& folder, unsigned slots, const Program& program,
                const std::function<std::optional<Work>()>& next, ResultWriter& writer,
                const OnRecord& on_record) {
  const auto traits = traits_of(plan.command);
  PoolOptions options;
  options.slots = slots;
  options.points_per_process = traits.reusable ? kPointsPerProcess : 1;
  options.time_limit_s = plan.time_limit_s;
  options.memory_mib = plan.memory_mib;
  options.folder = plan.folder();
  const ResultFilter filter{plan.keep, plan.timings};
  const Scratch scratch(folder, traits.out_option);
  if (!traits.out_option.empty()) {
    std::error_code ec;
    fs::create_directories(folder / "work", ec);
  }
  std::unordered_map<std::size_t, PointHash> under_way;
  std::size_t count = 0;
  Status failure;
  const auto next_job = [&]() -> std::optional<Job> {
    for (;;) {
      auto work = next();
      if (!work) return std::nullopt;
      if (!may_run_here(work->host)) {
        const auto record = other_host(*work);
        failure = writer.add(record);
        if (!failure) return std::nullopt;
        on_record(record);
        continue;
      }
      if (const auto out = scratch.argument(work->hash); !out.empty()) {
        work->arguments.insert(
            work->arguments.begin() + static_cast<std::ptrdiff_t>(plan.command.size()), out);
      }
      under_way[count] = work->hash;
      return Job{count++, std::move(work->arguments)};
    }
  };
  const auto done = [&](Finished&& finished) -> Status {
    Record record;
    const auto at = under_way.find(finished.id);
    record.hash = at->second;
    under_way.erase(at);
    record.wall_s = finished.wall_s;
    record.cpu_s = finished.cpu_s;
    record.peak_mib = finished.peak_mib;
    record.started_ms = finished.started_ms;
    record.attempts = finished.attempts;
    record.host = host_name();
    judge(finished.ending, filter, plan.time_limit_s, plan.memory_mib, record);
    scratch.settle(record);
    WW_TRY(writer.add(record));
    on_record(record);
    return {};
  };
  auto status = run_pool(options, program.run, next_job, done);
  if (status && !failure) status = failure;
  const auto written = writer.finish();
  if (!traits.out_option.empty()) {
    Record lost;
    for (const auto& [id, hash] : under_way) {
      lost.hash = hash;
      scratch.settle(lost);
    }
    std::error_code ignored;
    fs::remove(folder / "work", ignored);  // where it is empty
  }
  return status ? written : status;
}

Status run_local(const Sweep& sweep, const std::vector<std::uint32_t>& points, unsigned slots,
                 const Program& program, const OnRecord& on_record) {
  WW_ASSIGN(writer, ResultWriter::create(sweep.results(), "local"));
  std::size_t next = 0;
  return run_work(
      *sweep.plan, sweep.folder,
      slots != 0 ? slots : slots_for(sweep.plan->cpus, sweep.plan->memory_mib), program,
      [&]() -> std::optional<Work> {
        if (next == points.size()) return std::nullopt;
        return work_of(sweep, points[next++]);
      },
      writer, on_record);
}

namespace {

// The first, the middle and the last of the points that may run on this machine, each once.
std::vector<std::uint32_t> pilot_points(const Sweep& sweep,
                                        const std::vector<std::uint32_t>& todo) {
  std::vector<std::uint32_t> here;
  for (const auto point : todo) {
    if (may_run_here(sweep.points->host(point))) here.push_back(point);
  }
  if (here.size() <= kPilotPoints) return here;
  return {here.front(), here[here.size() / 2], here.back()};
}

void add_record(const Record& record, const fs::path& files, Pilot& pilot) {
  pilot.records.push_back(record);
  if (!pilot.counts(record)) return;
  ++pilot.points;
  pilot.seconds += record.wall_s;
  pilot.peak_mib = std::max(pilot.peak_mib, record.peak_mib);
  pilot.result_bytes += static_cast<double>(to_line(record).size() + 1);
  pilot.file_bytes += bytes_under(files / record.hash.text());
}

}  // namespace

Result<Pilot> run_pilot(const Sweep& sweep, const std::vector<std::uint32_t>& todo,
                        const Program& program, bool keep) {
  Pilot pilot;
  const auto points = pilot_points(sweep, todo);
  if (points.empty()) return pilot;
  fs::path folder = sweep.folder;
  std::optional<ScratchFolder> scratch;  // where nothing is kept
  if (!keep) {
    WW_ASSIGN(made, ScratchFolder::create("pilot"));
    folder = scratch.emplace(std::move(made)).path();
  }
  WW_ASSIGN(writer, ResultWriter::create(folder / "results", "pilot"));
  double total_s = 0;
  std::size_t taken = 0;
  WW_TRY(run_work(
      *sweep.plan, folder, 1, program,
      [&]() -> std::optional<Work> {
        if (taken == points.size() || total_s > kPilotIsQuick_s) return {};
        return work_of(sweep, points[taken++]);
      },
      writer,
      [&](const Record& record) {
        total_s += record.wall_s;
        add_record(record, folder / "files", pilot);
      }));
  if (pilot.points > 0) {
    const auto n = static_cast<double>(pilot.points);
    pilot.seconds /= n;
    pilot.result_bytes /= n;
    pilot.file_bytes /= n;
  }
  return pilot;
}

}  // namespace ww::sweep
