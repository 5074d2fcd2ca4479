// The allocators of virtual-channel routers.
#pragma once

#include <string_view>

#include "ww/core/result.hpp"

namespace ww::sim::net {

enum class Allocator {
  islip,                  // one iteration (McKeown 1999), pointers move on accepted grants only
  separable_input_first,  // round-robin arbiters, inputs first; pointers move on matches only
};
[[nodiscard]] std::string_view to_string(Allocator allocator);
// Error invalid_argument for an unknown name.
[[nodiscard]] Result<Allocator> allocator_from_string(std::string_view text);

}  // namespace ww::sim::net
