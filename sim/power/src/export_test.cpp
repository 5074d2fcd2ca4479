#include "ww/sim/power/export.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "ww/core/subprocess.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sim/power/wire_energy.hpp"

namespace ww::sim::power::export_test {
namespace {

// A calibration of a 28 nm chip: 100 fJ per random bit and mm, 90 to 115.
nlohmann::json calibrated() {
  return {{"device", "virtual:w9100"},
          {"virtual", true},
          {"energy_fj_per_bit_mm",
           {{"value", 100.0}, {"low", 90.0}, {"high", 115.0}, {"convention", "per_random_bit"}}},
          {"distances", {{"engine_to_quadrant_mm", {{5.0, 12.0}, {9.0, 14.0}}}}}};
}

ExportConfig config_to(ExportTarget target) {
  ExportConfig config;
  config.target = target;
  config.link = *link_constant(calibrated(), 28, std::nullopt);
  config.node_nm = 28;
  config.link_length = Millimetre(2.0);
  return config;
}

ExportedFile exported(const ExportConfig& config) {
  auto file = export_file(config);
  EXPECT_TRUE(file) << (file ? "" : file.error().text());
  return file ? *file : ExportedFile{};
}

TEST(ExportedLink, HasTheCalibrationsFigureIntervalAndLabel) {
  const auto link = link_constant(calibrated(), 28, std::nullopt);
  ASSERT_TRUE(link);
  EXPECT_DOUBLE_EQ(link->value, 100);
  EXPECT_DOUBLE_EQ(link->low, 90);
  EXPECT_DOUBLE_EQ(link->high, 115);
  EXPECT_TRUE(link->is_virtual);
  EXPECT_DOUBLE_EQ(link->reach_mm.value(), 10);
}

TEST(ExportedLink, IsHalfOfAFigurePerTransition) {
  nlohmann::json model = calibrated();
  model["energy_fj_per_bit_mm"]["convention"] = "per_transition";
  const auto link = link_constant(model, 28, std::nullopt);
  ASSERT_TRUE(link);
  EXPECT_DOUBLE_EQ(link->value, 50);
  EXPECT_DOUBLE_EQ(link->high, 57.5);
}

TEST(ExportedLink, ScalesItsIntervalWithTheNode) {
  const auto link = link_constant(calibrated(), 28, 14);
  ASSERT_TRUE(link);
  EXPECT_NEAR(link->value, 75, 1e-9);  // Villa et al., table II
  EXPECT_NEAR(link->low, 0.75 * 90, 1e-9);
  EXPECT_NEAR(link->high, 0.75 * 115, 1e-9);
}

TEST(ExportedFiles, NameEveryConstantWithIntervalConventionAndLabel) {
  for (const ExportTarget target : kExportTargets) {
    ExportConfig config = config_to(target);
    if (target == ExportTarget::accelwattch) {
      config.base = R"(<component id="root"><param name="NOC_A" value="3"/></component>)";
    } else if (target == ExportTarget::mcpat) {
      config.base =
          R"(<component id="system.NoC0"><stat name="total_accesses" value="5"/></component>)";
    }
    config.pj_per_access = 2;
    const ExportedFile file = exported(config);
    ASSERT_GE(file.constants.size(), 2U) << to_string(target);
    EXPECT_NE(file.text.find("energy of a wire: 100 fJ/bit/mm (90..115), "
                             "per_random_bit, virtual"),
              std::string::npos)
        << to_string(target) << "\n"
        << file.text;
    EXPECT_NE(file.text.find("nothing in it was measured"), std::string::npos);
    for (const ExportedConstant& constant : file.constants) {
      EXPECT_NE(file.text.find(constant.name + ": "), std::string::npos) << constant.name;
      EXPECT_EQ(constant.low.has_value(), constant.label != "literature") << constant.name;
    }
  }
}

TEST(ExportedFiles, SayFirstThatACalibrationIsAMisfit) {
  ExportConfig config = config_to(ExportTarget::noxim);
  config.misfit = "lack of fit";
  EXPECT_NE(exported(config).text.find("# MISFIT, rely on no figure"), std::string::npos);
}

// Rows "- [a, b, ...]" under a key of the file, as numbers.
std::vector<std::vector<double>> yaml_rows(const std::string& text, const std::string& key) {
  std::vector<std::vector<double>> rows;
  std::istringstream lines(text);
  std::string line;
  bool inside = false;
  while (std::getline(lines, line)) {
    if (line.find(key + ":") != std::string::npos) {
      inside = true;
      continue;
    }
    const auto open = line.find("- [");
    if (!inside || open == std::string::npos) {
      inside = false;
      continue;
    }
    std::istringstream cells(line.substr(open + 3, line.find(']') - open - 3));
    std::string cell;
    rows.emplace_back();
    while (std::getline(cells, cell, ',')) {
      rows.back().push_back(std::stod(cell));
    }
  }
  return rows;
}

TEST(NoximFile, ChargesALinkItsEnergyForEveryBit) {
  const ExportedFile file = exported(config_to(ExportTarget::noxim));
  std::map<double, std::vector<double>> links;
  for (const auto& row : yaml_rows(file.text, "LinkBitLine")) {
    ASSERT_EQ(row.size(), 3U);
    links[row[0]] = row;
  }
  // [length mm, leakage W, J a bit]
  ASSERT_TRUE(links.contains(2.0));
  EXPECT_NEAR(links[2.0][2], 200e-15, 1e-22);
  EXPECT_NEAR(links[1.0][2], 100e-15, 1e-22);
}

TEST(NoximFile, HasTheEstimatorsBuffersAndCrossbar) {
  ExportConfig config = config_to(ExportTarget::noxim);
  config.router.flit_bits = 64;
  const ExportedFile file = exported(config);
  const RouterEnergy four = *router_energy(Estimator::dsent, 28, {64, 5, 1, 4});
  bool found = false;
  for (const auto& row : yaml_rows(file.text, "Buffer")) {
    ASSERT_EQ(row.size(), 6U);
    EXPECT_EQ(row[1], 64);
    if (row[0] == 4) {
      found = true;
      EXPECT_NEAR(row[3], four.buffer_write_pj * 1e-12, 1e-20);
      EXPECT_NEAR(row[5], four.buffer_read_pj * 1e-12, 1e-20);
    }
  }
  EXPECT_TRUE(found);
  const RouterEnergy router = *router_energy(Estimator::dsent, 28, {64, 5, 5, 4});
  const auto crossbar = yaml_rows(file.text, "crossbar");
  ASSERT_EQ(crossbar.size(), 1U);
  EXPECT_EQ(crossbar[0][0], 5);
  EXPECT_NEAR(crossbar[0][2], router.leakage_mw * 1e-3, 1e-9);
  EXPECT_NEAR(crossbar[0][3], (router.crossbar_pj + router.switch_grant_pj) * 1e-12, 1e-20);
}

// Noxim looks figures up by exact keys.
TEST(NoximFile, HasEveryDepthAndLengthThatAConfigurationMayName) {
  ExportConfig config = config_to(ExportTarget::noxim);
  config.router.vc_buffer = 100;
  config.link_length = Millimetre(7.25);
  const ExportedFile file = exported(config);
  const auto first_of = [](const std::vector<std::vector<double>>& rows) {
    std::set<double> keys;
    for (const auto& row : rows) {
      keys.insert(row.at(0));
    }
    return keys;
  };
  const auto depths = first_of(yaml_rows(file.text, "Buffer"));
  for (const int depth : {1, 3, 6, 64, 100}) {
    EXPECT_TRUE(depths.contains(depth)) << depth;
  }
  const auto lengths = first_of(yaml_rows(file.text, "LinkBitLine"));
  for (const double mm : {0.5, 1.2, 3.0, 7.25}) {
    EXPECT_TRUE(lengths.contains(mm)) << mm;
  }
  ASSERT_EQ(file.notes.size(), 2U);
  EXPECT_NE(file.notes[0].find("1 to 64 flits or 100"), std::string::npos) << file.notes[0];
  EXPECT_NE(file.notes[0].find("or 7.25 mm"), std::string::npos);
}

// Nothing of a router stands in these files, so that no estimator needs to have the node.
TEST(ExportedFiles, OfLinksAloneNeedNoRoutersNode) {
  for (const ExportTarget target : kExportTargets) {
    ExportConfig config = config_to(target);
    config.node_nm = 5;
    const bool links_alone =
        target == ExportTarget::booksim || target == ExportTarget::rapidchiplet;
    EXPECT_EQ(export_file(config).has_value(), links_alone) << to_string(target);
  }
}

// BookSim's Power_Module as its documentation of the tech file describes it, written anew: what its
// Channel Wire Power charges for a bit over a channel of one cycle.
double booksim_joules(const std::map<std::string, double>& tech) {
  const auto at = [&](const char* key) { return tech.at(key); };
  const double cw = 2 * at("Cw_cpl") + 2 * at("Cw_gnd");
  const double length = at("wire_length");
  const double ci = 3 * at("Cg_pwr");
  const double co = 3 * at("Cd_pwr");
  const double ci_delay = 3 * (at("Cg") + at("Cgdl"));
  const double co_delay = 3 * at("Cd");
  const double v2 = at("Vdd") * at("Vdd");
  const double clock = 20 * at("R") * (3 * at("Cd") + 12 * at("Cg") + 12 * at("Cgdl"));
  const auto wire = [&](double size, double n, double m) {
    return 0.5 * (size * (ci + co) + cw * (length / (m * n))) * v2 * m * n;
  };
  double least = 1e100;
  double joules = 0;
  for (double size = 1; size < 10; size += 0.1) {
    for (double n = 1; n < 40; n += 1) {
      for (double m = 1; m < 40; m += 1) {
        const double l = length / (n * m);
        const double tw = at("R") * (co_delay + ci_delay) +
                          (at("R") / size * cw + size * at("Rw") * ci_delay) * l +
                          0.5 * at("Rw") * cw * l * l;
        if (n * tw >= 0.8 * clock) {
          continue;
        }
        const double cdin = 2 * 0.8 * (ci + co) + 2 * (2.0 / 3 * 0.8 * co);
        const double cclk = 2 * 0.8 * (ci + co) + 2 * (2.0 / 3 * 0.8 * at("Cg_pwr"));
        const double flops = (0.2 * 0.5 * cdin + 0.2 * cclk) * m * 64 * v2;
        const double metric = m * m * m * m * (0.2 * 64 * wire(size, n, m) + flops);
        if (metric < least) {
          least = metric;
          joules = wire(size, n, m);
        }
      }
    }
  }
  return joules;
}

std::map<std::string, double> tech_values(const std::string& text) {
  std::map<std::string, double> values;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    if (line.starts_with("//")) {
      continue;
    }
    const auto equals = line.find(" = ");
    EXPECT_NE(equals, std::string::npos) << line;
    EXPECT_EQ(line.back(), ';') << line;
    values[line.substr(0, equals)] = std::stod(line.substr(equals + 3));
  }
  return values;
}

TEST(BookSimFile, ChargesALinkItsEnergyWithTheRepeatersThatBookSimChooses) {
  for (const double mm : {0.5, 1.0, 2.0, 5.0}) {
    for (const double femtojoules : {30.0, 100.0, 210.0}) {
      ExportConfig config = config_to(ExportTarget::booksim);
      config.link.value = femtojoules;
      config.link_length = Millimetre(mm);
      const auto values = tech_values(exported(config).text);
      ASSERT_EQ(values.size(), 24U);
      EXPECT_NEAR(booksim_joules(values) / (femtojoules * mm * 1e-15), 1, 1e-6)
          << mm << " mm, " << femtojoules << " fJ";
    }
  }
}

TEST(BookSimFile, RefusesALinkThatItsRepeatersAloneOutweigh) {
  ExportConfig config = config_to(ExportTarget::booksim);
  config.link.value = 0.01;
  const auto file = export_file(config);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::unsupported);
}

