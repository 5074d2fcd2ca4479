// A Python module for gem5 (21.1 and later): attach() gives a Garnet network power models, whose
// watts then stand in stats.txt.
#include <fmt/format.h>

#include "export/targets.hpp"

namespace ww::sim::power {
namespace {

// gem5 reads the sign of an exponent as a subtraction, so numbers have none.
std::string plain(double value) {
  return fmt::format("{:.9f}", value);
}

}  // namespace

Result<ExportedFile> export_gem5(const ExportInput& input) {
  constexpr double kPicojoulesInFemtojoule = 1e-3;
  constexpr double kWattsInMilliwatt = 1e-3;
  const RouterEnergy& router = input.router;
  const double link_pj =
      input.per_link.value * kPicojoulesInFemtojoule * input.config.router.flit_bits;
  const double clock_w = router.clock_pj * 1e-12 * input.config.clock.to<double>();
  ExportedFile file;
  file.constants = link_constants(input);
  const auto add = [&](const char* name, double value, const char* unit) {
    file.constants.push_back(router_constant(input, name, value, unit));
  };
  add("buffer write", router.buffer_write_pj, "pJ/flit");
  add("buffer read", router.buffer_read_pj, "pJ/flit");
  add("crossbar", router.crossbar_pj, "pJ/flit");
  add("switch allocator", router.switch_grant_pj, "pJ/flit");
  add("clock of a router", clock_w, "W");
  add("leakage of a router", router.leakage_mw * kWattsInMilliwatt, "W");

  auto lines = comment_lines(input, "gem5 21.1 and later, with a Garnet network", file.constants);
  lines.emplace_back("In a configuration script, before m5.instantiate():");
  lines.emplace_back("    import wirewatt_power  # this file, as wirewatt_power.py");
  lines.emplace_back("    wirewatt_power.attach(system.ruby.network)");
  lines.emplace_back(
      "stats.txt then has power_model.dynamicPower of the network [W]: its links between routers;");
  lines.emplace_back("and of every router: buffers, crossbar, switch allocator and clock.");
  file.text = commented(lines, "# ");
  file.text += fmt::format(
      R"(
from m5.objects import MathExprPowerModel, PowerModel

FLIT_BITS = {}
LINK_PJ_PER_FLIT = {}
BUFFER_WRITE_PJ = {}
BUFFER_READ_PJ = {}
CROSSBAR_PJ = {}
SWITCH_PJ = {}
ROUTER_CLOCK_W = {}
ROUTER_LEAKAGE_W = {}


def number(value):
    """As gem5's expressions read it: without an exponent."""
    return format(value, ".9f")


def watts(events):
    """Of (picojoules, name of a statistic): their joules over the simulated seconds."""
    terms = " + ".join(number(pj) + " * " + name for pj, name in events)
    return "(" + terms + ") / 1000000000000 / simSeconds"


def give(part, dynamic, leakage):
    part.power_state.default_state = "ON"
    states = [MathExprPowerModel(dyn=dynamic, st=leakage)]
    states += [MathExprPowerModel(dyn="0", st="0") for _ in range(3)]
    part.power_model = PowerModel(pm=states)


def attach(network):
    give(network, watts([(LINK_PJ_PER_FLIT, network.path() + ".int_link_utilization")]), "0")
    for router in network.routers:
        path = router.path()
        dynamic = watts(
            [
                (BUFFER_WRITE_PJ, path + ".buffer_writes"),
                (BUFFER_READ_PJ, path + ".buffer_reads"),
                (CROSSBAR_PJ, path + ".crossbar_activity"),
                (SWITCH_PJ, path + ".sw_output_arbiter_activity"),
            ]
        )
        give(router, dynamic + " + " + number(ROUTER_CLOCK_W), number(ROUTER_LEAKAGE_W))
)",
      input.config.router.flit_bits, plain(link_pj), plain(router.buffer_write_pj),
      plain(router.buffer_read_pj), plain(router.crossbar_pj), plain(router.switch_grant_pj),
      plain(clock_w), plain(router.leakage_mw * kWattsInMilliwatt));
  return file;
}

}  // namespace ww::sim::power
