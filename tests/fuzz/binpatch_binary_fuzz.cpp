// Bundles, Catalyst binaries, PTX and code objects with bytes overwritten anywhere, and raw bytes:
// the patcher refuses, or what it does can be verified and undone.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "container_builder.hpp"
#include "ww/binpatch/binary.hpp"

namespace {

using namespace ww::binpatch;
using testing::Bytes;

std::vector<Bytes> make_seeds() {
  const Bytes code = testing::words({0x93000010, 0xc0800500, 0x81000210, 0xbf02c100, 0xbf810000});
  const Bytes marked = testing::words({0x8903ff06, pin_marker, 0xbf810000});
  constexpr std::string_view ptx =
      ".version 7.0\n.target sm_80\n.visible .entry k(.param .u64 p)\n{\n  .reg .b32 %r<4>;\n"
      "  mov.u32 %r3, %ctaid.x; // group\n  @%p1 xor.b32 %r1, %r3, 1589698049;\n  ret;\n}\n";
  Bytes text(ptx.size());
  std::memcpy(text.data(), ptx.data(), ptx.size());
  const Bytes object = testing::build_object({.code = marked});
  return {testing::build_catalyst({.kernels = {{"k", code}}, .user_registers = 16}),
          testing::build_catalyst({.wide = false, .kernels = {{"k", code}, {"m", marked}}}),
          testing::build_bundle(
              {{"host-x86_64-unknown-linux--", {}}, {"hipv4-amdgcn-amd-amdhsa--gfx701", object}}),
          text, object};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<Bytes> seeds = make_seeds();
  if (size == 0) return 0;
  const std::size_t choice = data[0] % (seeds.size() + 1);
  Bytes bytes;
  if (choice == seeds.size()) {
    const auto raw = std::as_bytes(std::span(data + 1, size - 1));
    bytes.assign(raw.begin(), raw.end());
  } else {
    bytes = seeds[choice];
    for (std::size_t at = 1; at + 3 <= size; at += 3) {
      const std::size_t place = (data[at] + std::size_t{256} * data[at + 1]) % bytes.size();
      bytes[place] = static_cast<std::byte>(data[at + 2]);
    }
  }
  (void)list_candidates(bytes);
  for (const char* kernel : {"k", ""}) {
    const auto patched = patch_binary(bytes, {.kernel = kernel});
    if (!patched) continue;
    const bool good = verify_binary(bytes, *patched).has_value();
    const auto back = unpatch_binary(patched->bytes, patched->changes);
    if (!good || !back || *back != bytes) std::abort();
  }
  return 0;
}
