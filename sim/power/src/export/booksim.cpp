// BookSim 2's technology file (tech_file, with sim_power = 1).
//
// BookSim has no constant for a wire's energy: it takes capacitances, chooses repeaters for them,
// and charges every bit of a flit with C V^2 / 2 of wire and repeaters. This file has the wire
// capacitance with which wire and repeaters cost what was calibrated. The choice depends on the
// capacitance, so the two are found together.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "export/targets.hpp"

namespace ww::sim::power {
namespace {

// The 32 nm library of the ITRS 2007 that BookSim's own file has: lengths of gates in um, per um.
// Its wires are per um as well, but BookSim multiplies them by mm, so they are per mm here.
struct BookSimTechnology {
  double vdd_v{0.9};
  double r_ohm{606.321};
  double rw_ohm_per_mm{720.044};
  double cg_f_per_um{5.34e-16};
  double cd_f_per_um{2.67e-16};
  double cgdl_f_per_um{1.068e-16};
  double ioff_a_per_um{1.02e-6};
  double ioff_sram_a{3.2e-7};
  double lambda_um{0.016};
  double metal_pitch_mm{8e-5};
};
constexpr double kInverter = 3;  // widths of both transistors of an inverter, over the n one's

// How a wire is repeated: size of a repeater, repeaters in a stage, stages.
struct Repeaters {
  double size{}, in_stage{}, stages{};

