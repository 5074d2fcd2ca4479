// One entry point for every binary that clGetProgramInfo or a compiler returns: an AMD code object,
// NVIDIA's PTX, a clang offload bundle of several targets, or a binary of AMD's Catalyst drivers.
// The kind is recognised from the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/binpatch/patch.hpp"
#include "ww/core/result.hpp"

namespace ww::binpatch {

enum class BinaryKind { code_object, bundle, catalyst, ptx };
[[nodiscard]] std::string_view to_string(BinaryKind kind);
// Error unsupported, with the reason and what to do, for kinds that are known but not patched
// (cubin, host program); parse_error for anything else.
[[nodiscard]] Result<BinaryKind> kind_of(std::span<const std::byte> bytes);

struct BinaryPatchRequest {
  std::string kernel;                     // empty: the only one there is
  std::optional<HardwareRegister> reg{};  // default: the one that names the engine
  std::string target{};                   // of a bundle: "gfx90a"; empty: every AMD object
  bool operator==(const BinaryPatchRequest&) const = default;
};

// A run of bytes that the patch changed; `before` and `after` have the same size.
struct ByteChange {
  std::uint64_t file_offset{};
  std::vector<std::byte> before;
  std::vector<std::byte> after;
};

struct PatchedSite {
  std::string target;  // "gfx701", "sm_80"
  HardwareRegister reg{};
  // The bits of the register that are read, by default all. Catalyst code without the marker reads
  // bits 14:8 of HW_ID (CU, array and engine), as the paper does.
  std::uint8_t bit_offset{};
  std::uint8_t bit_count{32};
  PatchSite site;  // offsets are those of the whole file
};

struct PatchedBinary {
  BinaryKind kind{};
  // As large as the input; for compressed bundles
  // the unpacked bytes, to which all offsets belong.
  std::vector<std::byte> bytes;
  std::vector<PatchedSite> sites;  // one; in a bundle one for each object
  // All changes: the sites and, in Catalyst binaries, the emptied sections from which the driver
  // would compile anew (.source, .llvmir, .amdil ...).
  std::vector<ByteChange> changes;
};

// Errors: those of patch() and patch_ptx(); invalid_argument for a target or register that the file
// does not have, or if no kernel is named and there are several. If one object of a bundle is
// refused, the whole bundle is; name the target then.
[[nodiscard]] Result<PatchedBinary> patch_binary(std::span<const std::byte> bytes,
                                                 const BinaryPatchRequest& request);
// Decodes the patched bytes and checks that each site reads the wanted register and that nothing
// else has changed.
[[nodiscard]] Status verify_binary(std::span<const std::byte> original,
                                   const PatchedBinary& patched);
// Undoes all changes. Error bad_data if `bytes` does not contain them.
[[nodiscard]] Result<std::vector<std::byte>> unpatch_binary(std::span<const std::byte> bytes,
                                                            std::span<const ByteChange> changes);

// The result that patch_binary would have for a kernel.
struct Candidate {
  std::string target;
  std::string kernel;
  std::optional<PatchedSite> site;  // where it can be patched
  std::optional<Error> refusal;     // why not
};
// Every kernel of every object, with the default register of each target.
[[nodiscard]] Result<std::vector<Candidate>> list_candidates(std::span<const std::byte> bytes);

// A kernel's machine code as text.
struct CodeLine {
  std::uint64_t address{};
  std::uint64_t file_offset{};
  std::vector<std::byte> bytes;
  std::string text;
  bool reads_hardware_id{};  // as a patched place does
  bool decoded{true};        // false: no table names it, and the text is its words
};
struct CodeListing {
  std::string target;
  std::string kernel;
  std::vector<CodeLine> lines{};
  std::optional<Error> problem{};  // why the lines end early
};
// Every kernel of every object, or the one named. Errors: not_found; unsupported for PTX.
[[nodiscard]] Result<std::vector<CodeListing>> list_code(std::span<const std::byte> bytes,
                                                         std::string_view kernel);

}  // namespace ww::binpatch