TEST(Gem5File, GivesLinksAndRoutersTheirWatts) {
  ExportConfig config = config_to(ExportTarget::gem5);
  config.clock = Hertz(2e9);
  auto made = ScratchFolder::create("export");
  ASSERT_TRUE(made) << made.error().text();
  const ScratchFolder folder = std::move(*made);
  std::filesystem::create_directory(folder.path() / "m5");
  std::ofstream(folder.path() / "wirewatt_power.py") << exported(config).text;
  // Stands in for gem5: keeps what a part was given.
  std::ofstream(folder.path() / "m5" / "__init__.py") << "";
  std::ofstream(folder.path() / "m5" / "objects.py")
      << "class Kept:\n    def __init__(self, **given):\n        self.__dict__.update(given)\n"
         "class MathExprPowerModel(Kept): pass\nclass PowerModel(Kept): pass\n";
  std::ofstream(folder.path() / "main.py") << R"(
import wirewatt_power
class Part:
    def __init__(self, name):
        self.name = name
        self.power_state = type("State", (), {})()
    def path(self):
        return self.name
class Stats:
    def __init__(self, **values):
        self.__dict__.update(values)
network = Part("net")
network.routers = [Part("net.routers0")]
wirewatt_power.attach(network)
router = network.routers[0]
for part in (network, router):
    assert part.power_state.default_state == "ON"
    assert len(part.power_model.pm) == 4
    assert "e-" not in part.power_model.pm[0].dyn
net = Stats(int_link_utilization=1000000,
            routers0=Stats(buffer_writes=1000000, buffer_reads=0, crossbar_activity=0,
                           sw_output_arbiter_activity=0))
simSeconds = 0.5
print(eval(network.power_model.pm[0].dyn), eval(router.power_model.pm[0].dyn),
      router.power_model.pm[0].st)
)";
  const auto run = run_process({.command = {"python3", (folder.path() / "main.py").string()}});
  if (!run) {
    GTEST_SKIP() << "no python3: " << run.error().text();
  }
  ASSERT_EQ(run->exit_code, 0) << run->errors;
  double link_w = 0;
  double router_w = 0;
  double leakage_w = 0;
  std::istringstream(run->output) >> link_w >> router_w >> leakage_w;
  // A million flits of 128 bits over 2 mm at 100 fJ/bit/mm, in half a second.
  EXPECT_NEAR(link_w, 1e6 * 128 * 200e-15 / 0.5, 1e-12);
  const RouterEnergy router = *router_energy(Estimator::dsent, 28, RouterSize{});
  EXPECT_NEAR(router_w, 1e6 * router.buffer_write_pj * 1e-12 / 0.5 + router.clock_pj * 2e-3, 1e-9);
  EXPECT_NEAR(leakage_w, router.leakage_mw * 1e-3, 1e-9);
}

