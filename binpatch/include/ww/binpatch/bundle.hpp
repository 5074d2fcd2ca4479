// Clang's offload bundles: several targets' objects in one file.
// Source: LLVM, "Clang Offload Bundler", section "Bundled Binary File Layout".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::binpatch {

struct BundleEntry {
  std::string id;      // "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
  std::string target;  // "gfx90a:sramecc+:xnack-", empty for the host's entry
  std::uint64_t offset{};
  std::uint64_t size{};
};

[[nodiscard]] bool is_bundle(std::span<const std::byte> bytes);
// All entries, each inside the file. Error parse_error.
[[nodiscard]] Result<std::vector<BundleEntry>> read_bundle(std::span<const std::byte> bytes);

}  // namespace ww::binpatch
