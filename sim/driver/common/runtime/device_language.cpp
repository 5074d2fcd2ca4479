#include "common/runtime/device_language.hpp"

namespace ww::sim::driver {

DeviceLanguage device_language(std::string_view gfx_target) {
  const bool is_cdna3 = gfx_target.starts_with("gfx94");
  const bool before_gfx8 = gfx_target.starts_with("gfx6") || gfx_target.starts_with("gfx7");
  return {.halves = !before_gfx8,
          .denormals = !before_gfx8 && !gfx_target.starts_with("gfx8"),
          .images = !is_cdna3};
}

}  // namespace ww::sim::driver