TEST(RapidChipletFile, HasThePowerOfAMillimetreOfLink) {
  ExportConfig config = config_to(ExportTarget::rapidchiplet);
  config.load = 0.5;
  const auto packaging = nlohmann::json::parse(exported(config).text);
  EXPECT_EQ(packaging["link_power_type"], "function");
  const std::string function = packaging["link_power"];
  ASSERT_TRUE(function.starts_with("lambda x : "));
  // 128 bits at 1 GHz in half of the cycles, at 100 fJ a bit and mm.
  EXPECT_NEAR(std::stod(function.substr(11)), 128 * 1e9 * 0.5 * 100e-15, 1e-12);
  // RapidChiplet's validation requires these keys of a packaging.
  for (const char* key : {"link_routing", "link_latency_type", "link_latency", "packaging_yield",
                          "bump_pitch", "non_data_wires", "is_active", "has_interposer"}) {
    EXPECT_TRUE(packaging.contains(key)) << key;
  }
}

TEST(RapidChipletFile, KeepsTheUsersPackagingAndChargesACrossingWhateverItsLength) {
  CrossingEnergy crossing;
  crossing.random_pj = {2, 1.5, 2.5};
  crossing.source = "a card";
  ExportConfig config = config_to(ExportTarget::rapidchiplet);
  config.link = link_constant(crossing);
  config.base = R"({"link_routing": "euclidean", "bump_pitch": 0.03})";
  const ExportedFile file = exported(config);
  const auto packaging = nlohmann::json::parse(file.text);
  EXPECT_EQ(packaging["bump_pitch"], 0.03);
  EXPECT_EQ(packaging["link_power_type"], "constant");
  EXPECT_NEAR(packaging["link_power"].get<double>(), 128 * 1e9 * 2e-12, 1e-12);
  EXPECT_EQ(file.constants[0].label, "measured");
}

