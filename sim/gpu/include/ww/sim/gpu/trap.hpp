// How a launch's error says that the kernel ended itself: assert() and abort() do, by s_trap.
#pragma once

#include <string_view>

namespace ww::sim::gpu {

inline constexpr std::string_view kTrapMessage = "the kernel trapped (s_trap)";

}  // namespace ww::sim::gpu
