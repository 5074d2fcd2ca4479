#include "compile/compile_cache.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "ww/core/atomic_file.hpp"
#include "ww/core/hash.hpp"

namespace ww::sim::icd {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEntryMagic = "wirewatt compiled 1\n";

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

// Whether the text may take in files or the time: then it does not say what its code is.
bool stands_alone(std::string text) {
  for (const std::string_view splice : {"\\\n", "\\\r\n"}) {
    for (auto at = text.find(splice); at != std::string::npos; at = text.find(splice, at)) {
      text.erase(at, splice.size());
    }
  }
  static constexpr std::array<std::string_view, 5> kWords{"include", "import", "embed", "__DATE__",
                                                          "__TIME"};
  return std::ranges::none_of(
      kWords, [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

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
  if (worker.empty() || !stands_alone(request.source)) return {};
  for (const CompileHeader& header : request.headers) {
    if (!stands_alone(header.text)) return {};
  }
  for (const std::string& option : request.options) {
    if (!stands_alone(option) || option.starts_with("-imacros") || option.starts_with("@")) {
      return {};
    }
  }
  std::string text = encode(request) + worker;
  for (const char* name : {"LD_LIBRARY_PATH", "ROCM_PATH"}) text += "\n" + environment(name);
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
  const std::string_view compiler = line();
  auto answer = decode_answer(rest);
  if (!answer || compiler.empty() || identity(answer->compiler) != compiler) return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
  return std::move(*answer);
}

void CompileCache::keep(const std::string& key, const CompileAnswer& answer) const {
  const std::string compiler = identity(answer.compiler);
  if (key.empty() || compiler.empty() || answer.status != CompileStatus::success) return;
  const std::string entry = compiler + "\n" + encode(answer);
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

}  // namespace ww::sim::icd