TEST(RapidChipletFile, RefusesABaseThatIsNoPackaging) {
  ExportConfig config = config_to(ExportTarget::rapidchiplet);
  for (const char* base : {"{", "[]", R"({"tech_1": {}})"}) {
    config.base = base;
    EXPECT_FALSE(export_file(config)) << base;
  }
}

double flit_pj() {
  const RouterEnergy router = *router_energy(Estimator::dsent, 28, RouterSize{});
  return 128 * 0.2 + router.buffer_write_pj + router.buffer_read_pj + router.crossbar_pj +
         router.switch_grant_pj;
}

TEST(AccelWattchFile, SetsTheCoefficientOfTheNetworkAndNothingElse) {
  ExportConfig config = config_to(ExportTarget::accelwattch);
  const std::string before =
      "<?xml version=\"1.0\" ?>\n<component id=\"root\">\n"
      "  <!-- <param name=\"NOC_A\" value=\"7\"/> -->\n  <param name=\"NOC_A\" value=\"";
  const std::string after = "\" /> <!--Accesses-->\n  <param name=\"PIPE_A\" value=\"1\"/>\n";
  config.base = before + "32.09" + after;
  config.pj_per_access = 4;
  const std::string text = exported(config).text;
  const auto comment = text.find("\n<!--\n");
  const auto end = text.find("-->\n", comment) + 4;
  const std::string rest = text.substr(0, comment) + text.substr(end);
  ASSERT_TRUE(rest.starts_with(before)) << rest;
  ASSERT_TRUE(rest.ends_with(after));
  EXPECT_NEAR(std::stod(rest.substr(before.size())), flit_pj() / 4, 1e-6);
  // No comment within a comment.
  EXPECT_EQ(text.substr(comment + 6, end - comment - 10).find("--"), std::string::npos);
}

