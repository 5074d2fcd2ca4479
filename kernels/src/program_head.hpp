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

// RDNA: code of either 32 or 64 lanes a wavefront runs on it; every other AMD target has 64.
[[nodiscard]] bool has_both_wave_sizes(std::string_view target);

}  // namespace ww::kernels
