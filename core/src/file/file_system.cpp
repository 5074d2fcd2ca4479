#include "ww/core/file_system.hpp"

#include <cerrno>
#include <fstream>
#include <string>

#include "write_all.hpp"
#include "ww/core/owned_file.hpp"
#include "ww/core/streamed_file.hpp"

namespace ww {
namespace {

Status copy_into(const std::filesystem::path& finished, const std::filesystem::path& target) {
  std::ifstream in(finished, std::ios::binary);
  if (!in) return tl::unexpected(errno_error(errno, "cannot read", finished));
  WW_ASSIGN(out, StreamedFile::create(target));
  std::string part(std::size_t{1} << 18, '\0');
  while (in.read(part.data(), static_cast<std::streamsize>(part.size())) || in.gcount() > 0) {
    WW_TRY(out.write(std::string_view(part).substr(0, static_cast<std::size_t>(in.gcount()))));
  }
  if (in.bad()) return fail(ErrorCode::io_error, "cannot read", finished.string());
  return out.keep();
}

}  // namespace

bool is_device_or_pipe(const std::filesystem::path& path) {
  return is_no_file(path);
}

Result<ScratchFolder> folder_for(const std::filesystem::path& target) {
  return is_no_file(target)
             ? ScratchFolder::create("file")
             : ScratchFolder::create_in(std::filesystem::absolute(target).parent_path());
}

Status place_file(const std::filesystem::path& finished, const std::filesystem::path& target) {
  std::error_code ec;
  if (is_no_file(target)) {
    WW_TRY(copy_into(finished, target));
    std::filesystem::remove(finished, ec);
    return {};
  }
  WW_TRY(refuse_owned_database(target));
  std::filesystem::rename(finished, target, ec);
  if (ec) return tl::unexpected(errno_error(ec, "cannot put the file in place", target));
  return {};
}

}  // namespace ww
