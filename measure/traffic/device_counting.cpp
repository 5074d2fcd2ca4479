#include "ww/measure/counted/device_counting.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>

#include "counting_environment.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/rocm_library.hpp"
#include "ww/measure/counter_map.hpp"
#include "ww/rocprofiler/counting_files.hpp"
#include "ww/rocprofiler/pass_plan.hpp"
#include "ww/rocprofiler/sdk.hpp"

namespace ww::measure {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCrowdedOut =
    "the device has no place for it beside the others, of which it counts one set";

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const auto comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Reads a file from a byte on, up to the end of its last whole line.
std::string new_lines(const fs::path& stem, std::uint64_t from) {
  for (const char* ending : {rocprofiler::kFinished, rocprofiler::kUnfinished}) {
    std::ifstream stream(fs::path(stem) += ending, std::ios::binary);
    if (!stream) continue;
    stream.seekg(static_cast<std::streamoff>(from));
    std::string text(std::istreambuf_iterator<char>(stream), {});
    text.resize(text.rfind('\n') + 1);
    return text;
  }
  return {};
}

// The body of the process that counts for others. Its exit code says what it lacks.
constexpr int kNoHip = 3, kNoDevice = 4;
int rest_on_the_device() {
  const auto hip = open_rocm_library(kHipLibrary);
  if (!hip) return kNoHip;
  const auto initialise = reinterpret_cast<int (*)(unsigned)>(::dlsym(hip->handle, "hipInit"));
  const auto count = reinterpret_cast<int (*)(int*)>(::dlsym(hip->handle, "hipGetDeviceCount"));
  int devices = 0;
  if (initialise == nullptr || count == nullptr) return kNoHip;
  if (initialise(0) != 0 || count(&devices) != 0 || devices == 0) return kNoDevice;
  for (;;) ::pause();
}

}  // namespace

std::vector<std::string> device_counters(std::string_view architecture) {
  const ArchitectureMap* map = counter_map(architecture);
  std::vector<std::string> counters;
  if (map == nullptr || !architecture.starts_with("gfx")) return counters;
  const auto add = [&](Segment segment, bool optional) {
    for (const SegmentRule& rule : map->rules) {
      if (rule.segment != segment) continue;
      for (const CounterTerm& term : rule.terms) {
        if (term.optional != optional || !term.stands_in_for.empty()) continue;
        auto name = std::string(term.counter) + "_sum";
        if (std::ranges::find(counters, name) == counters.end()) counters.push_back(name);
      }
    }
  };
  constexpr std::array kFirst = {Segment::l1_l2, Segment::l2_memory_read, Segment::l2_memory_write};
  for (const bool optional : {false, true}) {
    for (const Segment segment : kFirst) add(segment, optional);
  }
  add(Segment::registers_l1, false);
  const auto passes = rocprofiler::plan_passes(counters);
  return passes.empty() ? std::vector<std::string>() : passes.front();
}

Result<DeviceCounting> DeviceCounting::prepare(const CountingSdk& sdk, DeviceCountRequest request) {
  const auto counters = device_counters(request.architecture);
  if (counters.empty()) {
    return fail(ErrorCode::unsupported, "no counters are known for it", request.architecture);
  }
  WW_ASSIGN(folder, ScratchFolder::create("counting"));
  WW_ASSIGN(environment, counting_environment(sdk, folder.path(), counters));
  DeviceCounting counting(std::move(folder), std::move(request));
  counting.release_ = sdk.release;
  counting.environment_ = std::move(environment);
  counting.environment_.emplace_back(rocprofiler::kModeVariable, rocprofiler::kDeviceMode);
  counting.environment_.emplace_back(rocprofiler::kIntervalVariable,
                                     std::to_string(counting.request_.interval.count()));
  return counting;
}

Status DeviceCounting::start_host() {
  ProcessSetup setup;
  setup.environment = environment_;
  setup.out = setup.err = kNullStream;
  setup.signal_at_parents_end = SIGKILL;
  WW_ASSIGN(host, Process::fork(rest_on_the_device, setup));
  host_.emplace(std::move(host));
  return {};
}

Result<std::map<std::string, DeviceCounting::Missing>> DeviceCounting::agents_of(
    const fs::path& note_file, std::string& trouble) {
  WW_ASSIGN(text, read_file(note_file));
  WW_ASSIGN(note, rocprofiler::parse_note(text, note_file.string()));
  const std::string sdk = "rocprofiler-sdk " + rocprofiler::version_text(note.version);
  std::map<std::string, Missing> agents;
  std::string others;
  for (const rocprofiler::CountedAgent& agent : note.agents) {
    const auto& cards = request_.cards;
    const bool wanted = agent.part == request_.architecture &&
                        (cards.empty() || std::ranges::find(cards, agent.pci) != cards.end());
    if (!wanted) {
      others += (others.empty() ? "" : "; ") + agent.description;
      continue;
    }
    Missing missing = agent.missing;
    for (const std::string& counter : agent.crowded_out) missing[counter] = kCrowdedOut;
    if (missing.size() == device_counters(request_.architecture).size()) {
      trouble = fmt::format("no counter can be counted on {}: {}", agent.description,
                            missing.begin()->second);
    }
    agents[agent.id] = std::move(missing);
  }
  if (agents.empty() && !note.agents.empty()) {
    trouble = fmt::format("{} sees another device in the program: {}", sdk, others);
  }
  if (!note.trouble.empty()) trouble = sdk + " " + note.trouble;
  if (!note.refusal.empty()) trouble = sdk + " " + note.refusal;
  return agents;
}

