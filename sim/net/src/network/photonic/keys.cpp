#include "network/photonic/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "network/photonic/layout.hpp"
#include "ww/sim/net/photonic_config.hpp"

namespace ww::sim::net::photonic {
namespace {

constexpr int kMaxStations = 63;  // lanes are counted in 64-bit masks: a link each, and one's own
constexpr std::string_view kLight = "Light (prior-opt, gpuopt, ps-gpuopt)";
constexpr std::string_view kLaser = "Laser control (ps-gpuopt)";
constexpr std::string_view kAssumed = "assumed";
constexpr std::string_view kLinkNeedsLight = "a link needs light";

using Light = PhotonicConfig;

constexpr Key<Light> kPhotonicKeys[] = {
    {"llc_stations", &Light::llc_stations, anything(), "", kLight,
     "Stations of the LLC banks, as 1,3,4 (default: those of the memory nodes, else every other "
     "one along the serpentine)",
     "section 5.2"},
    {"station_queue", &Light::station_queue, between(1, 65535, "a message needs a place"),
     "messages", kLight, "Queue of a station", "table 2"},
    {"cluster_delay", &Light::cluster_delay, between(1, 64, "a wire takes a core cycle"),
     "core cycles", kLight, "Time from a node to its station, and back", kAssumed},
    {"core_mhz", &Light::core_mhz, between(1, 100000, "a clock"), "MHz", kLight,
     "Clock of the network's cycles", "table 2"},
    {"optical_mhz", &Light::optical_mhz, between(1, 1000000, "a clock"), "MHz", kLight,
     "Clock of the light", "section 5.3.1"},
    {"double_data_rate", &Light::double_data_rate, anything(), "", kLight,
     "Send bits on both edges of the clock: 0 or 1", "section 5.3.1"},
    {"nc_wavelengths", &Light::nc_wavelengths, between(1, 65536, kLinkNeedsLight), "", kLight,
     "Wavelengths of an MWSR link (NC_network)", "section 5.3.1"},
    {"c_wavelengths", &Light::c_wavelengths, between(1, 65536, kLinkNeedsLight), "", kLight,
     "Wavelengths of an SWMR link (C_network)", "section 5.3.1"},
    {"prior_wavelengths", &Light::prior_wavelengths, between(1, 65536, kLinkNeedsLight), "", kLight,
     "Wavelengths of each link of prior-opt", kAssumed},
    {"waveguide_wavelengths", &Light::waveguide_wavelengths,
     between(1, 4096, "a waveguide carries wavelengths"), "", kLight,
     "Wavelengths that a waveguide carries", "section 3.1"},
    {"comb_wavelengths", &Light::comb_wavelengths,
     between(1, 4096, "a comb splitter makes wavelengths"), "", kLight,
     "Wavelengths that the comb splitter makes", "section 5.3.3"},
    {"reservation_cycles", &Light::reservation_cycles, between(0, 1024, "optical cycles"),
     "optical cycles", kLight, "Time in which an SWMR link announces its readers", kAssumed},
    {"die_mm2", &Light::die_mm2, between(1e-3, 1e6, "square millimetres"), "mm2", kLight,
     "Area of the square die under the serpentine", "table 2"},
    {"waveguide_ps_per_mm", &Light::waveguide_ps_per_mm,
     between(3.3357, 1000, "light in a vacuum takes 3.34"), "ps/mm", kLight, "Delay of a waveguide",
     "table 3"},
    {"bends_per_pitch", &Light::bends_per_pitch, between(0, 1000, "quarter turns"), "", kLight,
     "Quarter turns of the waveguide from station to station", kAssumed},
    {"power_units", &Light::power_units,
     between(1, 63, "without lasers nothing is sent; masks hold 63 tokens"), "", kLight,
     "Power waveguides, which are as many as power tokens and as lasers for data", "section 5.3.2"},
    {"max_grab", &Light::max_grab, between(1, 63, "a station needs one power token to send"), "",
     kLight, "Power tokens that a station may hold", "section 5.3.2"},
    {"hold_messages", &Light::hold_messages, between(1, 65535, "one message a grab at least"),
     "messages", kLight, "The most that are sent before a data token is given back",
     "section 5.3.2"},
    {"grab_cycles", &Light::grab_cycles, between(0, 1024, "optical cycles"), "optical cycles",
     kLight, "Time from a token to the first bit", kAssumed},
    {"backoff_loops", &Light::backoff_loops, between(1, 1024, "a pause takes time"), "", kLight,
     "First pause after a failed attempt, in turns of the token waveguide", kAssumed},
    {"backoff_doublings", &Light::backoff_doublings,
     between(0, 16, "0 listens until the token comes"), "", kLight,
     "Failures before a station listens until it has its token", kAssumed},
    {"token_order", &Light::token_order, one_of("power, data"), "", kLight,
     "Token that a station takes first: power (fig. 11) or data", "fig. 11"},
    {"overhead_units", &Light::overhead_units, between(0, 1024, "units of power"), "", kLaser,
     "Units of power for tokens and predictions, which are always lit", "section 5.3.4"},
    {"laser_epoch", &Light::epoch,
     between(16, 100000000, "core cycles, with predictions at its end"), "core cycles", kLaser,
     "Length of an epoch", "section 6"},
    {"prediction_lead", &Light::prediction_lead, between(1, 50000000, "core cycles"), "core cycles",
     kLaser, "Time before an epoch's end in which predictions are made", ""},
    {"halt_before", &Light::halt_before, between(0, 25000000, "core cycles"), "core cycles", kLaser,
     "Idle cycles at the end of an epoch", "table 1"},
    {"halt_after", &Light::halt_after, between(0, 25000000, "core cycles"), "core cycles", kLaser,
     "Idle cycles at the start of an epoch", "table 1"},
    {"unit_cap", &Light::unit_cap, between(1, 7, "v and w are numbers of 3 bits"), "", kLaser,
     "Largest value of v and w", "section 6"},
    {"floor_units", &Light::floor_units, between(0, 63, "no more lasers than there are"), "",
     kLaser, "Data units that stay lit whatever is predicted", ""},
    {"table_start", &Light::table_start, between(0, 7, "an entry of the table has 3 bits"), "",
     kLaser, "First value of the entries of the power table", kAssumed},
    {"table_counts", &Light::table_counts, one_of("lit, held"), "", kLaser,
     "P of equation (3): the units that were lit, or held", "section 6.2.3"},
    {"wait_counts", &Light::wait_counts, one_of("messages, station"), "", kLaser,
     "W: the waits of messages, summed, or of the station", "section 6.2.1"},
    {"predictor", &Light::predictor, one_of("hybrid, flex, restr, perfect"), "", kLaser,
     "Predictor: hybrid, flex, restr, or perfect (a bound)", "section 6.2"},
    {"predictor_alpha", &Light::alpha, between(0, 1e6, "a ratio of messages"), "", kLaser,
     "Smoothing factor of both predictors", "section 8.2"},
    {"predictor_beta", &Light::beta, between(0, 1e6, "a ratio of messages"), "", kLaser,
     "Share of pending messages that Flex_Pred asks for", "section 8.2"},
    {"rt", &Light::rt, between(0, 1e9, "messages"), "messages", kLaser,
     "Threshold of the messages of a station", "section 8.2"},
    {"wt", &Light::wt, between(1, 1e9, "core cycles; 0 would light everything"), "core cycles",
     kLaser, "Threshold of the waiting time of a station", "section 8.2"},
    {"flex_literal", &Light::flex_literal, anything(), "", kLaser,
     "Run Flex_Pred as printed, which is true of idle stations, too", ""},
};

Status wavelengths(const PhotonicConfig& keys) {
  if (keys.waveguide_wavelengths > keys.comb_wavelengths) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("waveguide_wavelengths = {} is more than the comb makes "
                            "(comb_wavelengths = {})",
                            keys.waveguide_wavelengths, keys.comb_wavelengths),
                "waveguide_wavelengths");
  }
  const std::pair<std::string_view, int> links[] = {{"nc_wavelengths", keys.nc_wavelengths},
                                                    {"c_wavelengths", keys.c_wavelengths},
                                                    {"prior_wavelengths", keys.prior_wavelengths}};
  for (const auto& [key, count] : links) {
    if (count > keys.waveguide_wavelengths && count % keys.waveguide_wavelengths != 0) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("{} = {} does not fill waveguides of {} wavelengths: more than the "
                              "comb makes needs whole waveguides",
                              key, count, keys.waveguide_wavelengths),
                  std::string(key));
    }
  }
  return {};
}

