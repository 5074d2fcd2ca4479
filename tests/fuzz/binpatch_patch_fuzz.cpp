// Any words around the marker: the patcher refuses, or what it does can be verified and undone.
#include <cstdint>
#include <cstdlib>

#include "object_builder.hpp"
#include "ww/binpatch/patch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ww::binpatch;
  if (size < 2) return 0;
  const bool gfx9 = (data[0] & 1) != 0;
  const auto* first = reinterpret_cast<const std::byte*>(data + 2);
  testing::Bytes code(first, first + (size - 2) / 4 * 4);
  const testing::Bytes marker = testing::words({gfx9 ? 0x8803ff06U : 0x8903ff06U, pin_marker});
  const std::size_t at = code.empty() ? 0 : data[1] % (code.size() / 4 + 1) * 4;
  code.insert(code.begin() + static_cast<std::ptrdiff_t>(at), marker.begin(), marker.end());
  const testing::Bytes end = testing::words({0xbf810000});
  code.insert(code.end(), end.begin(), end.end());
  const auto object = testing::build_object({.machine = gfx9 ? 0x3fU : 0x23U, .code = code});

  const auto result = patch(object, "k", HardwareRegister::hw_id);
  if (!result) return 0;
  const bool good = verify(object, *result, HardwareRegister::hw_id).has_value();
  const auto back = unpatch(result->bytes, result->site);
  if (!good || !back || *back != object) std::abort();
  return 0;
}
