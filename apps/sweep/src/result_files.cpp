#include "ww/sweep/result_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "host.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/file_system.hpp"
#include "ww/core/log.hpp"
#include "ww/core/streamed_file.hpp"

namespace ww::sweep {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHead = "wirewatt-results 1\n";
constexpr std::string_view kEnding = ".results";
constexpr std::size_t kLargestPart = std::size_t{4} << 20;
constexpr int kListings = 20;

// Result files under a folder, in order. Error not_found where one went while it was listed.
Result<std::vector<fs::path>> list(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ec;
  if (!fs::exists(folder, ec)) return files;
  fs::recursive_directory_iterator at(folder, ec);
  for (; !ec && at != fs::recursive_directory_iterator(); at.increment(ec)) {
    const auto name = at->path().filename().string();
    if (name.ends_with(kEnding) && !name.starts_with(".")) files.push_back(at->path());
  }
  if (ec) return tl::unexpected(errno_error(ec, "cannot list", folder));
  std::sort(files.begin(), files.end());
  return files;
}

// Calls visit(line) for each record's line of a file.
template <class Visit>
Status lines_of(const fs::path& file, const Visit& visit) {
  WW_ASSIGN(content, read_file(file));
  std::string_view rest = content;
  if (!rest.starts_with(kHead)) {
    log::warn("{}: not a file of results; left out", file.string());
    return {};
  }
  rest.remove_prefix(kHead.size());
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    WW_TRY(visit(rest.substr(0, end)));
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  return {};
}

// Another packer may put files together while this one reads: list again, and read what is new.
Status over_files(const fs::path& folder, std::set<fs::path>& taken, std::string_view start,
                  const std::function<Status(std::string_view, const fs::path&)>& visit) {
  for (int listing = 0; listing < kListings; ++listing) {
    bool went = false;
    WW_ASSIGN(files, list(folder));
    for (const auto& file : files) {
      if (taken.contains(file) || !file.filename().string().starts_with(start)) continue;
      const auto done = lines_of(file, [&](std::string_view line) { return visit(line, file); });
      if (!done && done.error().code == ErrorCode::not_found) {
        went = true;
        continue;
      }
      WW_TRY(done);
      taken.insert(file);
    }
    if (!went) return {};
  }
  return fail(ErrorCode::io_error, "its files keep changing", folder.string());
}

}  // namespace

Result<ResultWriter> ResultWriter::create(const fs::path& folder, const std::string& tag,
                                          std::chrono::duration<double> between) {
  WW_TRY(ww::make_folder(folder));
  ResultWriter writer;
  writer.between_ = between;
  writer.folder_ = folder;
  writer.name_ = fmt::format("{}-{}-{}-{:x}", tag, host_name(), ::getpid(), now_ms());
  writer.written_ = std::chrono::steady_clock::now();
  return writer;
}

Status ResultWriter::add(const Record& record) {
  pending_ += to_line(record);
  pending_ += '\n';
  const auto age = std::chrono::steady_clock::now() - written_;
  return age >= between_ || pending_.size() >= kLargestPart ? flush() : Status{};
}

Status ResultWriter::flush() {
  if (pending_.empty()) return {};
  const auto file = folder_ / fmt::format("{}-{:06}{}", name_, next_, kEnding);
  WW_TRY(write_file_atomically(file, std::string(kHead) + pending_));
  parts_.push_back(file);
  pending_.clear();
  ++next_;
  written_ = std::chrono::steady_clock::now();
  return {};
}

Status ResultWriter::finish() {
  WW_TRY(flush());
  if (parts_.size() < 2) return {};
  WW_ASSIGN(whole, StreamedFile::create(folder_ / fmt::format("{}-all{}", name_, kEnding)));
  WW_TRY(whole.write(kHead));
  for (const auto& part : parts_) {
    const auto content = read_file(part);
    // A packer has put it together with others, and its records are in that file.
    if (!content && content.error().code == ErrorCode::not_found) continue;
    if (!content) return tl::unexpected(content.error());
    WW_TRY(whole.write(std::string_view(*content).substr(kHead.size())));
  }
  WW_TRY(whole.keep());
  std::error_code ignored;
  for (const auto& part : parts_) fs::remove(part, ignored);
  parts_ = {whole.target()};
  return {};
}

Status read_records(const fs::path& folder, const std::function<Status(Record&&)>& visit,
                    std::string_view tag) {
  std::set<fs::path> taken;
  const std::string start = tag.empty() ? std::string() : std::string(tag) + "-";
  return over_files(
      folder, taken, start, [&](std::string_view line, const fs::path& file) -> Status {
        auto record = from_line(line);
        if (!record) {
          log::warn("{}: a damaged record; its point counts as missing", file.string());
          return {};
        }
        return visit(std::move(*record));
      });
}

Status pack_records(const fs::path& folder) {
  WW_ASSIGN(files, list(folder));
  if (files.size() < 2) return {};
  WW_ASSIGN(packed, StreamedFile::create(folder / fmt::format("packed-{}-{}-{:x}{}", host_name(),
                                                              ::getpid(), now_ms(), kEnding)));
  WW_TRY(packed.write(kHead));
  std::set<fs::path> taken;
  WW_TRY(over_files(folder, taken, "", [&](std::string_view line, const fs::path&) -> Status {
    WW_TRY(packed.write(line));
    return packed.write("\n");
  }));
  WW_TRY(packed.keep());
  std::error_code ignored;
  for (const auto& file : taken) fs::remove(file, ignored);
  return {};
}

}  // namespace ww::sweep