Status DeviceCounting::read_rows(const fs::path& stem, const std::map<std::string, Missing>& agents,
                                 DeviceNews& news) {
  Table& table = tables_[stem.string()];
  const std::string text = new_lines(stem, table.read);
  table.read += text.size();
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    const auto fields = fields_of(line);
    constexpr std::size_t kLeading = 3;
    if (table.rows++ == 0) {
      if (!line.starts_with(rocprofiler::kDeviceHeader)) {
        return fail(ErrorCode::parse_error, "is no table of a device's counters", stem.string());
      }
      table.counters.assign(fields.begin() + kLeading, fields.end());
      continue;
    }
    const auto bad = fail(ErrorCode::parse_error, "an agent, two times and counters are expected",
                          fmt::format("{}:{}", stem.string(), table.rows));
    if (fields.size() != kLeading + table.counters.size()) return bad;
    const auto begin = number_of<std::int64_t>(fields[1]);
    const auto end = number_of<std::int64_t>(fields[2]);
    if (!begin || !end) return bad;
    const auto agent = agents.find(std::string(fields[0]));
    if (agent == agents.end()) continue;
    CounterDispatch stretch;
    stretch.id = table.rows;
    stretch.kernel = kWholeCard;
    stretch.agent = agent->first;
    stretch.process = stem.filename().string();
    stretch.start_ns = *begin;
    stretch.duration_ns = static_cast<double>(*end - *begin);
    stretch.missing = agent->second;
    for (std::size_t i = 0; i < table.counters.size(); ++i) {
      const auto field = fields[kLeading + i];
      if (field.empty()) continue;
      const auto value = number_of<double>(field);
      if (!value) return bad;
      stretch.counters[table.counters[i]] = *value;
      total_ += *value;
    }
    news.stretches.push_back(std::move(stretch));
  }
  return {};
}

Status DeviceCounting::sample_now() const {
  WW_ASSIGN(tool, tool_library());
  void* loaded = ::dlopen(tool.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (loaded == nullptr) {
    return fail(ErrorCode::missing_dependency,
                "no runtime of AMD has loaded wirewatt's tool library into this process: the "
                "counting must be asked for before the first call of HIP, and HIP must be that of "
                "ROCm 6.3 or later");
  }
  using Entry = void* (*)(std::uint32_t, const char*, std::uint32_t, void*);
  const auto entry = reinterpret_cast<Entry>(::dlsym(loaded, rocprofiler::kToolEntry));
  const bool sampled =
      entry != nullptr && entry(0, rocprofiler::kSampleRequest, 0, nullptr) != nullptr;
  ::dlclose(loaded);
  if (!sampled) return fail(ErrorCode::device_error, "rocprofiler-sdk gave no sample");
  return {};
}

Result<DeviceNews> DeviceCounting::poll() {
  DeviceNews news;
  news.trouble = "the program has not used the device yet";
  bool counts = false;
  for (const fs::path& file : folder_.files()) {
    if (file.extension() != rocprofiler::kNote) continue;
    std::string trouble;
    WW_ASSIGN(agents, agents_of(file, trouble));
    WW_TRY(read_rows(fs::path(file).replace_extension(), agents, news));
    if (trouble.empty()) {
      counts = true;
    } else {
      news.trouble = trouble;
    }
  }
  if (counts) news.trouble.clear();
  if (host_ && host_->poll()) {
    const int code = host_->wait().exit_code;
    news.trouble = code == kNoHip      ? "HIP's runtime was not found, which counting needs"
                   : code == kNoDevice ? "HIP opens no device here: is the user in the groups "
                                         "render and video?"
                                       : fmt::format("the process that counts ended ({})", code);
    return news;
  }
  if (counts && total_ == 0) {
    news.trouble = "every counter is 0 so far, so nothing has run, or nothing is counted";
    if (request_.architecture.starts_with("gfx1")) {
      news.trouble +=
          "; on a Radeon fix the clocks: echo profile_standard | sudo tee "
          "/sys/class/drm/cardN/device/power_dpm_force_performance_level";
    }
  }
  return news;
}

Result<std::vector<std::string>> DeviceCounting::warnings() {
  std::set<std::string> all;
  std::set<std::string> counted;  // agents
  std::size_t notes = 0;
  cpu_s_ = 0;
  for (const fs::path& file : folder_.files()) {
    if (file.extension() != rocprofiler::kNote) continue;
    ++notes;
    WW_ASSIGN(text, read_file(file));
    WW_ASSIGN(note, rocprofiler::parse_note(text, file.string()));
    cpu_s_ += note.cpu_s;
    if (!note.finished && note.refusal.empty()) {
      all.insert("a process ended without a word: what ran after its last sample is not counted");
    }
    if (note.partial > 0) {
      all.insert(fmt::format("{} of {} samples lacked instances; the next ones have their counts",
                             note.partial, note.partial + note.samples));
    }
    if (note.restarts > 0) {
      all.insert(
          fmt::format("counters fell {} times, as where another profiler starts them anew: "
                      "what ran before each is not counted",
                      note.restarts));
    }
    if (!note.metrics_path.empty()) {
      all.insert("ROCPROFILER_METRICS_PATH is set: counters mean what " + note.metrics_path +
                 " says");
    }
    if (note.samples == 0) continue;
    for (const rocprofiler::CountedAgent& agent : note.agents) {
      if (!counted.insert(agent.id).second) {
        all.insert("several processes counted " + agent.description +
                   " one after another: what ran between them is not counted");
      }
    }
  }
  if (notes == 0) {
    all.insert(
        "no runtime of AMD in the program loaded wirewatt's tool library: it did not use the "
        "device, its HIP is static or older than ROCm 6.2, or it is setuid");
  }
  return std::vector<std::string>(all.begin(), all.end());
}

}  // namespace ww::measure
