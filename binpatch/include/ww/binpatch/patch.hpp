// Pinning by patching: the instruction that marks the work-group id is rewritten so that the same
// register receives the hardware id instead.
//
// The kernel source marks the place:   id = get_group_id(0) ^ 0x5EC0DE01u;
//                                      __asm__ volatile("" : WW_PIN_CONSTRAINT(id));
// The compiler must then emit s_xor_b32 sD, sG, 0x5EC0DE01 (8 bytes), which becomes
// s_getreg_b32 sD, hwreg(...) and s_nop 0. Same size, same destination. Where the marker is not
// found exactly once, or a later instruction reads the SCC that the xor would have set, the patch
// is refused. Source: Adhinarayanan et al., IISWC'16, section IV-C and Fig. 3 (there by hand).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ww/binpatch/code_object.hpp"
#include "ww/core/result.hpp"

namespace ww::binpatch {

inline constexpr std::uint32_t pin_marker = 0x5EC0DE01u;

// smid is NVIDIA's: PTX's %smid (ptx.hpp).
enum class HardwareRegister { hw_id, hw_id1, xcc_id, smid };
[[nodiscard]] std::string_view to_string(HardwareRegister reg);
[[nodiscard]] Result<HardwareRegister> hardware_register_from_string(std::string_view text);
// The register that names the shader engine on a target (hw_id on GCN and CDNA, hw_id1 on RDNA);
// error unsupported where none is known. Whether gfx12's hw_id1 is readable from kernels is not
// public: whoever reads it must judge the values.
[[nodiscard]] Result<HardwareRegister> default_register(GfxTarget target);

struct PatchSite {
  std::string kernel;
  std::uint64_t file_offset{};
  std::uint64_t address{};
  std::vector<std::byte> before;
  std::vector<std::byte> after;
  std::string before_text;  // disassembled
  std::string after_text;
};

struct PatchResult {
  std::vector<std::byte> bytes;  // the patched object; same size, differs at the site alone
  PatchSite site;
};

// Decodes from the kernel's entry (never a raw word scan). Errors: not_found (kernel, marker),
// unsupported (target, unoptimised code), bad_data (marker more than once, SCC read afterwards,
// undecodable instruction before the marker).
[[nodiscard]] Result<PatchResult> patch(std::span<const std::byte> object, std::string_view kernel,
                                        HardwareRegister reg);
// The inverse: the s_getreg_b32 + s_nop pair at `site` becomes the marker again.
[[nodiscard]] Result<std::vector<std::byte>> unpatch(std::span<const std::byte> object,
                                                     const PatchSite& site);
// Decodes the patched kernel and checks that the site reads `reg` in full (offset 0, 32 bits)
// into the destination that the marker had, and that all else decodes as before.
[[nodiscard]] Status verify(std::span<const std::byte> original, const PatchResult& patched,
                            HardwareRegister reg);

// Fields of HW_ID on GCN and CDNA (gfx6 to gfx942) and HW_ID1 on RDNA.
struct HardwareId {
  int wave{}, simd{}, pipe{}, cu{}, shader_array{}, shader_engine{};
};
[[nodiscard]] Result<HardwareId> decode_hardware_id(GfxTarget target, std::uint32_t value);

}  // namespace ww::binpatch
