#include "ww/sim/net/allocator.hpp"

#include <fmt/format.h>

namespace ww::sim::net {

std::string_view to_string(Allocator allocator) {
  return allocator == Allocator::islip ? "islip" : "separable_input_first";
}

Result<Allocator> allocator_from_string(std::string_view text) {
  if (text == "islip") {
    return Allocator::islip;
  }
  if (text == "separable_input_first" || text == "separable") {
    return Allocator::separable_input_first;
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("allocator '{}' is unknown; islip or separable_input_first", text),
              "allocator");
}

}  // namespace ww::sim::net
