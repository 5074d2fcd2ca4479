// The objects inside a file of whatever kind, and the code of their kernels.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalyst.hpp"
#include "site.hpp"
#include "ww/binpatch/binary.hpp"

namespace ww::binpatch {

// One object and the place of its bytes in the file.
struct Part {
  BinaryKind kind{};
  std::string target;  // as a bundle names it; empty elsewhere
  std::uint64_t base{};
  std::span<const std::byte> bytes;
};

// A file with its compressed bundles unpacked.
struct PlainFile {
  std::vector<std::byte> own;  // empty where the file has no bundle
  std::span<const std::byte> bytes;
};
[[nodiscard]] Result<PlainFile> plain_file(std::span<const std::byte> bytes);

// The objects of a plain file that `target` chooses: of a bundle those of that target, of other
// kinds the file.
[[nodiscard]] Result<std::vector<Part>> parts_of(std::span<const std::byte> bytes,
                                                 const std::string& target);

struct KernelList {
  std::string target;
  std::vector<std::string> kernels;
};

[[nodiscard]] Result<KernelList> kernels_of(const Part& part);

// The code of a Catalyst kernel, and the sections that would replace it.
struct CatalystCode {
  CodeRegion region;
  std::optional<std::uint16_t> group_register;
  bool adds_offset{true};  // as in CatalystKernel
  std::vector<CatalystSource> sources;
};

[[nodiscard]] Result<CatalystCode> open_catalyst(const Part& part, const std::string& name);

}  // namespace ww::binpatch
