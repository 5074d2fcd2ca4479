// How the error of a launch begins that was stopped by an access outside memory.
#pragma once

#include <string_view>

namespace ww::sim::gpu {

inline constexpr std::string_view kMemoryFault = "memory fault";

}  // namespace ww::sim::gpu
