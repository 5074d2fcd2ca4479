// Names the profilers and makes their command lines.
#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "counting_environment.hpp"
#include "ww/core/rocm_library.hpp"
#include "ww/core/subprocess.hpp"
#include "ww/measure/counter_map.hpp"
#include "ww/measure/profiler.hpp"
#include "ww/rocprofiler/counting_files.hpp"

namespace ww::measure {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNcuTime = "gpu__time_duration.sum";  // watts need it
constexpr std::string_view kCuptiTool = "libwirewatt-cupti.so";
constexpr std::size_t kCountersPerPass = 4;  // a block of the L2 has four on every gfx

fs::path locate_cupti();

fs::path locate(Profiler profiler) {
  if (profiler == Profiler::cupti) return locate_cupti();
  const std::string name(to_string(profiler));
  if (auto found = find_program(name); !found.empty()) return found;
  if (profiler == Profiler::ncu) return find_program("/usr/local/cuda/bin/" + name);
  for (const std::string& libraries : rocm_folders(rocm_places())) {
    if (libraries.empty()) continue;  // the loader's own
    const fs::path beside = (fs::path(libraries) / ".." / "bin" / name).lexically_normal();
    if (auto found = find_program(beside.string()); !found.empty()) return found;
  }
  return {};
}

// CUPTI, where wirewatt's library for it is installed as well.
fs::path locate_cupti() {
  std::error_code ignored;
  if (!fs::exists(place_of_library(kCuptiTool), ignored)) return {};
  const auto variable = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  std::vector<std::string> folders;
  std::istringstream of_loader(variable("LD_LIBRARY_PATH"));
  for (std::string folder; std::getline(of_loader, folder, ':');) folders.push_back(folder);
  std::string cuda = variable("CUDA_HOME");
  if (cuda.empty()) cuda = "/usr/local/cuda";
  for (const char* below : {"/extras/CUPTI/lib64", "/lib64", "/lib"}) {
    folders.push_back(cuda + below);
  }
  for (const std::string& folder : folders) {
    for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
      fs::path file = fs::path(folder) / name;
      if (!folder.empty() && fs::is_regular_file(file, ignored)) return file;
    }
  }
  return {};
}

// A word as a POSIX shell takes it.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:=,+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::vector<CounterTerm> mapped_terms(const ArchitectureMap& map) {
  std::vector<CounterTerm> terms;
  for (const SegmentRule& rule : map.rules) {
    terms.insert(terms.end(), rule.terms.begin(), rule.terms.end());
  }
  return terms;
}

std::string profilers_name(const CounterTerm& term, std::string_view architecture) {
  std::string name(term.counter);
  if (architecture.starts_with("gfx")) name += "_sum";  // over the instances of the block
  return name;
}

void add_once(std::vector<std::string>& names, std::string name) {
  if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
}

}  // namespace

std::string_view to_string(Profiler profiler) {
  switch (profiler) {
    case Profiler::rocprof_v3: return "rocprofv3";
    case Profiler::rocprof_v1: return "rocprof";
    case Profiler::ncu: return "ncu";
    case Profiler::cupti: return "CUPTI";
  }
  return "unknown";
}

std::vector<Profiler> profilers_for(std::string_view architecture) {
  if (architecture.starts_with("sm_")) return {Profiler::ncu, Profiler::cupti};
  if (architecture.starts_with("gfx9") || architecture.starts_with("gfx1")) {
    return {Profiler::rocprof_v3, Profiler::rocprof_v1};
  }
  if (architecture.starts_with("gfx")) return {Profiler::rocprof_v1};  // v3 begins with gfx9
  return {Profiler::rocprof_v3, Profiler::rocprof_v1, Profiler::ncu, Profiler::cupti};
}

std::vector<InstalledProfiler> installed_profilers(std::string_view architecture) {
  std::vector<InstalledProfiler> found;
  for (const Profiler profiler : profilers_for(architecture)) {
    if (auto program = locate(profiler); !program.empty()) {
      found.push_back({profiler, std::move(program)});
    }
  }
  return found;
}

std::vector<std::string> mapped_counters(const ArchitectureMap& map) {
  std::vector<std::string> counters;
  for (const CounterTerm& term : mapped_terms(map)) {
    if (!term.stands_in_for.empty()) continue;
    add_once(counters, profilers_name(term, map.prefixes.front()));
  }
  return counters;
}

