// What a bit on a wire costs, from a calibration (model.json) or from the literature, and what is
// known of the distances that it travels. The estimate multiplies it with traffic.
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/core/result_row.hpp"
#include "ww/model/fit.hpp"
#include "ww/model/floorplan.hpp"
#include "ww/model/interval.hpp"

namespace ww::model {

// Ways between registers and memory, as IISWC'16, section VI, cuts them.
enum class WireSegment { registers_l1, l1_l2, l2_memory };
inline constexpr std::array wire_segments = {WireSegment::registers_l1, WireSegment::l1_l2,
                                             WireSegment::l2_memory};
[[nodiscard]] std::string_view to_string(WireSegment segment);  // "registers_l1", ...

// Toggles per bit of independent random bits.
inline constexpr double random_toggle_rate = 0.5;

// What happened on a bundle of wires, summed: as toggle monitors count it. Only the virtual GPU has
// them.
struct WireActivity {
  double slot_bits{};  // wires times beats: what the bundle could have carried
  double toggles{};    // wires that changed
  double adjacent{};   // neighbouring pairs that both changed
  double opposite{};   // those of them that went opposite ways
  // 2 opposite - adjacent: what neighbours add to the cost of a toggle beside a quiet neighbour
  // (Sotiriadis and Chandrakasan, CICC 2000).
  [[nodiscard]] double coupling() const { return 2 * opposite - adjacent; }
  WireActivity& operator+=(const WireActivity& other) {
    slot_bits += other.slot_bits;
    toggles += other.toggles;
    adjacent += other.adjacent;
    opposite += other.opposite;
    return *this;
  }
};

// Energy of a wire's events at the reference voltage [fJ/mm]: per slot bit (clock, strobes,
// requests), per toggle and per unit of coupling; with the covariance of the three.
struct WireEvents {
  std::array<double, 3> fj_per_mm{};
  std::array<std::array<double, 3>, 3> covariance{};
  int variants{};  // payloads and rates that they were solved from
};

struct WireModel {
  std::string source;  // "calibration of virtual:w9100", or the literature's names
  std::string device;
  bool is_virtual{};
  bool literature{};
  double reference_voltage_v{};
  double reference_clock_hz{};
  // Per random bit, at the reference voltage, with the absolute interval [fJ/bit/mm].
  Interval random;
  double sensed_half_width{};  // of `random`, the campaign's own part
  // Per payload bit and mm and unit of toggle rate; absent: proportional to the rate.
  std::optional<Interval> toggle_slope;
  std::optional<WireEvents> events;
  // Mean routed millimetres; a segment without one is not known.
  std::array<std::optional<Interval>, 3> distance_mm{};
  std::string distance_source;
  // What a bit that reaches a register costs [fJ], random data, where `wirewatt segments` measured
  // it: the way from the L1 and the write at its end, without a distance. Else transferred.
  std::optional<Interval> registers_l1_fj_per_bit;
  // Why a segment's energy cannot be told at all; empty where it can.
  std::array<std::string, 3> refused{};
  // Interconnect power ~ V^a f^b where a calibration identified the exponents; else 2 and 1.
  double voltage_exponent{2};
  double frequency_exponent{1};
  std::string exponent_note;

  // Energy per payload bit and mm at a toggle rate of the payload, 0 to 1, at the reference
  // voltage.
  [[nodiscard]] Interval at_toggle_rate(double rate) const;
  // Energy per mm of what the wires did [fJ/mm]; needs `events`.
  [[nodiscard]] Interval of_activity(const WireActivity& activity) const;
};

// From the text of a model.json. Errors: parse_error (not a model), bad_data (energy or distances
// missing, not positive, not identified: the reason is passed on).
[[nodiscard]] Result<WireModel> parse_wire_model(const nlohmann::json& model,
                                                 const std::string& origin);
// By file, or by the folder that holds it as model.json.
[[nodiscard]] Result<WireModel> load_wire_model(const std::filesystem::path& path);

// Solves the events from the variants (weighted least squares). The coupling's part has a prior of
// 0.5 +- 0.15 of a toggle's energy, the range of dense wires, for campaigns whose payloads cannot
// tell. Error bad_data: fewer than three variants with wire activity.
[[nodiscard]] Result<WireEvents> solve_wire_events(std::span<const VariantActivity> variants);

// Distances from a floorplan: replaces those of the model. Error bad_data: a distance of 0.
Status use_floorplan(WireModel& model, const Floorplan& floorplan);

}  // namespace ww::model
