#include "ww/measure/counted/in_process.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>
#include <sstream>
#include <thread>
#include <tuple>

#include "counter_forms.hpp"
#include "counting_environment.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/process.hpp"
#include "ww/core/rocm_library.hpp"
#include "ww/core/subprocess.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/measure/child.hpp"
#include "ww/measure/counted/killed_rows.hpp"
#include "ww/measure/csv.hpp"
#include "ww/measure/profiler.hpp"
#include "ww/rocprofiler/counting_files.hpp"
#include "ww/rocprofiler/pass_plan.hpp"
#include "ww/rocprofiler/sdk.hpp"

namespace ww::measure {
namespace {

namespace fs = std::filesystem;

constexpr std::array kSdkMajors = {1, 0};
constexpr std::array kSdkEntries = {"rocprofiler_get_version", "rocprofiler_set_api_table"};
const RocmLibrary kSdkLibrary{"AMD's rocprofiler-sdk", "librocprofiler-sdk", kSdkMajors,
                              kSdkEntries, "rocprofiler-sdk (AMD's repository)"};
constexpr const char* kUnversioned = "librocprofiler-sdk.so";
constexpr const char* kTool = "libwirewatt-rocprofiler.so";
constexpr std::chrono::seconds kTimeToLoad{20};  // for a library that loads others

// "VERSION FILE" of the library, or "!" and why there is none. In a child: AMD's libraries leave
// threads and exit handlers behind.
std::string look_for_sdk() {
  const auto opened = open_rocm_library(kSdkLibrary);
  if (!opened) return "!" + opened.error().message;
  const auto get_version =
      reinterpret_cast<int (*)(std::uint32_t*, std::uint32_t*, std::uint32_t*)>(
          ::dlsym(opened->handle, "rocprofiler_get_version"));
  std::uint32_t major = 0, minor = 0, patch = 0;
  if (get_version(&major, &minor, &patch) != 0) return "!" + opened->file + " gives no version";
  Dl_info info{};
  ::dladdr(reinterpret_cast<const void*>(get_version), &info);
  return fmt::format("{} {}",
                     major * rocprofiler::kMajorStep + minor * rocprofiler::kMinorStep + patch,
                     info.dli_fname == nullptr ? opened->file : info.dli_fname);
}

// --- what a run left
// ------------------------------------------------------------------------------

using rocprofiler::CountedAgent;
using rocprofiler::CountingNote;

// The counts of one process, with the note that its collector left.
struct CountedProcess {
  CountingNote note;
  std::vector<CounterDispatch> dispatches;
};

constexpr const char* kNoRecord = "rocprofiler-sdk delivered no record of this launch";

// InstanceCounts that each counter of each launch is the sum of: (process, dispatch, counter).
using InstanceCounts = std::map<std::tuple<std::string, std::uint64_t, std::string>, std::int64_t>;

Result<InstanceCounts> read_instances(std::string_view rows, const std::string& source) {
  InstanceCounts instances;
  std::optional<CsvColumns> columns;
  WW_TRY(each_csv_row(rows, source, {}, [&](CsvRow& row) -> Status {
    if (!columns) {
      columns.emplace(row, source);
      return {};
    }
    WW_ASSIGN(process, columns->text(row, "Process_Id"));
    WW_ASSIGN(dispatch, columns->integer(row, "Dispatch_Id"));
    WW_ASSIGN(counter, columns->text(row, "Counter_Name"));
    WW_ASSIGN(count, columns->integer(row, rocprofiler::kInstancesColumn));
    instances[{std::string(process), static_cast<std::uint64_t>(dispatch), std::string(counter)}] =
        count;
    return {};
  }));
  return instances;
}

// A counter has the same number of instances in every launch: where there are fewer, records were
// lost, and the sum is too small.
void drop_partial_sums(std::vector<CounterDispatch>& dispatches, const InstanceCounts& instances) {
  std::map<std::pair<std::string, std::string>, std::int64_t> most;  // by agent and counter
  const auto count_of = [&](const CounterDispatch& dispatch, const std::string& counter) {
    const auto found = instances.find({dispatch.process, dispatch.id, counter});
    return found == instances.end() ? 0 : found->second;
  };
  for (const CounterDispatch& dispatch : dispatches) {
    for (const auto& [counter, value] : dispatch.counters) {
      auto& highest = most[{dispatch.agent, counter}];
      highest = std::max(highest, count_of(dispatch, counter));
    }
  }
  for (CounterDispatch& dispatch : dispatches) {
    std::erase_if(dispatch.counters, [&](const auto& counted) {
      const std::int64_t of_all = most[{dispatch.agent, counted.first}];
      const std::int64_t count = count_of(dispatch, counted.first);
      if (count == of_all) return false;
      dispatch.missing[counted.first] =
          fmt::format("only {} of its {} instances came", count, of_all);
      return true;
    });
    for (auto& [counter, reason] : dispatch.missing) {
      if (count_of(dispatch, counter) == 0) reason = kNoRecord;
    }
  }
}

// The rows under their last name or, of a process that was killed, up to its last whole launch.
Result<std::string> rows_of(const fs::path& stem) {
  const auto named = [&stem](const char* ending) { return fs::path(stem.string() + ending); };
  std::error_code ignored;
  if (fs::exists(named(rocprofiler::kFinished), ignored)) {
    return read_file(named(rocprofiler::kFinished));
  }
  if (!fs::exists(named(rocprofiler::kUnfinished), ignored)) return std::string();
  WW_ASSIGN(text, read_file(named(rocprofiler::kUnfinished)));
  return std::string(whole_launches(text));
}

Result<CountedProcess> read_process(const fs::path& note_file, const std::string& architecture) {
  CountedProcess process;
  WW_ASSIGN(text, read_file(note_file));
  WW_ASSIGN(note, rocprofiler::parse_note(text, note_file.string()));
  process.note = std::move(note);
  const fs::path stem = fs::path(note_file).replace_extension();
  WW_ASSIGN(rows, rows_of(stem));
  if (std::ranges::count(rows, '\n') < 2) return process;
  const std::string source = stem.string() + rocprofiler::kFinished;
  WW_TRY(write_file_atomically(source, rows));
  WW_ASSIGN(file, read_counter_file(source, architecture));
  WW_ASSIGN(instances, read_instances(rows, source));
  restore_uncounted(file);  // until all passes are there
  process.dispatches = std::move(file.dispatches);
  drop_partial_sums(process.dispatches, instances);
  for (CounterDispatch& dispatch : process.dispatches) {
    const auto agent = std::ranges::find(process.note.agents, dispatch.agent, &CountedAgent::id);
    if (agent == process.note.agents.end()) continue;
    for (const auto& [counter, reason] : agent->missing) dispatch.missing[counter] = reason;
    if (process.note.slept) {
      dispatch.start_ns.reset();
      dispatch.duration_reason = "the machine slept during the run";
    }
  }
  return process;
}

// --- a run
// ----------------------------------------------------------------------------------------

struct CountedRun {
  std::vector<CountedProcess> processes;
  int exit_code{};
};

std::string environment_text(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string() : std::string(text);
}

struct LimitedEnd : ForegroundEnd {
  bool timed_out{};
};

// At the limit the program gets SIGTERM, and some seconds later SIGKILL.
Result<LimitedEnd> run_command(const InProcessRequest& request, const ProcessSetup& setup) {
  if (!request.limit) {
    WW_ASSIGN(end, run_in_foreground(request.command, setup));
    return LimitedEnd{end, false};
  }
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds kTimeToEnd{5};
  constexpr std::chrono::milliseconds kLook{20};
  WW_ASSIGN(process, Process::start(request.command, setup));
  LimitedEnd result;
  auto deadline = Clock::now() + *request.limit;
  while (!process.poll()) {
    if (interrupted() && !result.asked_to_end) {
      result.asked_to_end = true;
      process.signal(SIGTERM);
    } else if (Clock::now() >= deadline) {
      process.signal(result.timed_out ? SIGKILL : SIGTERM);
      result.timed_out = true;
      deadline = Clock::now() + kTimeToEnd;
    }
    std::this_thread::sleep_for(kLook);
  }
  result.end = process.wait();
  return result;
}

tl::unexpected<Error> ended_at_limit(const CountedRun& run, const InProcessRequest& request) {
  std::size_t launches = 0;
  for (const CountedProcess& process : run.processes) launches += process.dispatches.size();
  return fail(
      ErrorCode::out_of_range,
      fmt::format(
          "was ended after {:.4g} s, its limit, with {} launches counted. Kernels run one at "
          "a time while they are counted: those that wait for one another never end. Count "
          "some alone (--kernels), give a longer --limit, or profile it and give the file",
          std::chrono::duration<double>(*request.limit).count(), launches),
      request.command.front());
}

// Where nothing matched, names what there is.
Status check_kernels(const CountedRun& run, const InProcessRequest& request) {
  std::vector<std::string> others;
  for (const CountedProcess& process : run.processes) {
    if (!process.dispatches.empty()) return {};
    const auto& left_out = process.note.left_out;
    others.insert(others.end(), left_out.begin(), left_out.end());
  }
  if (others.empty()) return {};
  constexpr std::size_t kMaxNamed = 5;
  const bool more = others.size() > kMaxNamed;
  if (more) others.resize(kMaxNamed);
  return fail(ErrorCode::invalid_argument,
              fmt::format("no kernel matches '{}'; there are {}{}", request.kernels,
                          fmt::join(others, ", "), more ? ", ..." : ""),
              "--kernels");
}

Result<CountedRun> run_pass(const CountingSdk& sdk, const InProcessRequest& request,
                            const std::vector<std::string>& counters, bool quiet) {
  WW_ASSIGN(folder, ScratchFolder::create("counting"));
  ProcessSetup setup;
  setup.out = quiet ? kNullStream : kInheritStream;
  setup.err = request.silent ? kNullStream : kInheritStream;
  WW_ASSIGN(environment, counting_environment(sdk, folder.path(), counters));
  setup.environment = std::move(environment);
  if (!request.kernels.empty()) {
    setup.environment.emplace_back(rocprofiler::kKernelsVariable, request.kernels);
  }
  WW_ASSIGN(program, run_command(request, setup));
  if (program.asked_to_end) {
    return fail(ErrorCode::cancelled, "was interrupted", request.command.front());
  }
  CountedRun run;
  run.exit_code = program.end.exit_code;
  for (const fs::path& file : folder.files()) {
    if (file.extension() != rocprofiler::kNote) continue;
    WW_ASSIGN(process, read_process(file, request.architecture));
    run.processes.push_back(std::move(process));
  }
  if (program.timed_out) return ended_at_limit(run, request);
  return run;
}

// Refuses runs without counts: why, and what to do.
Status check_run(const CountedRun& run, const InProcessRequest& request,
                 const std::vector<std::string>& counters) {
  const std::string& program = request.command.front();
  if (run.processes.empty()) {
    return fail(
        ErrorCode::device_error,
        fmt::format("nothing was counted (exit code {}): no runtime of AMD in it loaded wirewatt's "
                    "tool library. Either the program did not use the device, its HIP is linked "
                    "statically or older than rocprofiler-register (ROCm 6.2), the program is "
                    "setuid, or ROCPROFILER_REGISTER_ENABLED is 0. Count it with rocprofv3 or "
                    "rocprof and give the profile",
                    run.exit_code),
        program);
  }
  for (const CountedProcess& process : run.processes) {
    if (!process.dispatches.empty()) continue;
    if (!process.note.refusal.empty()) {
      return fail(
          ErrorCode::unsupported,
          fmt::format("rocprofiler-sdk {} {}", rocprofiler::version_text(process.note.version),
                      process.note.refusal),
          program);
    }
    for (const CountedAgent& agent : process.note.agents) {
      if (agent.missing.size() < counters.size()) continue;
      return fail(ErrorCode::unsupported,
                  fmt::format("no counter can be counted on {}: {}", agent.description,
                              agent.missing.begin()->second),
                  program);
    }
  }
  return {};
}

void add_warnings(const CountedRun& run, std::vector<std::string>& warnings) {
  std::set<std::string> all(warnings.begin(), warnings.end());
  const auto warn = [&](std::string text) {
    if (all.insert(text).second) warnings.push_back(std::move(text));
  };
  for (const CountedProcess& process : run.processes) {
    const CountingNote& note = process.note;
    if (!note.finished) {
      warn(fmt::format("a process ended without a word: counted are its {} launches until then",
                       process.dispatches.size()));
    } else if (note.records < note.dispatches) {
      warn(
          fmt::format("records of {} of {} launches never came, so that their counters are missing",
                      note.dispatches - note.records, note.dispatches));
    }
    if (!note.refusal.empty()) warn(note.refusal);
    if (!note.metrics_path.empty()) {
      warn("ROCPROFILER_METRICS_PATH is set: counters mean what " + note.metrics_path + " says");
    }
    if (note.slept) warn("the machine slept during the run, so that launches have no times");
    for (const CountedAgent& agent : note.agents) {
      for (const auto& [counter, reason] : agent.missing) {
        warn(fmt::format("{} is missing on {}: {}", counter, agent.description, reason));
      }
    }
  }
}

CounterFile counters_of(CountedRun& run, const std::string& architecture) {
  CounterFile file{CounterForm::rocprof_v3, "rocprofiler-sdk", architecture, {}};
  for (CountedProcess& process : run.processes) {
    for (CounterDispatch& dispatch : process.dispatches) {
      const auto agent = std::ranges::find(process.note.agents, dispatch.agent, &CountedAgent::id);
      // Another part's counters mean something else.
      if (agent != process.note.agents.end() && agent->part != architecture) continue;
      file.dispatches.push_back(std::move(dispatch));
    }
  }
  return file;
}

std::vector<std::string> crowded_out_of(const CountedRun& run) {
  std::vector<std::string> counters;
  for (const CountedProcess& process : run.processes) {
    for (const CountedAgent& agent : process.note.agents) {
      for (const std::string& counter : agent.crowded_out) {
        if (std::ranges::find(counters, counter) == counters.end()) counters.push_back(counter);
      }
    }
  }
  return counters;
}

}  // namespace

Result<CountingSdk> find_counting_sdk() {
  WW_ASSIGN(answer, run_in_child(look_for_sdk, kTimeToLoad));
  if (answer.starts_with('!')) {
    return fail(ErrorCode::missing_dependency, answer.substr(1), std::string(kSdkLibrary.what));
  }
  CountingSdk sdk;
  std::istringstream words(answer);
  std::uint32_t version = 0;
  words >> version >> std::ws;
  std::getline(words, sdk.library);
  sdk.release = rocprofiler::version_text(version);
  WW_TRY(rocprofiler::check_release(version, rocprofiler::rocm_release_of(sdk.library)));
  std::error_code ignored;
  sdk.found_by_name = fs::exists(fs::path(sdk.library).parent_path() / kUnversioned, ignored);
  return sdk;
}

Result<CountingSdk> find_counting_sdk(std::string_view architecture) {
  if (!architecture.starts_with("gfx")) {
    return fail(ErrorCode::unsupported, "is no part of AMD", std::string(architecture));
  }
  WW_TRY(tool_library());
  return find_counting_sdk();
}

std::string counting_disturbs(std::string_view architecture, const std::string& release) {
  // ROCm 7.2, whose SDK calls itself 1.1 as that of 7.1 does (rocm-systems change 2469).
  const bool switches = !release.starts_with("0.") && !release.starts_with("1.0.");
  if (!architecture.starts_with("gfx94") || !switches) return {};
  return "from ROCm 7.2 on, MI300's limiter of peaks is off while it counts, so that clocks and "
         "power are not those of an uncounted run";
}

fs::path place_of_library(std::string_view name) {
  std::error_code failed;
  const auto program = fs::read_symlink("/proc/self/exe", failed);
  Dl_info own{};
  if (::dladdr(reinterpret_cast<const void*>(&place_of_library), &own) != 0) {
    const auto object = fs::canonical(own.dli_fname, failed);
    if (!failed && object != program) return object.parent_path() / name;
  }
  return (program.parent_path() / ".." / "lib" / name).lexically_normal();
}

Result<fs::path> tool_library() {
  std::error_code failed;
  const auto file = place_of_library(kTool);
  if (!fs::exists(file, failed)) {
    return fail(ErrorCode::missing_dependency, "is not beside this program", file.string());
  }
  if (file.string().find_first_of(": ") != std::string::npos) {
    return fail(
        ErrorCode::unsupported,
        "lies in a folder with a colon or a blank in its name, where rocprofiler-sdk cannot "
        "find it: install wirewatt elsewhere",
        file.string());
  }
  WW_TRY(check_loadable(file));
  return file;
}

Status check_loadable(const fs::path& library) {
#if defined(__x86_64__)
  constexpr const char* kLoader = "/lib64/ld-linux-x86-64.so.2";
#else
  constexpr const char* kLoader = "/lib/ld-linux-aarch64.so.1";
#endif
  std::error_code ignored;
  if (!fs::exists(kLoader, ignored)) return {};  // another C library: its programs have none of HIP
  ProcessRequest request;
  request.command = {kLoader, "--list", library.string()};
  WW_ASSIGN(listed, run_process(request));
  std::string said = listed.errors + listed.output;
  said.resize(said.find_last_not_of('\n') + 1);
  const auto lacks = said.find("not found");
  if (listed.exit_code == 0 && lacks == std::string::npos) return {};
  const auto begin = said.rfind('\n', lacks) + 1;  // 0 where that is the first line
  std::string line = said.substr(begin, said.find('\n', begin) - begin);
  return fail(ErrorCode::unsupported,
              "cannot be loaded by the programs of this machine, which would be ended: " + line +
                  ". Build wirewatt here, or count with a profiler and give its file",
              library.string());
}

std::string tool_list(const std::string& of_user, const std::string& tool) {
  std::string list = of_user;
  if (!list.empty() && !list.ends_with(':')) list += ':';
  return list + tool + ':';
}

Result<std::vector<std::pair<std::string, std::string>>> counting_environment(
    const CountingSdk& sdk, const fs::path& folder, const std::vector<std::string>& counters) {
  WW_ASSIGN(tool, tool_library());
  std::vector<std::pair<std::string, std::string>> environment = {
      {"ROCP_TOOL_LIBRARIES", tool_list(environment_text("ROCP_TOOL_LIBRARIES"), tool.string())},
      {rocprofiler::kFolderVariable, folder.string()},
      {rocprofiler::kCountersVariable, fmt::format("{}", fmt::join(counters, " "))}};
  if (!sdk.found_by_name && environment_text("ROCPROFILER_REGISTER_LIBRARY").empty()) {
    environment.emplace_back("ROCPROFILER_REGISTER_LIBRARY", sdk.library);
  }
  return environment;
}

int in_process_runs(const std::vector<std::string>& counters) {
  return static_cast<int>(rocprofiler::plan_passes(counters).size());
}

Result<InProcessProfile> profile_in_process(const CountingSdk& sdk,
                                            const InProcessRequest& request) {
  const auto counters =
      request.counters.empty() ? mapped_counters(request.architecture) : request.counters;
  if (counters.empty()) {
    return fail(ErrorCode::unsupported, "no counters are known for it", request.architecture);
  }
  const auto planned = rocprofiler::plan_passes(counters);
  std::deque<std::vector<std::string>> passes(planned.begin(), planned.end());
  InProcessProfile profile;
  while (!passes.empty()) {
    const bool first = profile.runs == 0;
    WW_ASSIGN(run,
              run_pass(sdk, request, passes.front(), request.quiet || request.silent || !first));
    WW_TRY(check_run(run, request, passes.front()));
    WW_TRY(check_kernels(run, request));
    passes.pop_front();
    add_warnings(run, profile.warnings);
    if (auto more = crowded_out_of(run); !more.empty()) passes.push_back(std::move(more));
    if (first) profile.exit_code = run.exit_code;
    ++profile.runs;
    WW_TRY(join_pass(profile.counters, counters_of(run, request.architecture)));
  }
  if (profile.counters.dispatches.empty()) {
    return fail(ErrorCode::bad_data,
                profile.warnings.empty()
                    ? "the program launched no kernel on a " + request.architecture
                    : fmt::format("nothing was counted: {}", fmt::join(profile.warnings, "; ")),
                request.command.front());
  }
  refuse_uncounted(profile.counters, request.architecture);
  return profile;
}

bool was_never_loaded(const Error& error) {
  return error.code == ErrorCode::device_error;
}

Result<CountedCommand> count_command(const std::string& architecture,
                                     const std::vector<std::string>& command) {
  CountedCommand counted;
  const auto sdk = find_counting_sdk(architecture);
  if (sdk) {
    InProcessRequest request{architecture, command};
    request.silent = true;
    auto inside = profile_in_process(*sdk, request);
    if (inside) {
      counted = {std::move(inside->counters),
                 fmt::format("rocprofiler-sdk {} inside it", sdk->release),
                 std::move(inside->warnings)};
      if (inside->exit_code != 0) {
        counted.warnings.push_back(
            fmt::format("the counted run ended with exit code {}", inside->exit_code));
      }
      return counted;
    }
    if (!was_never_loaded(inside.error()) || installed_profilers(architecture).empty()) {
      return tl::unexpected(std::move(inside).error());
    }
    counted.warnings.push_back(inside.error().text());
  }
  ProfileRequest request;
  request.architecture = architecture;
  request.command = command;
  const auto installed = installed_profilers(architecture);
  WW_ASSIGN(profiled, profile(request));
  counted.counters = std::move(profiled.counters);
  counted.by = to_string(installed.front().profiler);
  if (!sdk && architecture.starts_with("gfx") && sdk.error().code == ErrorCode::unsupported) {
    counted.warnings.push_back("not counted inside the program: " + sdk.error().text());
  }
  return counted;
}

}  // namespace ww::measure
