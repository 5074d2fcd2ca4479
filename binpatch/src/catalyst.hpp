// Program binaries of AMD's Catalyst drivers: an outer ELF file with the program in several forms
// (.source, .llvmir, .amdil), whose .text holds one inner ELF file per kernel, with the machine
// code in its own .text; the form of OpenCL 2.0 is catalyst_opencl2.hpp's. Source: the public
// descriptions of the format by the CLRX project; AMD's OpenCL programming guide, "Binary format"
// (-fno-bin-llvmir and its kin).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ww/binpatch/code_object.hpp"
#include "ww/core/result.hpp"

namespace ww::binpatch {

struct CatalystKernel {
  std::string name;
  std::uint64_t code_offset{};  // in the whole file
  std::uint64_t code_size{};
  // The scalar register that holds the work-group id, where the inner file's notes give it.
  std::optional<std::uint16_t> group_register;
  // Whether the compiler adds an offset to every group id, as it does outside of HSA objects.
  bool adds_offset{true};
  std::vector<std::uint64_t> relocated{};  // bytes into the code where the driver writes addresses
};

// A section from which the driver could compile the program anew.
struct CatalystSource {
  std::string section;
  std::uint64_t offset{};
  std::uint64_t size{};
  std::uint64_t size_field_offset{};
  std::uint64_t size_field_bytes{};
};

struct CatalystBinary {
  GfxTarget target;
  std::vector<CatalystKernel> kernels;
  std::vector<CatalystSource> sources;
};

[[nodiscard]] bool is_catalyst(std::span<const std::byte> bytes);
// `given` names the target where the file's machine number does not. Errors: parse_error;
// unsupported
// for machines that are not known and programs of the processor.
[[nodiscard]] Result<CatalystBinary> read_catalyst(std::span<const std::byte> bytes,
                                                   std::optional<GfxTarget> given);

}  // namespace ww::binpatch
