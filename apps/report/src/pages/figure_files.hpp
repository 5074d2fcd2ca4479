// The pictures of a page as files that papers can take.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::report {

struct Picture {
  std::string name;  // "power-over-time", from its title
  std::string svg;   // needs no style of a page: the light theme's colours are in it
};
// Every drawing of a page, in the page's order. Names that occur twice get a number.
[[nodiscard]] std::vector<Picture> pictures_of(std::string_view page);

// Writes each picture as NAME.svg into the folder, which it makes, and as NAME.png where
// `converter`, the program rsvg-convert, is not empty. Returns the files. Errors: io_error,
// permission_denied.
[[nodiscard]] Result<std::vector<std::filesystem::path>> write_pictures(
    const std::vector<Picture>& pictures, const std::filesystem::path& folder,
    const std::filesystem::path& converter);

}  // namespace ww::report
