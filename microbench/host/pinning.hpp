// Pinning: patched binaries, and reading the place that a wavefront logged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::microbench {

struct Place {
  int engine{};  // NVIDIA: the SM, which is all that its hardware id gives
  int cu{};      // distinguishes the CUs of one engine; NVIDIA: 0
};

class Pinning {
 public:
  virtual ~Pinning() = default;
  // How kernels find their place on this device.
  [[nodiscard]] virtual kernels::PinTarget target() const = 0;
  // The binary whose marker is replaced. Errors as binpatch::patch and binpatch::verify.
  [[nodiscard]] virtual Result<std::vector<std::byte>> patch(std::span<const std::byte> binary,
                                                             const std::string& kernel) const = 0;
  [[nodiscard]] virtual Result<Place> place(std::uint32_t hardware_id) const = 0;
  // The bits of a hardware id that distinguish places (not the wave's slot on its place).
  [[nodiscard]] virtual std::uint32_t place_mask() const = 0;
};

// Through binpatch, for a target as HostFacts has it: "gfx701", "gfx90a:sramecc+:xnack-", "sm_90".
// Errors: unsupported, with the reason, where nothing can be pinned (no marker on this platform, or
// no register that gives the place); parse_error.
[[nodiscard]] Result<std::unique_ptr<Pinning>> make_pinning(const std::string& target);

// Pins by the number of the compute die, XCC_ID: Place::engine is the die. Error unsupported for
// targets without that register.
[[nodiscard]] Result<std::unique_ptr<Pinning>> make_die_pinning(const std::string& target);

// Whether the target has several compute dies that repeat the same hardware ids, so that such an id
// names no one place: gfx940 to gfx942 (MI300), gfx950 (MI350).
[[nodiscard]] bool dies_repeat_ids(std::string_view target);

// Whether the target is of RDNA: gfx10 to gfx12.
[[nodiscard]] bool is_rdna(std::string_view target);

// How kernels are spelled for such a target, whether or not anything can be pinned on it.
[[nodiscard]] kernels::PinTarget kernel_target(const std::string& target);

}  // namespace ww::microbench
