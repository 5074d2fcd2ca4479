// The energy of a bit on a wire, from a calibration (model.json) or from the literature, and the
// distances that bits travel. The estimate multiplies both with traffic.
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/figure.hpp"
#include "ww/core/result.hpp"
#include "ww/model/assumed_data.hpp"
#include "ww/model/fit.hpp"
#include "ww/model/flagged.hpp"
#include "ww/model/floorplan.hpp"
#include "ww/model/interval.hpp"

namespace ww::model {

// Segments of the way between registers and memory, as in IISWC'16, section VI.
enum class WireSegment { registers_l1, l1_l2, l2_memory };
inline constexpr std::array kWireSegments = {WireSegment::registers_l1, WireSegment::l1_l2,
                                             WireSegment::l2_memory};
[[nodiscard]] std::string_view to_string(WireSegment segment);  // "registers_l1", ...

// Toggles per bit of independent random bits.
inline constexpr double kRandomToggleRate = 0.5;

// Summed events on a bundle of wires, as toggle monitors count them. Only the virtual GPU has such
// monitors.
struct WireActivity {
  double slot_bits{};  // wires times beats: capacity of the bundle
  double toggles{};    // wires that changed
  double adjacent{};   // neighbouring pairs that both changed
  double opposite{};   // adjacent pairs whose wires changed in opposite directions
  // 2 opposite - adjacent: the cost that neighbours add to toggles, relative to a toggle beside a
  // quiet neighbour (Sotiriadis and Chandrakasan, CICC 2000).
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
// requests), per toggle and per unit of coupling, with the covariance of the three.
struct WireEvents {
  std::array<double, 3> fj_per_mm{};
  std::array<std::array<double, 3>, 3> covariance{};
  int variants{};  // payloads and rates that they were solved from
};

struct WireModel {
  std::string source;  // "calibration of virtual:w9100", or the literature's names
  std::string device;
  std::string target;  // its architecture ("gfx90a"); empty where the file does not say
  bool is_virtual{};
  bool literature{};
  // Why the calibration is flagged, where it is: every figure made with it then has the status
  // misfit. Empty otherwise.
  std::string misfit;
  double reference_voltage_v{};
  double reference_clock_hz{};
  // The calibration goes by measured flight: all energies below are per nanosecond there and back
  // instead of per millimetre, and `distance_mm` is in nanoseconds.
  bool per_ns{};
  [[nodiscard]] const char* unit() const { return per_ns ? "ns" : "mm"; }
  // Energy per random bit at the reference voltage, with the absolute interval [fJ/bit/mm].
  Interval random;
  double sensed_half_width{};  // the campaign's own part of the interval of `random`
  // How the energy of the whole way may differ from `random` times its length, which is known for
  // the extra millimetres between near and far alone. Down to what the wires surely cost: switches
  // may all stand on the extra millimetres. Up by what distance leaves unexplained of single pairs.
  Interval whole_way{1, 1, 1};
  // Energy per payload bit, mm and unit of toggle rate. If absent, energy is proportional to the
  // rate.
  std::optional<Interval> toggle_slope;
  // Energy of a unit of coupling over that of a toggle, as the calibration measured it or assumed.
  Interval coupling_share{kCouplingShare, kCouplingShare - kCouplingShareError,
                          kCouplingShare + kCouplingShareError};
  std::optional<WireEvents> events;
  // Mean routed millimetres of each segment; absent if not known.
  std::array<std::optional<Interval>, 3> distance_mm{};
  std::string distance_source;
  // Energy of a random bit that reaches a register [fJ], if `wirewatt segments` measured it. It
  // includes the way from the L1 and the register write, and has no distance. If absent, the energy
  // is transferred from L1-L2.
  std::optional<Interval> registers_l1_fj_per_bit;
  // Why a segment's energy cannot be computed at all; empty if it can.
  std::array<std::string, 3> refused{};
  // Exponents of interconnect power ~ V^a f^b: those that a calibration identified, else 2 and 1.
  // Where it found one along the device's curve of voltage and clock alone, that one is within the
  // interval of a.
  Interval voltage_exponent{2, 2, 2};
  Interval frequency_exponent{1, 1, 1};
  std::string exponent_note;

  // Energy at a core voltage over that at the reference.
  [[nodiscard]] Interval energy_factor(double voltage_v) const;
  // Power at a core voltage and clock over that at the reference.
  [[nodiscard]] Interval power_factor(double voltage_v, double clock_hz) const;

  // Energy per payload bit and mm of data that no monitor saw, at the reference voltage. It follows
  // the toggle slope to the equivalent rate. The interval contains what is not known of the data.
  [[nodiscard]] Interval of_data(const AssumedData& data) const;
  // Energy per mm of the counted events [fJ/mm]; needs `events`.
  [[nodiscard]] Interval of_activity(const WireActivity& activity) const;
};

// Reads the text of a model.json. Errors: parse_error (not a model), bad_data (flagged as a misfit
// and `flagged` is refuse; energy or distances missing, not positive, or not identified; the reason
// is passed on). A model without millimetres is read per nanosecond (`per_ns`). Its L1-L2 distance
// is then known within bounds only, and other segments have none.
[[nodiscard]] Result<WireModel> parse_wire_model(const nlohmann::json& model,
                                                 const std::string& origin,
                                                 FlaggedModel flagged = FlaggedModel::refuse);
// Error bad_data where the model is per nanosecond: `purpose` ("project", say) needs millimetres.
Status require_millimetres(const WireModel& model, std::string_view purpose);
// Reads a file, or model.json in a folder.
[[nodiscard]] Result<WireModel> load_wire_model(const std::filesystem::path& path,
                                                FlaggedModel flagged = FlaggedModel::refuse);

// Solves for the energies of events by weighted least squares over the variants. The coupling has a
// prior of 0.5 +- 0.15 of a toggle's energy, the range of dense wires, for campaigns whose payloads
// cannot determine it. Error bad_data: fewer than three variants with wire activity.
[[nodiscard]] Result<WireEvents> solve_wire_events(std::span<const VariantActivity> variants);

// Replaces the model's distances by those of a floorplan. Errors: bad_data (a distance of 0),
// invalid_argument (the model's energy is per nanosecond, which no floorplan has).
Status use_floorplan(WireModel& model, const Floorplan& floorplan);

}  // namespace ww::model
