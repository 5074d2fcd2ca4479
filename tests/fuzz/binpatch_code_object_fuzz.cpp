// Any bytes, and changes to a valid code object: the parser must answer, never crash.
#include <cstdint>

#include "metadata.hpp"
#include "object_builder.hpp"
#include "ww/binpatch/code_object.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace {

using ww::binpatch::CodeObject;
using ww::binpatch::testing::Bytes;

void exercise(const Bytes& bytes) {
  const auto object = CodeObject::parse(bytes);
  if (!object) return;
  const auto generation = ww::binpatch::isa::generation_of(object->target());
  for (const auto& kernel : object->kernels()) {
    auto code = object->code(kernel);
    while (generation && !code.empty()) {
      const auto decoded = ww::binpatch::isa::decode(*generation, code);
      if (!decoded) break;
      code = code.subspan(decoded->size_bytes);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  (void)ww::binpatch::parse_yaml_metadata({reinterpret_cast<const char*>(data), size});
  exercise(Bytes(first, first + size));

  // Reads the input as a list of changes: two bytes of place, one of value.
  static const Bytes valid = ww::binpatch::testing::build_object(
      {.code = ww::binpatch::testing::words({0xbf800000, 0xbf810000}),
       .printf_formats = {"1:1:4:%d"}});
  Bytes changed = valid;
  for (std::size_t i = 0; i + 2 < size && i < 24; i += 3) {
    const std::size_t at = data[i] + std::size_t{256} * data[i + 1];
    changed[at % changed.size()] = static_cast<std::byte>(data[i + 2]);
  }
  if (size > 0 && data[0] % 8 == 0) changed.resize(changed.size() * data[0] / 256);
  exercise(changed);
  return 0;
}
