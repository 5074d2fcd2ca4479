#include "machine/isa/approximated.hpp"

#include <algorithm>
#include <array>

namespace ww::sim::gpu::exec {

bool is_approximated(std::string_view mnemonic) {
  static constexpr std::array<std::string_view, 12> kBeginnings{
      "v_rcp_", "v_rsq_",   "v_sqrt_",  "v_exp_",    "v_log_",       "v_sin_",
      "v_cos_", "v_mfma_f", "v_dot2_f", "v_dot2c_f", "image_sample", "image_gather4"};
  return std::ranges::any_of(kBeginnings, [mnemonic](std::string_view beginning) {
    return mnemonic.starts_with(beginning);
  });
}

}  // namespace ww::sim::gpu::exec
