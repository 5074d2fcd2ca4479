// One kernel's machine code wherever it lies (a code object, an object of a bundle, the inner ELF
// of a Catalyst binary), and the place in it that the patch rewrites.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernel_code.hpp"
#include "ww/binpatch/patch.hpp"

namespace ww::binpatch {

struct CodeRegion {
  std::string kernel;
  GfxTarget target;
  isa::Generation generation{};
  std::uint64_t file_offset{};          // of the first instruction
  std::uint64_t address{};              // of the same, as loaded
  std::span<const std::byte> bytes;     // the code
  std::vector<Relocation> relocations;  // of the whole object
  KernelCode code;
};

// The error of this module: its context names the kernel.
[[nodiscard]] tl::unexpected<Error> refuse(ErrorCode code, std::string message,
                                           std::string_view kernel);

// The whole of `reg` on `target`; unsupported where it has none.
[[nodiscard]] Result<isa::HardwareRegisterField> whole_register(HardwareRegister reg,
                                                                GfxTarget target);

// Whether `instruction` is the marker, s_xor_b32 with pin_marker.
[[nodiscard]] bool is_marker(const isa::Instruction& instruction);

// Finds and checks the marker, and says what would be written there. Errors as patch().
[[nodiscard]] Result<PatchSite> plan_marker(const CodeRegion& region,
                                            const isa::HardwareRegisterField& field);

// The form that has no marker, of the Catalyst compiler: the one s_add_i32 sD, sG, sOffset whose
// sG arrives with the wave (no instruction writes it) and whose sOffset is loaded. `group_register`
// is sG's number where the binary gives it. Source: Adhinarayanan et al., IISWC'16, Fig. 3. Errors:
// not_found, bad_data (several, SCC read afterwards).
[[nodiscard]] Result<PatchSite> plan_unmarked(const CodeRegion& region,
                                              const isa::HardwareRegisterField& field,
                                              std::optional<std::uint16_t> group_register);

// Checks that `after`, the patched code, reads `field` into the destination that the instruction at
// `site` had, and decodes as `before` everywhere else.
[[nodiscard]] Status check_patched(const CodeRegion& before, const CodeRegion& after,
                                   const PatchSite& site, const isa::HardwareRegisterField& field);

}  // namespace ww::binpatch
