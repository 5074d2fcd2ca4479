#include "pinning.hpp"

#include "ww/binpatch/patch.hpp"

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
  } else if (target >= binpatch::GfxTarget{9, 0, 8}) {
    layout.engine_mask = 7;
  }
  return layout;
}

class AmdPinning final : public Pinning {
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

 private:
  binpatch::GfxTarget target_;
  binpatch::HardwareRegister register_;
};

}  // namespace

Result<std::unique_ptr<Pinning>> make_pinning(const std::string& target) {
  WW_ASSIGN(parsed, binpatch::parse_gfx_target(target));
  WW_ASSIGN(reg, binpatch::default_register(parsed));
  return std::make_unique<AmdPinning>(parsed, reg);
}

}  // namespace ww::microbench
