#include "host/pinning.hpp"

#include "ww/binpatch/patch.hpp"
#include "ww/binpatch/ptx.hpp"

namespace ww::microbench {
namespace {

// HW_ID (GCN, CDNA): cu 11:8, engine 14:13, or 15:13 from gfx908 on. HW_ID1 (RDNA): wgp 13:10,
// engine from bit 18.
kernels::PinTarget layout_of(binpatch::GfxTarget target) {
  kernels::PinTarget layout;
  if (target.major >= 10) {
    layout.engine_shift = 18;
    layout.engine_mask = target.major >= 11 ? 7 : 3;
    layout.cu_shift = 10;
    layout.wave_size = 32;
    // gfx12's compiler joins two registers to one clock of 64 bits.
    const bool rdna2 = target >= binpatch::GfxTarget{10, 3, 0};
    if (rdna2 && target.major <= 11) layout.clock_bits = 20;
  } else if (target >= binpatch::GfxTarget{9, 0, 8}) {
    layout.engine_mask = 7;
  }
  return layout;
}

class AmdPinning : public Pinning {
 public:
  AmdPinning(binpatch::GfxTarget target, binpatch::HardwareRegister reg)
      : target_(target), register_(reg) {}

  kernels::PinTarget target() const override { return layout_of(target_); }

  Result<std::vector<std::byte>> patch(std::span<const std::byte> binary,
                                       const std::string& kernel) const override {
    WW_ASSIGN(patched, binpatch::patch(binary, kernel, register_));
    WW_TRY(binpatch::verify(binary, patched, register_));
    return patched.bytes;
  }

  Result<Place> place(std::uint32_t hardware_id) const override {
    WW_ASSIGN(id, binpatch::decode_hardware_id(target_, hardware_id));
    // Shader arrays of one engine number their CUs separately.
    return Place{id.shader_engine, id.shader_array * 64 + id.cu};
  }
  std::uint32_t place_mask() const override {
    // CU 11:8, array 12 and engine to bit 15; WGP 13:10, array 16 and engine to bit 20.
    const auto layout = layout_of(target_);
    const std::uint32_t engine = layout.engine_mask << layout.engine_shift;
    return engine | (target_.major >= 10 ? 15u << 10 | 1u << 16 : 31u << 8);
  }

 private:
  binpatch::GfxTarget target_;
  binpatch::HardwareRegister register_;
};

// Pins by XCC_ID, whose lowest four bits are the die's number.
class DiePinning final : public AmdPinning {
 public:
  explicit DiePinning(binpatch::GfxTarget target)
      : AmdPinning(target, binpatch::HardwareRegister::xcc_id) {}

  Result<Place> place(std::uint32_t hardware_id) const override {
    return Place{static_cast<int>(hardware_id & place_mask()), 0};
  }
  std::uint32_t place_mask() const override { return 15u; }
};

// PTX: %smid for the marker.
class NvidiaPinning final : public Pinning {
 public:
  kernels::PinTarget target() const override {
    kernels::PinTarget layout;
    layout.dialect = kernels::Dialect::nvidia;
    layout.engine_shift = 0;
    layout.engine_mask = 0xFFFFFFFFu;
    layout.cu_shift = 0;
    layout.cu_mask = 0;
    layout.wave_size = 32;
    return layout;
  }
  Result<std::vector<std::byte>> patch(std::span<const std::byte> binary,
                                       const std::string& kernel) const override {
    WW_ASSIGN(patched, binpatch::patch_ptx(binary, kernel));
    WW_TRY(binpatch::verify_ptx(binary, patched));
    return patched.bytes;
  }
  Result<Place> place(std::uint32_t hardware_id) const override {
    if (hardware_id > 4095) {
      return fail(ErrorCode::out_of_range, "no GPU has an SM " + std::to_string(hardware_id));
    }
    return Place{static_cast<int>(hardware_id), 0};
  }
  std::uint32_t place_mask() const override { return 0xFFFFFFFFu; }
};

}  // namespace

Result<std::unique_ptr<Pinning>> make_pinning(const std::string& target) {
  if (target.starts_with("sm_")) return std::make_unique<NvidiaPinning>();
  if (!target.starts_with("gfx")) {
    return fail(ErrorCode::unsupported,
                "unpinned: this platform's binaries are neither AMD code objects nor PTX, so no "
                "kernel can be tied to a place",
                target);
  }
  WW_ASSIGN(parsed, binpatch::parse_gfx_target(target.substr(0, target.find(':'))));
  WW_ASSIGN(reg, binpatch::default_register(parsed));
  return std::make_unique<AmdPinning>(parsed, reg);
}

bool dies_repeat_ids(std::string_view target) {
  return target.starts_with("gfx94") || target.starts_with("gfx95");
}

bool is_rdna(std::string_view target) {
  return target.starts_with("gfx1");
}

Result<std::unique_ptr<Pinning>> make_die_pinning(const std::string& target) {
  const auto parsed = binpatch::parse_gfx_target(target.substr(0, target.find(':')));
  if (!parsed || *parsed < binpatch::GfxTarget{9, 4, 0} || parsed->major > 9) {
    return fail(ErrorCode::unsupported, "no register names the compute die on this target", target);
  }
  return std::make_unique<DiePinning>(*parsed);
}

kernels::PinTarget kernel_target(const std::string& target) {
  if (const auto pinning = make_pinning(target)) return (*pinning)->target();
  if (const auto parsed = binpatch::parse_gfx_target(target.substr(0, target.find(':')))) {
    return layout_of(*parsed);
  }
  kernels::PinTarget portable;
  portable.dialect = kernels::Dialect::portable;
  return portable;
}

}  // namespace ww::microbench
