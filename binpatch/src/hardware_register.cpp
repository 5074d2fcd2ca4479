#include <fmt/format.h>

#include "ww/binpatch/patch.hpp"

namespace ww::binpatch {

namespace {

constexpr int field(std::uint32_t value, unsigned low, unsigned count) {
  return static_cast<int>((value >> low) & ((1U << count) - 1U));
}

// CDNA has up to eight shader engines, and the third bit lies above GCN's two.
bool has_wide_engine_field(GfxTarget target) {
  return target >= GfxTarget{9, 0, 8} && target != GfxTarget{9, 0, 9} &&
         target != GfxTarget{9, 0, 12};
}

}  // namespace

std::string_view to_string(HardwareRegister reg) {
  switch (reg) {
    case HardwareRegister::hw_id: return "hw_id";
    case HardwareRegister::hw_id1: return "hw_id1";
    case HardwareRegister::xcc_id: return "xcc_id";
    case HardwareRegister::smid: return "smid";
  }
  return "?";
}

Result<HardwareRegister> hardware_register_from_string(std::string_view text) {
  for (const auto reg : {HardwareRegister::hw_id, HardwareRegister::hw_id1,
                         HardwareRegister::xcc_id, HardwareRegister::smid}) {
    if (text == to_string(reg)) {
      return reg;
    }
  }
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("no hardware register '{}'; there are hw_id, hw_id1, xcc_id and smid", text));
}

Result<HardwareRegister> default_register(GfxTarget target) {
  if (target.major >= 6 && target.major <= 9) {
    return HardwareRegister::hw_id;
  }
  if (target.major >= 10 && target.major <= 12) {
    return HardwareRegister::hw_id1;
  }
  return fail(
      ErrorCode::unsupported,
      fmt::format("{} has no readable register that names the shader engine", to_string(target)));
}

Result<HardwareId> decode_hardware_id(GfxTarget target, std::uint32_t value) {
  WW_ASSIGN(reg, default_register(target));
  if (reg == HardwareRegister::hw_id) {
    // Sea Islands and Vega ISA, "HW_ID"; CDNA ISA for the third engine bit.
    return HardwareId{.wave = field(value, 0, 4),
                      .simd = field(value, 4, 2),
                      .pipe = field(value, 6, 2),
                      .cu = field(value, 8, 4),
                      .shader_array = field(value, 12, 1),
                      .shader_engine = field(value, 13, has_wide_engine_field(target) ? 3 : 2)};
  }
  // RDNA ISA, "HW_ID1". The unit is a work-group processor, two CUs. RDNA 4's document has no
  // fields; RDNA 3's are taken, and whoever reads the register must judge whether it separates
  // places.
  return HardwareId{.wave = field(value, 0, 5),
                    .simd = field(value, 8, 2),
                    .pipe = 0,
                    .cu = field(value, 10, 4),
                    .shader_array = field(value, 16, 1),
                    .shader_engine = field(value, 18, target.major >= 11 ? 3 : 2)};
}

}  // namespace ww::binpatch