  [[nodiscard]] double total_size() const { return size * in_stage * stages; }
};

// BookSim's search (Power_Module::wireOptimize): every size, number of repeaters and number of
// stages that meets the clock, at the least stages^4 times power.
Repeaters choose_repeaters(const BookSimTechnology& of, double length_mm, double cw_f_per_mm) {
  constexpr double kWidth = 64;
  constexpr double kActivity = 0.2;
  constexpr double kGateWidth = 0.8;
  const double ci_delay = kInverter * (of.cg_f_per_um + of.cgdl_f_per_um);
  const double co_delay = kInverter * of.cd_f_per_um;
  const double ci = kInverter * of.cg_f_per_um;
  const double co = kInverter * of.cd_f_per_um;
  const double fo4 = of.r_ohm * (3 * of.cd_f_per_um + 12 * (of.cg_f_per_um + of.cgdl_f_per_um));
  const double clock_s = 20 * fo4;
  const double v2f = of.vdd_v * of.vdd_v / clock_s;
  // A flip-flop a bit and stage.
  const double data = 2 * kGateWidth * (ci + co) + 4.0 / 3 * kGateWidth * co;
  const double clocked = 2 * kGateWidth * (ci + co) + 4.0 / 3 * kGateWidth * of.cg_f_per_um;
  const double flop = kActivity * (0.5 * data + clocked) * kWidth * v2f;
  Repeaters best;
  double least = std::numeric_limits<double>::infinity();
  // Added up as BookSim does, so that rounding gives the same sizes.
  for (double size = 1; size < 10; size += 0.1) {  // NOLINT(cert-flp30-c)
    for (int in_stage = 1; in_stage < 40; ++in_stage) {
      for (int stages = 1; stages < 40; ++stages) {
        const double piece_mm = length_mm / (in_stage * stages);
        const double delay =
            of.r_ohm * (co_delay + ci_delay) +
            (of.r_ohm / size * cw_f_per_mm + size * of.rw_ohm_per_mm * ci_delay) * piece_mm +
            0.5 * of.rw_ohm_per_mm * cw_f_per_mm * piece_mm * piece_mm;
        if (!(in_stage * delay < 0.8 * clock_s)) {
          continue;
        }
        const double wire =
            0.5 * (size * (ci + co) + cw_f_per_mm * piece_mm) * v2f * in_stage * stages;
        const double metric = std::pow(stages, 4) * (kActivity * kWidth * wire + flop * stages);
        if (metric < least) {
          least = metric;
          best = {size, static_cast<double>(in_stage), static_cast<double>(stages)};
        }
      }
    }
  }
  return best;
}

struct BookSimWire {
  double cw_f_per_mm{};
  double rw_ohm_per_mm{};
  Repeaters repeaters;
};

// The capacitance with which a link costs `joules` a bit. The choice of repeaters moves in steps,
// and where a step leaves a gap, a resistance beside the library's moves the step.
Result<BookSimWire> solve_wire(double length_mm, double joules) {
  constexpr int kTries = 25;
  constexpr double kSame = 1e-9;
  for (const double stretch : {1.0, 1.02, 0.98, 1.05, 0.95, 1.1, 0.9, 1.2, 0.8}) {
    BookSimTechnology technology;
    technology.rw_ohm_per_mm *= stretch;
    const double total_f = 2 * joules / (technology.vdd_v * technology.vdd_v);
    const double repeater_f = kInverter * (technology.cg_f_per_um + technology.cd_f_per_um);
    double cw = total_f / length_mm;
    for (int i = 0; i < kTries && cw > 0; ++i) {
      const Repeaters repeaters = choose_repeaters(technology, length_mm, cw);
      if (repeaters.size == 0) {
        break;  // no choice meets the clock
      }
      const double next = (total_f - repeaters.total_size() * repeater_f) / length_mm;
      if (std::abs(next - cw) <= kSame * cw) {
        return BookSimWire{cw, technology.rw_ohm_per_mm, repeaters};
      }
      cw = next;
    }
  }
  return fail(ErrorCode::unsupported,
              fmt::format("BookSim's repeaters alone cost more than a link of {:g} mm with {:.4g} "
                          "fJ a bit, or it finds none that meet its clock: choose another length",
                          length_mm, joules * 1e15),
              "link_length");
}

}  // namespace

Result<ExportedFile> export_booksim(const ExportInput& input) {
  constexpr double kJoulesInFemtojoule = 1e-15;
  const double mm = input.config.link_length.to<double>();
  WW_ASSIGN(wire, solve_wire(mm, input.per_link.value * kJoulesInFemtojoule));
  const BookSimTechnology technology;
  ExportedFile file;
  file.constants = link_constants(input);
  const std::string source = "ITRS 2007, 32 nm, as BookSim 2's techfile.txt has it";
  const auto library = [&](std::string name, double value, std::string unit) {
    file.constants.push_back({std::move(name), value, std::nullopt, std::nullopt, std::move(unit),
                              "property of the library", "literature", source});
  };
  library("Vdd", technology.vdd_v, "V");
  library("gate and drain capacitance (Cg, Cd)", technology.cg_f_per_um, "F/um");
  library("wire resistance (Rw)", wire.rw_ohm_per_mm, "ohm/mm");
  auto lines = comment_lines(input, "BookSim 2 (tech_file, with sim_power = 1)", file.constants);
  lines.push_back(fmt::format(
      "Cw_cpl and Cw_gnd are solved: with the repeaters that BookSim chooses for {:g} mm (size "
      "{:.1f}, {:g} in a stage, {:g} stages),",
      mm, wire.repeaters.size, wire.repeaters.in_stage, wire.repeaters.stages));
  lines.emplace_back(
      "its Channel Wire Power is the energy of a link above for every bit of a flit, over channels "
      "of one cycle.");
  lines.emplace_back(
      "A calibration has retiming and clocking that grow with distance: add no Channel Clock and "
      "Retiming Power to it.");
  lines.emplace_back(
      "Wires are per mm, as BookSim multiplies them; its own techfile.txt has them per um.");
  file.text = commented(lines, "// ");
  file.text +=
      "H_INVD2 = 8;\nW_INVD2 = 3;\nH_DFQD1 = 8;\nW_DFQD1 = 16;\nH_ND2D1 = 8;\nW_ND2D1 = 3;\n"
      "H_SRAM = 8;\nW_SRAM = 6;\n";
  const auto add = [&](std::string_view key, double value) {
    // BookSim's reader takes a number without a point for a whole one.
    file.text += fmt::format("{} = {:.12e};\n", key, value);
  };
  add("Vdd", technology.vdd_v);
  add("R", technology.r_ohm);
  add("IoffSRAM", technology.ioff_sram_a);
  add("IoffP", technology.ioff_a_per_um);
  add("IoffN", technology.ioff_a_per_um);
  add("Cg_pwr", technology.cg_f_per_um);
  add("Cd_pwr", technology.cd_f_per_um);
  add("Cgdl", technology.cgdl_f_per_um);
  add("Cg", technology.cg_f_per_um);
  add("Cd", technology.cd_f_per_um);
  add("LAMBDA", technology.lambda_um);
  add("MetalPitch", technology.metal_pitch_mm);
  add("Rw", wire.rw_ohm_per_mm);
  // Cw = 2 Cw_cpl + 2 Cw_gnd, in equal parts.
  add("Cw_gnd", wire.cw_f_per_mm / 4);
  add("Cw_cpl", wire.cw_f_per_mm / 4);
  add("wire_length", mm);
  return file;
}

}  // namespace ww::sim::power
