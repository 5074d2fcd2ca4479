#include "common/compile/compile_cache.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "ww/core/atomic_file.hpp"
#include "ww/core/hash.hpp"

namespace ww::sim::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEntryMagic = "wirewatt compiled 2\n";
constexpr std::string_view kInclude = "include";

std::string environment(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

// Which file this is: path, size, time of change. Empty: there is none.
std::string identity(const std::string& path) {
  struct stat status {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) return {};
  return path + " " + std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) +
         "." + std::to_string(status.st_mtim.tv_nsec);
}

std::string hash_of(std::string_view text) {
  return hash_text(std::as_bytes(std::span(text)));
}

// Which files these are; empty where there is none, or one is missing.
std::string identity(const std::vector<std::string>& paths) {
  std::string all;
  for (const std::string& path : paths) {
    const std::string one = identity(path);
    if (one.empty()) return {};
    all += one + "\n";
  }
  return all;
}

// Whether one of these words, which take in files or the time, is in the text.
bool depends(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [text](std::string_view word) { return text.find(word) != std::string::npos; });
}

std::string without_splices(std::string text) {
  for (const std::string_view splice : {"\\\n", "\\\r\n"}) {
    for (auto at = text.find(splice); at != std::string::npos; at = text.find(splice, at)) {
      text.erase(at, splice.size());
    }
  }
  return text;
}

std::string_view without_blanks(std::string_view text, bool at_end) {
  constexpr std::string_view kBlanks = " \t";
  if (at_end) return text.substr(0, text.find_last_not_of(kBlanks) + 1);
  return text.substr(std::min(text.size(), text.find_first_not_of(kBlanks)));
}

// The file that a directive names, of which `before` and `behind` stand around the word `include`;
// empty where it is none.
std::string_view included(std::string_view before, std::string_view behind) {
  if (!without_blanks(before, true).ends_with('#')) return {};
  behind = without_blanks(behind, false);
  if (behind.empty() || (behind[0] != '"' && behind[0] != '<')) return {};
  const auto end = behind.find(behind[0] == '<' ? '>' : '"', 1);
  return end == std::string_view::npos ? std::string_view() : behind.substr(1, end - 1);
}

// Finds what the compiler reads of a request, and where from.
class Determined {
 public:
  explicit Determined(const CompileRequest& request) : request_(request) {
    own_headers_ = std::ranges::all_of(request.options, leaves_search_alone);
  }

  // Whether the request alone says what its code is.
  [[nodiscard]] bool alone() const {
    if (compiles_hip(request_.operation) && !own_headers_) return false;
    return stands_alone(request_.source) &&
           std::ranges::all_of(request_.headers,
                               [this](const auto& header) { return stands_alone(header.text); }) &&
           std::ranges::none_of(request_.options, names_file);
  }

 private:
  // The text may include what the request brings along, where nothing else can be found first.
  [[nodiscard]] bool stands_alone(const std::string& source) const {
    const std::string joined = without_splices(source);
    const std::string_view text = joined;
    if (depends(text, {"import", "embed", "__DATE__", "__TIME"})) return false;
    for (auto at = text.find(kInclude); at != std::string::npos;
         at = text.find(kInclude, at + kInclude.size())) {
      const std::string_view name = included(text.substr(0, at), text.substr(at + kInclude.size()));
      if (!own_headers_ || !is_there(name)) return false;
    }
    return true;
  }
  [[nodiscard]] bool is_there(std::string_view name) const {
    // The compiler reads it before the source, and the answer says which file that was.
    if (compiles_hip(request_.operation) && name == "hip/hip_runtime.h" &&
        std::ranges::find(request_.options, "-nogpuinc") == request_.options.end()) {
      return true;
    }
    return std::ranges::find(request_.headers, name, &CompileHeader::name) !=
           request_.headers.end();
  }
  static bool names_file(const std::string& option) {
    return option.starts_with("-imacros") || option.starts_with("@") ||
           depends(option, {"include", "import", "embed", "__DATE__", "__TIME"});
  }
  // Options that change neither where headers are looked for nor what is read beside them.
  static bool leaves_search_alone(const std::string& option) {
    static constexpr std::array<std::string_view, 9> kBegins{
        "-D", "-U", "-O", "-W", "-w", "-g", "-std=", "-cl-", "-ffp-contract="};
    if (option == "-nogpuinc") return true;
    if (option.starts_with("-Wp,")) return false;  // words of the preprocessor
    if (option.starts_with("-f") && option.find('=') == std::string::npos) return true;
    return std::ranges::any_of(kBegins,
                               [&](std::string_view begin) { return option.starts_with(begin); });
  }

