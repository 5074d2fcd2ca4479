// Whatever a worker of another build, or a broken stream, sends: an error, never a crash.
#include <cstddef>
#include <cstdint>

#include "common/compile/protocol.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ww::sim::driver;
  const std::string_view frame(reinterpret_cast<const char*>(data), size);
  if (const auto request = decode_request(frame)) {
    // A frame that decodes must encode to the same bytes.
    if (encode(*request) != frame) __builtin_trap();
  }
  if (const auto answer = decode_answer(frame)) {
    if (encode(*answer) != frame) __builtin_trap();
  }
  return 0;
}
