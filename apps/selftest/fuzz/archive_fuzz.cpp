// Any text as the inside of an archive, and any bytes as the file.
#include <zstd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "ww/selftest/selftest.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ww::selftest;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto archive = parse_archive(text, "fuzz"); !archive && archive.error().message.empty())
    std::abort();
  // The input in place of the value of a field, or behind the fields that are always there.
  for (
      const std::string& inside :
      {text, R"({"format":"wirewatt selftest","format_version":1,)" + text + "}",
       R"({"format":"wirewatt selftest","format_version":1,"version":"","system":"","device":"","api":"","name":"","driver":"","target":"","pci":"","virtual":false,"elapsed_s":1,"sensor":"","no_topology":"","no_waves":"","libraries":[],"fields":[],"waves":[],"step_test":{"absent":"","bytes":0,"rows":2,"poll_ns":[1,1],"power_uw":[5,5],"energy_ticks":[1,null],"temperature_mc":[1,1],"voltage_uv":[1,1],"clock_khz":[1,1],"time_ns":)" +
           text + R"(},"stream":{"absent":"","bytes":0,"rows":0}})"}) {
    std::string bytes(ZSTD_compressBound(inside.size()), '\0');
    bytes.resize(ZSTD_compress(bytes.data(), bytes.size(), inside.data(), inside.size(), 1));
    const auto archive = parse_archive(bytes, "fuzz");
    if (!archive) {
      if (archive.error().message.empty()) std::abort();
      continue;
    }
    // An archive that parses can be judged, and is equal when written again.
    if (judge(*archive).empty()) std::abort();
    const auto again = parse_archive(archive_bytes(*archive), "fuzz");
    if (!again || again->step_test.readings.size() != archive->step_test.readings.size()) {
      std::abort();
    }
  }
  return 0;
}
