#include "ww/sim/gpu/data_sheet.hpp"

namespace ww::sim::gpu {

Result<Architecture> data_sheet(const ChipRequest& request) {
  WW_ASSIGN(chip, Chip::load(request));
  return chip.architecture();
}

}  // namespace ww::sim::gpu
