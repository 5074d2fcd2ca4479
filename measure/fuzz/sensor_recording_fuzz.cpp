// Any bytes as polls, as switch times and as a meter's records; what parses is analysed.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "ww/measure/csv.hpp"
#include "ww/measure/sensor_response.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ww::measure;
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)parse_csv(text, "fuzz", {.first_line = 1, .skip_prefix = "==", .trim = true});
  for (const char* header :
       {"", "timestamp, power.draw [W]\n", "timestamp,power.draw [mW],index\n"}) {
    const auto columns = parse_polls(header + text, "fuzz");
    if (!columns) {
      if (columns.error().message.empty()) std::abort();
      continue;
    }
    for (const PollColumn& column : *columns) {
      const auto period = find_update_period(column.polls);
      if (period.resolved != period.reason.empty()) std::abort();
      if (period.resolved && !(period.period_s > 0)) std::abort();
      (void)refreshes(column.polls, period);
    }
  }
  (void)parse_load_switches("timestamp\n" + text, "fuzz");
  const auto meter = decode_pmd(std::as_bytes(std::span(data, size - size % 18)), "fuzz");
  if (meter) {
    for (const double power : meter->power_w) {
      if (!std::isfinite(power) || power < 0) std::abort();
    }
  }
  return 0;
}
