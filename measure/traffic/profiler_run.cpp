// Running a profiler and reading what it wrote.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "counter_forms.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/subprocess.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/measure/environment.hpp"
#include "ww/measure/profiler.hpp"
#include "ww/rocprofiler/counting_files.hpp"

namespace ww::measure {
namespace {

namespace fs = std::filesystem;

// The end of what was said: enough to see the error, not the whole log.
std::string profilers_last_words(const std::string& text) {
  constexpr std::size_t most = 1500;
  std::string_view rest = text;
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == ' ')) rest.remove_suffix(1);
  if (rest.size() <= most) return std::string(rest);
  rest.remove_prefix(rest.size() - most);
  const auto line = rest.find('\n');
  return "..." + std::string(line == std::string_view::npos ? rest : rest.substr(line));
}

// The word after `before` in the line, up to a blank or quote.
std::string word_after(const std::string& text, std::string_view before) {
  const auto at = text.find(before);
  if (at == std::string::npos) return {};
  const auto begin = text.find_first_not_of(" :'\"", at + before.size());
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_first_of(" ,'\"\n", begin) - begin);
}

// The counter that the device has not, as the profiler names it; "of these" where it does not.
// Nothing where it complains of none.
std::optional<std::string> refused_counter(const std::string& said) {
  for (const std::string_view before : {"Failed to find metric", "Unable to find all counters",
                                        "metric not found", "Unknown metric", "input metric"}) {
    if (said.find(before) == std::string::npos) continue;
    const std::string counter = word_after(said, before);
    return counter.empty() ? "of these" : counter;
  }
  return std::nullopt;
}

// Failures that have a name and a remedy, by the profiler's own message.
std::optional<Error> known_failure(const std::string& said, const std::string& name) {
  const auto has = [&said](std::string_view text) { return said.find(text) != std::string::npos; };
  if (has("ERR_NVGPUCTRPERM")) {
    return Error{ErrorCode::permission_denied,
                 "the driver keeps the counters to administrators (ERR_NVGPUCTRPERM): run as root, "
                 "or allow everyone: echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' > "
                 "/etc/modprobe.d/wirewatt-counters.conf, then load the driver anew (in a "
                 "container: --cap-add SYS_ADMIN)",
                 name};
  }
  if (has("/dev/kfd") && (has("ermission denied") || has("Unable to open"))) {
    return Error{ErrorCode::permission_denied,
                 "/dev/kfd may not be opened: " + how_to_open_devices(), name};
  }
  if (has("aqlprofile") && (has("cannot open shared object") || has("not found"))) {
    return Error{ErrorCode::missing_dependency,
                 "ROCm's counter library is missing: install the package hsa-amd-aqlprofile", name};
  }
  if (has("exceeds the capabilities of the hardware") || has("exceed hardware limits")) {
    return Error{ErrorCode::unsupported,
                 "the device cannot count these together: " + profilers_last_words(said), name};
  }
  if (const auto counter = refused_counter(said)) {
    return Error{ErrorCode::unsupported, fmt::format("the device has no counter {}", *counter),
                 name};
  }
  if (has("No kernels were profiled")) {
    return Error{ErrorCode::bad_data, "the program launched no kernel", name};
  }
  return std::nullopt;
}

// Every counter table under a folder, in order of name; where there is none, every database, which
// releases write that no longer make tables.
Result<std::vector<fs::path>> tables_under(const fs::path& folder) {
  std::vector<fs::path> files, databases;
  std::error_code ec;
  for (auto entry = fs::recursive_directory_iterator(folder, ec);
       !ec && entry != fs::recursive_directory_iterator(); entry.increment(ec)) {
    const std::string name = entry->path().filename().string();
    if (name.ends_with("counter_collection.csv") || name == "counters.csv") {
      files.push_back(entry->path());
    }
    if (name.ends_with("results.db")) databases.push_back(entry->path());
  }
  if (files.empty()) files = std::move(databases);
  std::ranges::sort(files);
  if (files.empty()) {
    return fail(ErrorCode::bad_data,
                "the profiler left no table of counters: the program launched "
                "no kernel, or the profiler cannot follow it",
                folder.string());
  }
  return files;
}

struct ProfilerFolder {
  fs::path path;
  std::optional<ScratchFolder> scratch{};  // where the request names no folder
};

