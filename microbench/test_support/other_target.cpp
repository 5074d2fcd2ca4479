#include "other_target.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

#include "code_objects.hpp"
#include "ww/binpatch/code_object.hpp"
#include "ww/binpatch/patch.hpp"

namespace ww::microbench::testing {
namespace {

// Literals that stand for the host's values (kernels/amd/shim.clh).
constexpr std::uint32_t kFirstLiteral = 0x57570001, kClockMask = 0x57570009,
                        kLastLiteral = 0x5757000A;
constexpr std::uint32_t kTwentyBits = (1U << 20U) - 1;
using Values = std::map<std::uint32_t, std::uint32_t>;  // by literal
constexpr auto kPlace = binpatch::HardwareRegister::hw_id1;

std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

Values values_in(std::span<const std::byte> image, std::span<const std::byte> open) {
  Values values;
  for (std::size_t at = 0; at + 4 <= open.size(); at += 4) {
    const std::uint32_t word = word_at(open, at);
    if (word >= kFirstLiteral && word <= kLastLiteral) values[word] = word_at(image, at);
  }
  return values;
}

std::vector<std::byte> with_values(std::span<const std::byte> open, const Values& values) {
  std::vector<std::byte> object(open.begin(), open.end());
  for (std::size_t at = 0; at + 4 <= object.size(); at += 4) {
    const auto value = values.find(word_at(object, at));
    if (value != values.end()) std::memcpy(object.data() + at, &value->second, 4);
  }
  return object;
}

// The kernel whose pinning makes `plain` the image; empty where they are equal. Error bad_data:
// there is none.
Result<std::string> pinned_kernel(std::span<const std::byte> image,
                                  const std::vector<std::byte>& plain) {
  if (std::ranges::equal(image, plain)) return std::string();
  WW_ASSIGN(object, binpatch::CodeObject::parse(plain));
  for (const auto& kernel : object.kernels()) {
    const auto patched = binpatch::patch(plain, kernel.name, kPlace);
    if (patched && std::ranges::equal(image, patched->bytes)) return kernel.name;
  }
  return fail(ErrorCode::bad_data, "no pinned kernel makes it");
}

}  // namespace

Result<std::vector<std::byte>> as_for_target(std::span<const std::byte> image,
                                             std::string_view from, std::string_view to) {
  for (const kernels::CodeObjectFile& file : kernels::code_object_files()) {
    if (file.target != from || file.bytes.size() != image.size()) continue;
    Values values = values_in(image, file.bytes);
    const auto pinned = pinned_kernel(image, with_values(file.bytes, values));
    if (!pinned) continue;
    const auto other = std::ranges::find_if(kernels::code_object_files(), [&](const auto& each) {
      return each.target == to && each.variant == file.variant;
    });
    if (other == kernels::code_object_files().end()) break;
    if (values.contains(kClockMask)) values[kClockMask] = kTwentyBits;
    auto object = with_values(other->bytes, values);
    if (pinned->empty()) return object;
    WW_ASSIGN(patched, binpatch::patch(object, *pinned, kPlace));
    return std::move(patched.bytes);
  }
  return fail(ErrorCode::bad_data, "it is none of wirewatt's kernels for this target",
              std::string(from));
}

}  // namespace ww::microbench::testing
