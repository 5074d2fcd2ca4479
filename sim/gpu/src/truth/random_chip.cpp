#include "random_chip.hpp"

namespace ww::sim::gpu {

Result<Chip> draw_chip(const ChipRequest& request) {
  return fail(ErrorCode::unsupported, "random chips are not yet drawn", request.chip);
}

}  // namespace ww::sim::gpu