std::vector<std::string> mapped_counters(std::string_view architecture) {
  const ArchitectureMap* map = counter_map(architecture);
  return map == nullptr ? std::vector<std::string>{} : mapped_counters(*map);
}

std::optional<std::vector<std::string>> without_counter(std::string_view architecture,
                                                        std::vector<std::string> counters,
                                                        std::string_view refused) {
  const auto found = std::ranges::find(counters, refused);
  const ArchitectureMap* map = counter_map(architecture);
  if (map == nullptr || found == counters.end()) return std::nullopt;
  counters.erase(found);
  for (const CounterTerm& term : mapped_terms(*map)) {
    if (!term.optional && profilers_name(term, architecture) == refused) return std::nullopt;
    if (term.stands_in_for == refused) {
      add_once(counters, profilers_name(term, architecture));
    }
  }
  return counters;
}

std::string rocprof_input(std::span<const std::string> counters) {
  std::string text;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    if (i % kCountersPerPass == 0) text += i == 0 ? "pmc:" : "\npmc:";
    text += " " + counters[i];
  }
  return text + "\n";
}

int program_runs(Profiler profiler, std::span<const std::string> counters) {
  if (profiler == Profiler::ncu || profiler == Profiler::cupti) return 1;
  return static_cast<int>((counters.size() + kCountersPerPass - 1) / kCountersPerPass);
}

std::string profiler_line(std::string_view architecture, const std::vector<std::string>& command) {
  ProfileRequest request;
  request.architecture = architecture;
  request.counters = mapped_counters(architecture);
  request.command = command;
  if (request.counters.empty()) return {};
  const Profiler profiler = profilers_for(architecture).front();
  const fs::path folder = "counters";
  std::string line = "mkdir -p counters && ";
  if (profiler != Profiler::ncu) {
    std::string input = rocprof_input(request.counters);
    for (auto at = input.find('\n'); at != std::string::npos; at = input.find('\n', at + 2)) {
      input.replace(at, 1, "\\n");
    }
    line += "printf " + shell_word(input) + " > counters/input.txt && ";
  }
  const InstalledProfiler by_name{profiler, std::string(to_string(profiler))};
  const char* blank = "";
  for (const std::string& word : profiler_command(by_name, request, folder)) {
    line += blank + shell_word(word);
    blank = " ";
  }
  return line;
}

std::vector<std::string> profiler_command(const InstalledProfiler& profiler,
                                          const ProfileRequest& request, const fs::path& folder) {
  std::vector<std::string> words{profiler.program.string()};
  const auto add = [&words](std::initializer_list<std::string> more) {
    words.insert(words.end(), more);
  };
  switch (profiler.profiler) {
    case Profiler::rocprof_v1:
      add({"-i", (folder / "input.txt").string(), "-o", (folder / "counters.csv").string(),
           "--timestamp", "on"});
      break;
    case Profiler::rocprof_v3:
      add({"-i", (folder / "input.txt").string(), "--output-format", "csv", "-d",
           (folder / "passes").string(), "-o", "counters", "--"});
      break;
    case Profiler::ncu: {
      std::string metrics(kNcuTime);
      for (const std::string& counter : request.counters) {
        if (counter != kNcuTime) metrics += "," + counter;
      }
      // The counters of a program as it runs: by default ncu empties the caches before each kernel
      // and locks the clocks. The program's own output does not belong into the table.
      add({"--csv", "--page", "details", "--print-units", "base", "--target-processes", "all",
           "--cache-control", "none", "--clock-control", "none", "--log-file",
           (folder / kNcuTable).string(), "--metrics", metrics});
      break;
    }
    case Profiler::cupti: {
      std::string metrics(kNcuTime);
      for (const std::string& counter : request.counters) {
        if (counter != kNcuTime) metrics += " " + counter;
      }
      const auto set = [](const char* name, const std::string& value) {
        return std::string(name) + "=" + value;
      };
      // The driver loads the library; other parts of CUPTI lie beside its file.
      words = {"env", set("CUDA_INJECTION64_PATH", place_of_library(kCuptiTool).string()),
               set(rocprofiler::kCuptiVariable, profiler.program.string()),
               set(rocprofiler::kFolderVariable, folder.string()),
               set(rocprofiler::kCountersVariable, metrics)};
      if (!request.kernels.empty()) {
        words.push_back(set(rocprofiler::kKernelsVariable, request.kernels));
      }
      break;
    }
  }
  words.insert(words.end(), request.command.begin(), request.command.end());
  return words;
}

}  // namespace ww::measure
