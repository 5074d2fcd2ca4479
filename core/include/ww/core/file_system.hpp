// Folders and places of files, and what the system says of them.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "ww/core/result.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww {

// The Error of a failed system call on a file. A name that cannot be meant (ENOENT, EISDIR,
// ENOTDIR) is wrong usage; a right that is missing and all else is the machine's.
[[nodiscard]] Error errno_error(int number, const std::string& what,
                                const std::filesystem::path& file);
[[nodiscard]] Error errno_error(std::error_code error, const std::string& what,
                                const std::filesystem::path& file);

// Makes the folder, and those above it, where it is not there. Errors: those of errno_error(), so
// invalid_argument where a file is in the way.
Status make_folder(const std::filesystem::path& folder);

// Whether the path names a device, a pipe or a socket, such as /dev/stdout. Nothing is put in the
// place of such a thing: root would replace the device.
[[nodiscard]] bool is_device_or_pipe(const std::filesystem::path& path);

// A folder for a file that place_file() will put at `target`: beside it, or among the temporary
// files where the target is a device or a pipe. Errors: those of ScratchFolder.
[[nodiscard]] Result<ScratchFolder> folder_for(const std::filesystem::path& target);

// Gives a file its own name that was finished under another, as databases are and what another
// process writes. Renames it to `target`, which it replaces. A device or a pipe gets its content.
// Errors: io_error, permission_denied, not_found.
Status place_file(const std::filesystem::path& finished, const std::filesystem::path& target);

}  // namespace ww
