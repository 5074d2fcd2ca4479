// Files that were finished under another name, as databases are and what another process writes,
// and then get their own.
#pragma once

#include <filesystem>

#include "ww/core/result.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww {

// Whether the path names a device, a pipe or a socket, such as /dev/stdout. Nothing is put in the
// place of such a thing: root would replace the device.
[[nodiscard]] bool is_device_or_pipe(const std::filesystem::path& path);

// A folder for a file that place_file() will put at `target`: beside it, or among the temporary
// files where the target is a device or a pipe. Errors: those of ScratchFolder.
[[nodiscard]] Result<ScratchFolder> folder_for(const std::filesystem::path& target);

// Renames a finished file to `target`, which it replaces. A device or a pipe gets its content.
// Errors: io_error, permission_denied, not_found.
Status place_file(const std::filesystem::path& finished, const std::filesystem::path& target);

}  // namespace ww