Status stations(const NetworkConfig& config) {
  const PhotonicConfig& keys = config.own<PhotonicConfig>();
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
                  "llc_stations");
    }
    if (!seen.insert(station).second) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("llc_stations: station {} is named twice", station), "llc_stations");
    }
  }
  if (static_cast<int>(llc_routers(config).size()) == count) {
    return fail(ErrorCode::invalid_argument,
                "llc_stations or memory_nodes leave no station for SMs", "llc_stations");
  }
  return {};
}

Status laser_control(const PhotonicConfig& keys) {
  const int half = keys.epoch / 2;
  const int quarter = keys.epoch / 4;
  WW_TRY(check_range("halt_before", keys.halt_before, 0, quarter, "core cycles"));
  WW_TRY(check_range("halt_after", keys.halt_after, 0, quarter, "core cycles"));
  WW_TRY(check_range("prediction_lead", keys.prediction_lead, keys.halt_before + 1, half,
                     "core cycles before the epoch's end, the halt among them"));
  return check_range("floor_units", keys.floor_units, 0, keys.power_units,
                     "no more lasers than there are");
}

}  // namespace

void photonic_keys(NetworkConfig& config, BoundKeys& keys) {
  bind_rows<PhotonicConfig>(config.own<PhotonicConfig>(), kPhotonicKeys, keys);
}

Status validate(const NetworkConfig& config) {
  const PhotonicConfig& keys = config.own<PhotonicConfig>();
  WW_TRY(stations(config));
  WW_TRY(wavelengths(keys));
  WW_TRY(laser_control(keys));
  const double loop_ps =
      std::sqrt(keys.die_mm2) * (config.width + 1) * (config.height + 1) * keys.waveguide_ps_per_mm;
  if (loop_ps * 1e-6 * keys.optical_mhz > 1e6) {
    return fail(ErrorCode::out_of_range,
                "light would take more than a million optical cycles to travel round once; the "
                "network is too long for its clock",
                "die_mm2");
  }
  if (config.planes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} has no planes: its classes share the light", config.network),
                "planes");
  }
  return {};
}

}  // namespace ww::sim::net::photonic