TEST(McPatFile, MultipliesTheAccessesOfTheNetwork) {
  ExportConfig config = config_to(ExportTarget::mcpat);
  config.base =
      "<component id=\"system.L20\"><stat name=\"total_accesses\" value=\"9\"/></component>"
      "<component id=\"system.NoC0\"><stat name=\"total_accesses\" value=\"1000\"/></component>";
  config.pj_per_access = 10;
  const std::string text = exported(config).text;
  EXPECT_NE(text.find("\"total_accesses\" value=\"9\""), std::string::npos);
  const auto at = text.rfind("value=\"") + 7;
  EXPECT_NEAR(std::stod(text.substr(at)), 1000 * flit_pj() / 10, 1e-3);
}

TEST(XmlTargets, RefuseWhatTheyCannotBeWrittenFrom) {
  for (const ExportTarget target : {ExportTarget::accelwattch, ExportTarget::mcpat}) {
    ExportConfig config = config_to(target);
    auto file = export_file(config);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ErrorCode::invalid_argument);
    config.pj_per_access = 1;
    for (const char* base :
         {"<component/>", "<!-- <param name=\"NOC_A\" value=\"7\"/> -->", "<!-- endless",
          "<param name=\"NOC_A\" value=\"seven\"/>", "<stat name=\"NOC_A\" value=\"7\"/>",
          "<component id=\"system.NoC0\"></component><component id=\"system.L2\">"
          "<stat name=\"total_accesses\" value=\"9\"/></component>"}) {
      config.base = base;
      file = export_file(config);
      ASSERT_FALSE(file) << base;
      EXPECT_EQ(file.error().code, ErrorCode::parse_error) << base;
    }
  }
}

TEST(ExportedFiles, RefuseSettingsThatMakeNoSense) {
  EXPECT_FALSE(export_target_from_string("ns3"));
  ExportConfig idle = config_to(ExportTarget::rapidchiplet);
  idle.load = 0;
  EXPECT_FALSE(export_file(idle));
  ExportConfig config = config_to(ExportTarget::noxim);
  config.link_length = Millimetre(-1);
  const auto file = export_file(config);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().context, "link_length");
}

}  // namespace
}  // namespace ww::sim::power::export_test
