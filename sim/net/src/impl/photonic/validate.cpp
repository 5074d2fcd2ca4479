#include "impl/photonic/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "impl/photonic/layout.hpp"

namespace ww::sim::net::photonic {
namespace {

constexpr int kMaxStations = 63;  // lanes are counted in 64-bit masks: a link each, and one's own

Status range(std::string_view key, double value, double low, double high, std::string_view why) {
  if (!(value >= low && value <= high)) {
    return fail(ErrorCode::out_of_range,
                fmt::format("{} = {} is outside {} to {}: {}", key, value, low, high, why),
                fmt::format("photonic.{}", key));
  }
  return {};
}

Status one_of(std::string_view key, std::string_view value,
              std::initializer_list<std::string_view> known) {
  if (std::find(known.begin(), known.end(), value) != known.end()) {
    return {};
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("{} '{}' is unknown; one of {}", key, value, fmt::join(known, ", ")),
              fmt::format("photonic.{}", key));
}

Status wavelengths(const PhotonicConfig& keys) {
  WW_TRY(range("comb_wavelengths", keys.comb_wavelengths, 1, 4096,
               "a comb splitter makes wavelengths"));
  WW_TRY(range("waveguide_wavelengths", keys.waveguide_wavelengths, 1, 4096,
               "a waveguide carries wavelengths"));
  if (keys.waveguide_wavelengths > keys.comb_wavelengths) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("waveguide_wavelengths = {} is more than the comb makes "
                            "(comb_wavelengths = {})",
                            keys.waveguide_wavelengths, keys.comb_wavelengths),
                "photonic.waveguide_wavelengths");
  }
  const std::pair<std::string_view, int> links[] = {{"nc_wavelengths", keys.nc_wavelengths},
                                                    {"c_wavelengths", keys.c_wavelengths},
                                                    {"prior_wavelengths", keys.prior_wavelengths}};
  for (const auto& [key, count] : links) {
    WW_TRY(range(key, count, 1, 65536, "a link needs light"));
    if (count > keys.waveguide_wavelengths && count % keys.waveguide_wavelengths != 0) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{} = {} does not fill waveguides of {} wavelengths: more than the "
                              "comb makes needs whole waveguides",
                              key, count, keys.waveguide_wavelengths),
                  fmt::format("photonic.{}", key));
    }
  }
  return {};
}

Status stations(const NetworkConfig& config) {
  const PhotonicConfig& keys = config.photonic;
  const int count = config.width * config.height;
  if (count > kMaxStations) {
    return fail(ErrorCode::out_of_range,
                fmt::format("{} optical stations are more than {}; put more nodes at each "
                            "(concentration)",
                            count, kMaxStations),
                "width");
  }
  std::set<std::uint32_t> seen;
  for (const std::uint32_t station : keys.llc_stations) {
    if (station >= static_cast<std::uint32_t>(count)) {
      return fail(ErrorCode::out_of_range,
                  fmt::format("llc_stations: station {} is unknown, there are {}", station, count),
                  "photonic.llc_stations");
    }
    if (!seen.insert(station).second) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("llc_stations: station {} is named twice", station),
                  "photonic.llc_stations");
    }
  }
  if (static_cast<int>(llc_routers(config).size()) == count) {
    return fail(ErrorCode::invalid_argument,
                "llc_stations or memory_nodes leave no station for SMs", "photonic.llc_stations");
  }
  WW_TRY(range("station_queue", keys.station_queue, 1, 65535, "a message needs a place"));
  return range("cluster_delay", keys.cluster_delay, 1, 64, "a wire takes a core cycle");
}

Status arbitration(const PhotonicConfig& keys) {
  WW_TRY(range("power_units", keys.power_units, 1, 63,
               "without lasers nothing is sent; masks hold 63 tokens"));
  WW_TRY(range("max_grab", keys.max_grab, 1, 63, "a station needs one power token to send"));
  WW_TRY(range("hold_messages", keys.hold_messages, 1, 65535, "one message a grab at least"));
  WW_TRY(range("grab_cycles", keys.grab_cycles, 0, 1024, "optical cycles"));
  WW_TRY(range("reservation_cycles", keys.reservation_cycles, 0, 1024, "optical cycles"));
  WW_TRY(range("backoff_loops", keys.backoff_loops, 1, 1024, "a pause takes time"));
  WW_TRY(one_of("token_order", keys.token_order, {"power", "data"}));
  return range("backoff_doublings", keys.backoff_doublings, 0, 16,
               "0 listens until the token comes");
}

Status laser_control(const PhotonicConfig& keys) {
  WW_TRY(range("overhead_units", keys.overhead_units, 0, 1024, "units of power"));
  WW_TRY(range("epoch", keys.epoch, 16, 100000000, "core cycles, with predictions at its end"));
  WW_TRY(range("halt_before", keys.halt_before, 0, keys.epoch / 4, "core cycles"));
  WW_TRY(range("halt_after", keys.halt_after, 0, keys.epoch / 4, "core cycles"));
  WW_TRY(range("prediction_lead", keys.prediction_lead, keys.halt_before + 1, keys.epoch / 2,
               "core cycles before the epoch's end, the halt among them"));
  WW_TRY(range("unit_cap", keys.unit_cap, 1, 7, "v and w are numbers of 3 bits"));
  WW_TRY(
      range("floor_units", keys.floor_units, 0, keys.power_units, "no more lasers than there are"));
  WW_TRY(range("alpha", keys.alpha, 0, 1e6, "a ratio of messages"));
  WW_TRY(range("beta", keys.beta, 0, 1e6, "a ratio of messages"));
  WW_TRY(range("rt", keys.rt, 0, 1e9, "messages"));
  WW_TRY(range("wt", keys.wt, 1, 1e9, "core cycles; 0 would light everything"));
  WW_TRY(range("table_start", keys.table_start, 0, 7, "an entry of the table has 3 bits"));
  WW_TRY(one_of("table_counts", keys.table_counts, {"lit", "held"}));
  WW_TRY(one_of("wait_counts", keys.wait_counts, {"messages", "station"}));
  return one_of("predictor", keys.predictor, {"hybrid", "flex", "restr", "perfect"});
}

}  // namespace

Status validate(const NetworkConfig& config) {
  const PhotonicConfig& keys = config.photonic;
  WW_TRY(stations(config));
  WW_TRY(range("core_mhz", keys.core_mhz, 1, 100000, "a clock"));
  WW_TRY(range("optical_mhz", keys.optical_mhz, 1, 1000000, "a clock"));
  WW_TRY(wavelengths(keys));
  WW_TRY(range("die_mm2", keys.die_mm2, 1e-3, 1e6, "square millimetres"));
  WW_TRY(range("waveguide_ps_per_mm", keys.waveguide_ps_per_mm, 3.3357, 1000,
               "light in a vacuum takes 3.34"));
  WW_TRY(range("bends_per_pitch", keys.bends_per_pitch, 0, 1000, "quarter turns"));
  WW_TRY(arbitration(keys));
  WW_TRY(laser_control(keys));
  const double loop_ps =
      std::sqrt(keys.die_mm2) * (config.width + 1) * (config.height + 1) * keys.waveguide_ps_per_mm;
  if (loop_ps * 1e-6 * keys.optical_mhz > 1e6) {
    return fail(ErrorCode::out_of_range, "light takes over a million optical cycles to go round",
                "photonic.die_mm2");
  }
  if (config.planes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} has no planes: its classes share the light", config.network),
                "planes");
  }
  return {};
}

}  // namespace ww::sim::net::photonic
