// The values that stand at the head of a program text.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace ww::kernels {

// The "#define NAME 123u" lines at the head of a program text, and what follows the head.
struct ProgramHead {
  std::map<std::string, std::string, std::less<>> values;
  std::string_view rest;
};
[[nodiscard]] ProgramHead split_head(std::string_view text);

}  // namespace ww::kernels