  const CompileRequest& request_;
  bool own_headers_;  // what the request brings along is found, and nothing before it
};

}  // namespace

fs::path compile_cache_folder() {
  const std::string set = environment("WIREWATT_COMPILE_CACHE");
  if (!set.empty()) return set == "0" ? fs::path() : fs::path(set);
  if (const std::string caches = environment("XDG_CACHE_HOME"); !caches.empty()) {
    return fs::path(caches) / "wirewatt" / "compiled";
  }
  const std::string home = environment("HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".cache" / "wirewatt" / "compiled";
}

CompileCache::CompileCache(fs::path folder, std::string worker_path, std::uint64_t most_bytes)
    : folder_(std::move(folder)), worker_path_(std::move(worker_path)), most_bytes_(most_bytes) {}

std::string CompileCache::key(const CompileRequest& request) const {
  if (folder_.empty()) return {};
  const std::string worker = identity(worker_path_);
  if (worker.empty() || !Determined(request).alone()) return {};
  std::string text = encode(request) + worker;
  for (const char* name : {"LD_LIBRARY_PATH", "ROCM_PATH", "WIREWATT_HIP_ROOT"}) {
    text += "\n" + environment(name);
  }
  return hash_of(text);
}

std::optional<CompileAnswer> CompileCache::find(const std::string& key) const {
  if (key.empty()) return std::nullopt;
  const fs::path file = folder_ / key;
  const auto text = read_file(file);
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  const auto line = [&rest] {
    const auto end = std::min(rest.find('\n'), rest.size());
    const std::string_view found = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return found;
  };
  if (!rest.starts_with(kEntryMagic)) return std::nullopt;
  rest.remove_prefix(kEntryMagic.size());
  const std::string_view hash = line();
  if (hash != hash_of(rest)) return std::nullopt;
  const std::string_view files = line();
  auto answer = decode_answer(rest);
  if (!answer || files != hash_of(identity(answer->made_with))) return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
  return std::move(*answer);
}

void CompileCache::keep(const std::string& key, const CompileAnswer& answer) const {
  const std::string files = identity(answer.made_with);
  if (key.empty() || files.empty() || answer.status != CompileStatus::success) return;
  const std::string entry = hash_of(files) + "\n" + encode(answer);
  if (entry.size() > most_bytes_ / 4) return;
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed) return;
  if (write_file_atomically(folder_ / key,
                            std::string(kEntryMagic) + hash_of(entry) + "\n" + entry)) {
    make_room();
  }
}

void CompileCache::make_room() const {
  struct Entry {
    fs::file_time_type used;
    std::uint64_t bytes{};
    fs::path file;
  };
  std::vector<Entry> entries;
  std::uint64_t bytes = 0;
  std::error_code failed;
  for (fs::directory_iterator it(folder_, failed), end; !failed && it != end;
       it.increment(failed)) {
    std::error_code gone;  // by another process
    Entry entry{it->last_write_time(gone), it->file_size(gone), it->path()};
    if (gone) continue;
    bytes += entry.bytes;
    entries.push_back(std::move(entry));
  }
  if (bytes <= most_bytes_) return;
  std::ranges::sort(entries, {}, &Entry::used);
  for (const Entry& entry : entries) {
    if (bytes <= most_bytes_ / 4 * 3) return;
    std::error_code ignored;
    fs::remove(entry.file, ignored);
    bytes -= entry.bytes;
  }
}

}  // namespace ww::sim::driver
