// Reads a campaign file's facts: sensor, chip, voltage/frequency states, floorplan.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/dvfs_state.hpp"
#include "ww/core/result.hpp"
#include "ww/model/floorplan.hpp"
#include "ww/model/measured_paths.hpp"

namespace ww::model {

struct SensorFact {
  double period_s{};
  double delay_s{};  // from a change of load to the first reading that shows it
  double rise_s{};   // 10 to 90% of a step
  double power_resolution_w{};
  double temperature_resolution_c{};
  // Declared 95% half-widths, relative.
  double gain_tolerance_95{};
  double regulator_slope_tolerance_95{};
};

struct Facts {
  std::string device;
  std::string target;  // its architecture ("gfx90a"); empty where the campaign does not say
  bool is_virtual{};
  std::string version, seed, floorplan_text;
  SensorFact sensor;
  double bytes_per_clock_per_channel{};  // 0 where the chip does not say
  std::vector<DvfsState> dvfs;
  int reference_state{};
  Floorplan floorplan;                 // without engines where there is none
  std::optional<MeasuredPaths> paths;  // of campaigns that found their homes themselves
  // Largest share (95%) of the streams' loads that a cache before the L2 may have answered.
  double max_hits{};

  // Whether distances are flight times [ns] instead of millimetres.
  [[nodiscard]] bool by_flight() const { return paths && !paths->by_floorplan; }
  [[nodiscard]] int engines() const;
  [[nodiscard]] int quadrants() const;
  [[nodiscard]] int channels_of(int quadrant) const;
  // Distance on the floorplan [mm]; or flight there and back [ns], beyond that of the nearest pair.
  [[nodiscard]] double distance(int engine, int quadrant) const;
};

// Why an energy per millimetre is not known of a campaign that goes by flight.
[[nodiscard]] std::string no_millimetres(const Facts& facts);

// Reads the facts of CampaignStore::facts(). Errors: bad_data naming the missing key; parse_error
// for text that is not what the key says; out_of_range for absurd values.
[[nodiscard]] Result<Facts> read_facts(const std::map<std::string, std::string>& facts);

}  // namespace ww::model
