// Damaged databases of rocprofv3: the input changes bytes of a whole one, cuts it, or stands alone.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "testing/rocpd_database.hpp"
#include "traffic/rocpd_file.hpp"

namespace {

std::vector<std::byte> whole_database() {
  ww::measure::testing::RocpdDatabase database;
  database.add_process("_a", 7, "gfx942",
                       {{.id = 1, .counters = {{"SQ_WAVES", {1, 2, 3}}, {"TCC_HIT", {4}}}},
                        {.id = 2, .counters = {{"SQ_WAVES", {5}}}}});
  database.add_process("_b", 8, "gfx942", {{.id = 1, .counters = {{"SQ_WAVES", {6}}}}});
  return database.bytes();
}

void check(const ww::Result<ww::measure::CounterFile>& file) {
  if (!file) {
    if (file.error().message.empty()) std::abort();
    return;
  }
  for (const auto& dispatch : file->dispatches) {
    if (!dispatch.duration_ns == dispatch.duration_reason.empty()) std::abort();
    for (const auto& [name, value] : dispatch.counters) {
      if (!(value >= 0) || dispatch.missing.contains(name)) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::byte> whole = whole_database();
  check(ww::measure::parse_rocpd(std::as_bytes(std::span(data, size)), "fuzz"));
  if (size < 2) return 0;
  // The first two bytes are the length that is left; each three after them a place and a value.
  auto damaged = whole;
  for (std::size_t i = 2; i + 2 < size; i += 3) {
    const std::size_t at = (data[i] | std::size_t{data[i + 1]} << 8) % damaged.size();
    damaged[at] = static_cast<std::byte>(data[i + 2]);
  }
  check(ww::measure::parse_rocpd(damaged, "fuzz"));
  damaged.resize((data[0] | std::size_t{data[1]} << 8) % damaged.size());
  check(ww::measure::parse_rocpd(damaged, "fuzz"));
  return 0;
}
