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

struct CatalystSpec {
  std::uint16_t machine{0x408};                        // Hawaii
  bool wide{true};                                     // the outer file has 64 bits
  std::vector<std::pair<std::string, Bytes>> kernels;  // name, machine code
  std::vector<std::string> source_sections{".llvmir", ".amdil"};
  std::optional<std::uint32_t> user_registers{};  // told by the inner files' notes
};

// As the public descriptions have it: an inner 32-bit ELF file per kernel lies in .text of the
// outer file, at the symbol __OpenCL_<kernel>_kernel.
[[nodiscard]] Bytes build_catalyst(const CatalystSpec& spec);

}  // namespace ww::binpatch::testing
