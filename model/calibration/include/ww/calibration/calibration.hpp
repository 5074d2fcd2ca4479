// A calibration: what a bit costs on the wires of one device, as a campaign measured it, and all
// that can be done with that.
//
// Devices differ in what a campaign can identify, so there are kinds of calibration (kinds.hpp).
// One die with a floorplan has energy per bit and millimetre, or per nanosecond of flight where no
// floorplan is known (wires). An L2 of two sides has energy per bit and crossing (crossings). A
// package of dies has energy per bit and way between its dies (package). Each kind is a folder, and
// everything else sees this interface alone:
//
//   WW_ASSIGN(calibration, calibration::load("first-run", Admission::refuse_flagged));
//   WW_ASSIGN(answer, calibration->project(request));
//   fmt::print("{}", answer_text(answer));
//
// No member runs a program or reads a file: traffic, requests and the truth come in as data. The
// truth of a virtual chip is sealed, so only `wirewatt score` opens it, and hands it over as a list
// of figures (RevealedFigure); nothing here links the seal.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/calibration/answer.hpp"
#include "ww/calibration/traffic.hpp"
#include "ww/core/figure.hpp"
#include "ww/core/result.hpp"
#include "ww/model/wire_model.hpp"

namespace ww::calibration {

struct Provenance {
  std::string device;  // "virtual:w9100"
  std::string target;  // its architecture ("gfx90a"); empty where the file does not say
  std::string source;  // "calibration of virtual:w9100"
  bool is_virtual{};
  // Why the fit is flagged: every figure made with it then has the status misfit. Empty otherwise.
  std::string misfit;
  // The architecture of counters that do not name theirs; empty: they must name it.
  std::string assumed_architecture;
};

// Uses of a calibration. An option of a command that a kind has no use for is refused.
enum class Use { estimate, project };
struct Foreign {
  std::span<const std::string_view> options;  // as the command spells them
  std::string_view reason;                    // "has energy per bit and crossing, no millimetre"
};

struct ProjectRequest {
  double node_nm{7};
  std::optional<double> card_node_nm;  // of the card that was calibrated; absent: not known
  // Wires: another ratio of wire to logic, shares at 28 nm [%], core voltage and clock, layouts.
  std::optional<double> wire_to_logic;
  std::vector<double> shares_percent;
  std::optional<double> voltage_v;
  std::optional<double> clock_hz;
  bool optimise{};
  std::uint64_t seed{1};
  // Crossings and packages: shares that are moved [%], the length of a crossing and its source.
  std::vector<double> moved_percent;
  std::optional<double> crossing_mm;
  std::string crossing_mm_source;
  // An application, and what is assumed of its data.
  std::optional<Traffic> traffic;
  EstimateRequest estimate;
};

// A figure of the sealed truth. `sensed` is what the best possible fit could see of it.
struct RevealedFigure {
  std::string name;  // as in figures()
  double truth{}, sensed{};
  std::string unit;
};
struct Revealed {
  std::vector<RevealedFigure> figures;
  std::string chip_class;
  double sensor_factor{1};  // of the sensed truth over the truth, what the sensor alone makes
  std::optional<double> control_toggles_per_bit;
};

// Energy of a bit on the links of a network, random and without a toggle. One of the three is
// there.
struct LinkConstants {
  struct Bit {
    Interval random;
    std::optional<Interval> zero;  // absent: not known
  };
  std::optional<Bit> fj_per_mm;        // of a wire
  std::optional<Bit> pj_per_crossing;  // between the sides of an L2
  struct Hops {
    Interval row, column;
  };
  std::optional<Hops> pj_per_hop;  // to the next die of a package
};

// Part of a report's page that shows what the page does not draw itself.
struct Section {
  std::string heading;
  bool package_map{};  // the figures on a block diagram of a package's dies, before the tables
  std::vector<Table> tables;
};
struct Page {
  std::string title;
  std::string answer;              // the figure that the reader came for, in large letters
  std::vector<std::string> notes;  // below it
  std::vector<Section> sections;
};

class Calibration {
 public:
  virtual ~Calibration() = default;

  [[nodiscard]] virtual std::string_view kind() const = 0;  // "wires", as in kinds()
  // "a calibration of wires", in sentences.
  [[nodiscard]] virtual std::string_view title() const = 0;
  [[nodiscard]] virtual const Provenance& provenance() const = 0;
  // All that the campaign identified or failed to identify, the answer first.
  [[nodiscard]] virtual std::vector<Figure> figures() const = 0;
  // Further numbers that runs are compared by, which are no energies of a bit.
  [[nodiscard]] virtual std::vector<Figure> circumstances() const { return {}; }
  [[nodiscard]] virtual Foreign foreign(Use use) const = 0;
  // Whether estimates take energies from the literature, which has technology nodes.
  [[nodiscard]] virtual bool uses_literature() const { return false; }

  // Joules and watts of an application's traffic. Errors: bad_data (no kernel), invalid_argument
  // (traffic of another part, unless `anyway`), out_of_range (a toggle rate beyond 0 to 1).
  [[nodiscard]] virtual Result<Answer> estimate(const Traffic& traffic,
                                                const EstimateRequest& request) const = 0;
  // The rows of an estimate's total (Answer::priced), known before there is traffic. Empty: the
  // kind's estimates have no rows to show beside something else.
  [[nodiscard]] virtual std::vector<std::string> priced_rows() const { return {}; }
  // Projects the wires' energy to another node, voltage or layout, or to traffic that goes
  // elsewhere. Errors: out_of_range, invalid_argument, those of estimate().
  [[nodiscard]] virtual Result<Answer> project(const ProjectRequest& request) const = 0;
  // Each figure beside the truth.
  [[nodiscard]] virtual Result<Answer> score(const Revealed& truth) const = 0;
  // An application's estimate beside the sealed joules of the same run, by column of the chip's
  // table ("l1_l2_j"). Errors: those of estimate(), bad_data (a column is missing), unsupported (a
  // kind without virtual devices).
  [[nodiscard]] virtual Result<Answer> score_application(
      const Traffic& traffic, const EstimateRequest& request,
      const std::map<std::string, double>& sealed_j) const;
  // Error bad_data or unsupported where the campaign did not identify what a link needs.
  [[nodiscard]] virtual Result<LinkConstants> link_constants() const = 0;

  // Whether the report draws charts of it from the recorded runs, and has no use for page().
  [[nodiscard]] virtual bool is_drawn() const { return false; }
  // The page of a report. Throws nlohmann::json::exception where a key of the document has another
  // type than this program writes; the report makes a parse_error of it.
  [[nodiscard]] virtual Page page() const = 0;
  // The energies of single wires per millimetre, for uses that go by segment (a timeline, a chip's
  // crossbar); null where the kind has none.
  [[nodiscard]] virtual const model::WireModel* wires() const { return nullptr; }
  // Distances of another floorplan, and a measured energy of registers-L1 [fJ/bit], instead of the
  // calibration's own. Errors: unsupported (no such thing in this kind), those of the floorplan.
  virtual Status use_floorplan(const model::Floorplan& floorplan);
  virtual Status use_registers_l1(const Interval& fj_per_bit);
  // Returns the document that it was read from.
  [[nodiscard]] virtual const nlohmann::json& document() const = 0;
};

// Error unsupported: an option was given that the calibration has no use for.
Status refuse_foreign(const Calibration& calibration, Use use, std::span<const std::string> given);

}  // namespace ww::calibration