Status make_folder(const ProfileRequest& request, ProfilerFolder& folder) {
  if (request.folder.empty()) {
    WW_ASSIGN(scratch, ScratchFolder::create("profile"));
    folder.path = folder.scratch.emplace(std::move(scratch)).path();
    return {};
  }
  folder.path = fs::absolute(request.folder);
  std::error_code ec;
  fs::create_directories(folder.path, ec);
  if (ec) return fail(ErrorCode::io_error, ec.message(), folder.path.string());
  // Tables of an earlier run would be read as this one's.
  if (!fs::is_empty(folder.path, ec)) {
    return fail(ErrorCode::invalid_argument, "the folder for the profiler's files is not empty",
                folder.path.string());
  }
  return {};
}

std::chrono::milliseconds time_limit(const ProfileRequest& request) {
  return request.limit * (1 + static_cast<int>(request.counters.size()) / 4);
}

// A profiler that is killed leaves what it changed: locked clocks, loaded modules.
constexpr std::chrono::seconds kTimeToEnd{5};

struct ProfilerRun {
  std::vector<std::string> command;
  ProcessResult done;
  std::string said;
  std::string table{};    // of ncu with its messages, or of CUPTI
  std::string trouble{};  // why CUPTI counted nothing
};

void remove_tables(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> files;
  for (const auto& file : fs::directory_iterator(folder, ignored)) files.push_back(file.path());
  for (const fs::path& file : files) fs::remove(file, ignored);
}

// The rows and words of each process of the program, as one table in ncu's form.
Status read_cupti(const fs::path& folder, ProfilerRun& run) {
  std::string rows, words;
  bool reached = false;
  std::error_code failed;
  for (const auto& file : fs::directory_iterator(folder, failed)) {
    const auto ending = file.path().extension();
    if (ending != ".csv" && ending != ".txt") continue;
    reached = true;
    WW_ASSIGN(text, read_file(file.path()));
    (ending == ".csv" ? rows : words) += text;
  }
  run.said += "\n" + words;
  if (!reached) {
    return fail(ErrorCode::bad_data,
                "the program used no NVIDIA GPU, or its driver loads no library for tools "
                "(CUDA_INJECTION64_PATH)",
                "CUPTI");
  }
  if (rows.empty()) {
    const auto why = profilers_last_words(words);
    run.said += why.empty() ? "\nNo kernels were profiled" : "";
    run.trouble = why;
  }
  run.table =
      "\"ID\",\"Process ID\",\"Kernel Name\",\"Device\",\"CC\",\"Metric Name\",\"Metric Unit\","
      "\"Metric Value\"\n" +
      rows;
  return {};
}

Result<ProfilerRun> run_profiler(const InstalledProfiler& profiler, const ProfileRequest& request,
                                 const fs::path& folder) {
  ProfilerRun run;
  run.command = profiler_command(profiler, request, folder);
  ProcessRequest process;
  process.command = run.command;
  process.limit = time_limit(request);
  process.time_to_end = kTimeToEnd;
  // Files that the profiler leaves where it stands (rocprof v1 does) go there, too; the program's
  // own relative paths must hold.
  process.environment = {{"LC_ALL", "C"}, {"TMPDIR", folder.string()}};
  std::error_code ec;
  // The tables of an earlier run have another set of counters.
  fs::remove(folder / kNcuTable, ec);
  if (profiler.profiler == Profiler::cupti) remove_tables(folder);
  WW_ASSIGN(done, run_process(process));
  run.done = std::move(done);
  run.said = run.done.errors + "\n" + run.done.output;
  if (profiler.profiler == Profiler::ncu) {
    // The profiler leaves no table if it could not begin; its reason then is on its streams.
    run.table = read_file(folder / kNcuTable).value_or("");
    run.said += "\n" + run.table;
  }
  if (profiler.profiler == Profiler::cupti) WW_TRY(read_cupti(folder, run));
  return run;
}

}  // namespace

