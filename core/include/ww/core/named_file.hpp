// Paths as users give them: a file, or the folder that a command filled.
#pragma once

#include <filesystem>
#include <string_view>

#include "ww/core/result.hpp"

namespace ww {

// Returns `path` itself or, if it is a folder, the file `name` in it. Errors: not_found;
// invalid_argument for a device, socket or pipe. Errors name the path, the file that was expected,
// and `source`, which says where such files come from ("'wirewatt calibrate' writes one").
[[nodiscard]] Result<std::filesystem::path> named_file(const std::filesystem::path& path,
                                                       std::string_view name,
                                                       std::string_view source);

// Returns the model.json of a calibration: `path` itself, or that file in its folder. Errors: those
// of named_file; unsupported for a calibration of crossings (crossing.json), whose energy is per
// bit and crossing of an L2 and not per millimetre.
[[nodiscard]] Result<std::filesystem::path> model_file(const std::filesystem::path& path);

}  // namespace ww
