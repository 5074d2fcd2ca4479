// Clang's offload bundles: several targets' objects in one file.
// Source: LLVM, "Clang Offload Bundler", sections "Bundled Binary File Layout" and "Compression and
// Decompression".
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

// Whether the bytes begin as a bundle does, plain or compressed ("CCOB").
[[nodiscard]] bool is_bundle(std::span<const std::byte> bytes);
[[nodiscard]] bool is_compressed_bundle(std::span<const std::byte> bytes);
// All entries of a plain bundle, and of those that follow it as the sources of one program leave
// them in a section, with zeros between. Each lies inside the file. Error parse_error.
[[nodiscard]] Result<std::vector<BundleEntry>> read_bundle(std::span<const std::byte> bytes);

// Takes a compressed bundle apart: versions 1 to 3, by zlib or zstd. Reads no byte behind those
// that it needs, but for the rest of their page. Errors: parse_error (damaged, cut short),
// unsupported (another version or method).
struct UnpackedBundle {
  std::vector<std::byte> bytes;
  std::uint64_t packed_size{};
};
[[nodiscard]] Result<UnpackedBundle> unpack_bundle(const std::byte* packed,
                                                   std::uint64_t available);
// A file of one or more bundles, with the compressed ones among them unpacked: all then begin at
// multiples of 4096. A file without compressed ones stays as it is. Errors: those of
// unpack_bundle().
[[nodiscard]] Result<std::vector<std::byte>> unpack_bundles(std::span<const std::byte> bytes);

}  // namespace ww::binpatch
