// Files that hold several objects, made in memory: offload bundles and Catalyst binaries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "object_builder.hpp"

namespace ww::binpatch::testing {

// A clang offload bundle of (id, object).
[[nodiscard]] Bytes build_bundle(const std::vector<std::pair<std::string, Bytes>>& objects);

// The bundle compressed ("CCOB"), by the header's version 1 to 3 and method 0 (zlib) or 1 (zstd).
[[nodiscard]] Bytes compress_bundle(const Bytes& bundle, int version, int method);

struct CatalystSpec {
  std::uint16_t machine{0x408};                        // Hawaii
  bool wide{true};                                     // the outer file has 64 bits
  std::vector<std::pair<std::string, Bytes>> kernels;  // name, machine code
  std::vector<std::string> source_sections{".llvmir", ".amdil"};
  std::optional<std::uint32_t> user_registers{};  // in the inner files' notes
};

// Builds a Catalyst file as public descriptions have it: an inner 32-bit ELF file per kernel lies
// in .text of the outer file, at the symbol __OpenCL_<kernel>_kernel.
[[nodiscard]] Bytes build_catalyst(const CatalystSpec& spec);

struct OpenCl2Spec {
  std::uint32_t device_code{7};  // e_flags of the outer file: Hawaii
  std::uint32_t noted_major{7};  // the HSA object's note; 0: none
  bool wide{true};
  std::vector<std::pair<std::string, Bytes>> kernels;  // name, machine code
  std::vector<std::uint64_t> relocated{};              // places in .hsatext
  std::uint32_t user_registers{8};
};

// Catalyst's form of OpenCL 2.0: one HSA object in .text, an amd_kernel_code_t before each kernel's
// code in .hsatext, and the program as .brig.
[[nodiscard]] Bytes build_catalyst_opencl2(const OpenCl2Spec& spec);

}  // namespace ww::binpatch::testing
