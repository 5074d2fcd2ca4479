// Any words around the marker: the patcher refuses, or what it does can be verified and undone.
#include <cstdint>
#include <cstdlib>

#include "object_builder.hpp"
#include "ww/binpatch/patch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ww::binpatch;
  if (size < 2) return 0;
  struct Target {
    std::uint32_t machine;
    std::uint32_t marker;  // s_xor_b32 s3, s6, literal
    std::uint32_t end;
    HardwareRegister reg;
  };
  static constexpr Target targets[] = {
      {0x23, 0x8903ff06, 0xbf810000, HardwareRegister::hw_id},
      {0x3f, 0x8803ff06, 0xbf810000, HardwareRegister::hw_id},
      {0x36, 0x8903ff06, 0xbf810000, HardwareRegister::hw_id1},
      {0x41, 0x8d03ff06, 0xbfb00000, HardwareRegister::hw_id1},
  };
  const Target& target = targets[data[0] & 3];
  const auto* first = reinterpret_cast<const std::byte*>(data + 2);
  testing::Bytes code(first, first + (size - 2) / 4 * 4);
  const testing::Bytes marker = testing::words({target.marker, pin_marker});
  const std::size_t at = code.empty() ? 0 : data[1] % (code.size() / 4 + 1) * 4;
  code.insert(code.begin() + static_cast<std::ptrdiff_t>(at), marker.begin(), marker.end());
  const testing::Bytes end = testing::words({target.end});
  code.insert(code.end(), end.begin(), end.end());
  const auto object = testing::build_object({.machine = target.machine, .code = code});

  const auto result = patch(object, "k", target.reg);
  if (!result) return 0;
  const bool good = verify(object, *result, target.reg).has_value();
  const auto back = unpatch(result->bytes, result->site);
  if (!good || !back || *back != object) std::abort();
  return 0;
}