Status join_pass(CounterFile& all, CounterFile pass) {
  restore_uncounted(pass);
  if (all.dispatches.empty()) {
    all = std::move(pass);
    return {};
  }
  const auto mismatch = [&pass](const std::string& what) {
    return fail(ErrorCode::bad_data,
                "the passes do not match (" + what +
                    "): the program launches other kernels each "
                    "time it runs",
                pass.source);
  };
  if (pass.dispatches.size() != all.dispatches.size()) {
    return mismatch(
        fmt::format("{} and {} dispatches", all.dispatches.size(), pass.dispatches.size()));
  }
  for (std::size_t i = 0; i < all.dispatches.size(); ++i) {
    CounterDispatch& into = all.dispatches[i];
    CounterDispatch& from = pass.dispatches[i];
    if (into.kernel != from.kernel || into.grid_size != from.grid_size) {
      return mismatch(fmt::format("dispatch {}: {} and {}", into.id, into.kernel, from.kernel));
    }
    into.counters.merge(from.counters);
    into.missing.merge(from.missing);
  }
  return {};
}

Result<Profile> profile(const InstalledProfiler& profiler, const ProfileRequest& asked) {
  ProfileRequest request = asked;
  const std::string name(to_string(profiler.profiler));
  if (request.command.empty()) {
    return fail(ErrorCode::invalid_argument, "no program to profile", name);
  }
  if (find_program(request.command.front()).empty()) {
    return fail(ErrorCode::not_found, "no such program", request.command.front());
  }
  if (request.counters.empty()) request.counters = mapped_counters(request.architecture);
  if (request.counters.empty()) {
    return fail(ErrorCode::unsupported,
                "no counters are known for '" + request.architecture + "'; name them", name);
  }
  ProfilerFolder folder;
  WW_TRY(make_folder(request, folder));
  if (profiler.profiler == Profiler::rocprof_v1 || profiler.profiler == Profiler::rocprof_v3) {
    WW_TRY(write_file_atomically(folder.path / "input.txt", rocprof_input(request.counters)));
  }
  WW_ASSIGN(run, run_profiler(profiler, request, folder.path));
  const bool has_table = profiler.profiler == Profiler::ncu || profiler.profiler == Profiler::cupti;
  while (has_table && asked.counters.empty()) {
    const auto refused = refused_counter(run.said);
    if (!refused) break;
    auto fewer = without_counter(request.architecture, request.counters, *refused);
    if (!fewer) break;
    request.counters = std::move(*fewer);
    WW_ASSIGN(again, run_profiler(profiler, request, folder.path));
    run = std::move(again);
  }
  Profile result;
  result.command = run.command;
  const ProcessResult& done = run.done;
  if (auto known = known_failure(run.said, name)) return tl::unexpected(std::move(*known));
  if (done.timed_out) {
    return fail(ErrorCode::device_error,
                fmt::format("stopped after {} s: {}", time_limit(request).count() / 1000,
                            profilers_last_words(done.errors)),
                name);
  }
  if (done.exit_code != 0) {
    return fail(ErrorCode::device_error,
                fmt::format("{} {}: {}", done.signal != 0 ? "ended by signal" : "exit code",
                            done.signal != 0 ? done.signal : done.exit_code,
                            profilers_last_words(run.said)),
                name);
  }
  if (run.trouble.starts_with(rocprofiler::kNoKernelMatches)) {
    return fail(ErrorCode::invalid_argument, run.trouble, "--kernels");
  }
  if (!run.trouble.empty()) return fail(ErrorCode::device_error, run.trouble, name);
  if (has_table) {
    WW_ASSIGN(file, parse_counter_file(run.table, name));
    result.counters = std::move(file);
  } else {
    WW_ASSIGN(tables, tables_under(folder.path));
    for (const fs::path& table : tables) {
      WW_ASSIGN(pass, read_counter_file(table.string(), request.architecture));
      WW_TRY(join_pass(result.counters, std::move(pass)));
    }
    refuse_uncounted(result.counters, request.architecture);
  }
  if (result.counters.dispatches.empty()) {
    return fail(ErrorCode::bad_data, "the program launched no kernel", name);
  }
  if (result.counters.architecture.empty()) result.counters.architecture = request.architecture;
  return result;
}

Result<Profile> profile(const ProfileRequest& request) {
  const auto installed = installed_profilers(request.architecture);
  if (installed.empty()) {
    const bool nvidia = request.architecture.starts_with("sm_");
    return fail(ErrorCode::missing_dependency,
                nvidia ? "no profiler is installed: install Nsight Compute (package nsight-compute "
                         "of NVIDIA's repository), or import its CSV"
                       : "no profiler is installed: install rocprofv3 (package rocprofiler-sdk of "
                         "AMD's repository) or rocprof (rocprofiler-dev), or import its CSV",
                request.architecture);
  }
  return profile(installed.front(), request);
}

}  // namespace ww::measure
