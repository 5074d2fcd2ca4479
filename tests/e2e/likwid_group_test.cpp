// wirewatt export --to likwid: the group's formulas give the joules that `estimate` gives for the
// same counters.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "made_campaign.hpp"
#include "process.hpp"

namespace ww::e2e {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// The sections of a group as LIKWID reads it: SHORT in a line, then lines up to the next section
// (likwid, src/perfgroup.c).
struct Group {
  std::string title;
  std::map<std::string, std::string> events;   // ROCM0: TCC_EA_RDREQ_sum
  std::map<std::string, std::string> metrics;  // "L1-L2 energy [J]": formula
  std::string description;
};

Group parse(const std::string& text) {
  Group group;
  std::istringstream lines(text);
  std::string section;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("SHORT ")) group.title = line.substr(6);
    if (line == "EVENTSET" || line == "METRICS" || line == "LONG") {
      section = line;
      continue;
    }
    if (line.empty()) continue;
    const auto last = line.rfind(' ');
    if (section == "EVENTSET") {
      EXPECT_EQ(line.substr(last + 1, 5), "ROCP_");
      group.events[line.substr(0, last)] = line.substr(last + 6);
    } else if (section == "METRICS") {
      group.metrics[line.substr(0, last)] = line.substr(last + 1);
    } else if (section == "LONG") {
      // LIKWID compares beginnings of lines, also in the description, and leaves out comments.
      for (const char* begins :
           {"#", "SHORT", "EVENTSET", "METRICS", "LONG", "LUA", "REQUIRE_NOHT"}) {
        EXPECT_FALSE(line.starts_with(begins)) << line;
      }
      group.description += line + "\n";
    }
  }
  return group;
}

// A sum of products of a number and a register.
double evaluate(const std::string& formula, const Group& group,
                const std::map<std::string, double>& counters) {
  static const std::regex kTerm(R"(([+-]?[0-9.]+E[+-][0-9]+)\*(ROCM[0-9]+))");
  double sum = 0;
  std::string rest = formula;
  for (std::smatch term; std::regex_search(rest, term, kTerm); rest = term.suffix()) {
    EXPECT_EQ(term.prefix(), "");
    sum += std::stod(term[1]) * counters.at(group.events.at(term[2]));
  }
  EXPECT_EQ(rest, "");
  return sum;
}

class LikwidGroup : public OfAMadeCampaign {
 protected:
  [[nodiscard]] std::string file(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  TemporaryFolder folder_;
};

TEST_F(LikwidGroup, GivesTheJoulesOfEstimate) {
  const std::string calibrated = as_model_of_mi210(model());
  const auto exported =
      run({wirewatt(), "export", "--to", "likwid", "--model", calibrated, "-o", file("WIRES.txt")});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  std::ifstream written(file("WIRES.txt"));
  const Group group = parse({std::istreambuf_iterator<char>(written), {}});
  EXPECT_THAT(group.title, HasSubstr("gfx90a"));
  EXPECT_THAT(group.title, HasSubstr("virtual, not a measurement"));
  EXPECT_TRUE(group.metrics.contains("registers-L1 energy at most [J]"));
  const std::map<std::string, double> counters = {
      {"TCP_TCC_READ_REQ_sum", 100000}, {"TCP_TCC_WRITE_REQ_sum", 30000},
      {"TCC_EA_RDREQ_sum", 5000},       {"TCC_EA_RDREQ_32B_sum", 300},
      {"TCC_EA_WRREQ_sum", 700},        {"TCC_EA_WRREQ_64B_sum", 600}};
  std::ofstream table(file("counters.csv"));
  table << "\"Dispatch_Id\",\"Agent_Id\",\"Kernel_Name\",\"Counter_Name\",\"Counter_Value\"\n";
  for (const auto& [counter, value] : counters) {
    table << "1,4,\"copy\",\"" << counter << "\"," << static_cast<long>(value) << "\n";
  }
  table.close();
  const auto estimated = run({wirewatt(), "estimate", "--json", "--arch", "gfx90a", "--model",
                              calibrated, "--counters", file("counters.csv")});
  ASSERT_EQ(estimated.exit_code, 0) << estimated.err;
  const json document = estimated.json();
  int compared = 0;
  for (const json& segment : document["total"]["segments"]) {
    if (segment["energy_j"].is_null()) continue;
    const std::string name = segment["segment"] == "l1_l2" ? "L1-L2" : "L2-memory";
    const double joules = segment["energy_j"]["value"];
    EXPECT_NEAR(evaluate(group.metrics.at(name + " energy [J]"), group, counters), joules,
                joules * 1e-8);
    ++compared;
  }
  EXPECT_EQ(compared, 2) << document;
}

// A set of counters is of one pass: 5 of the L2 are too many.
TEST_F(LikwidGroup, LeavesOutWhatTheHardwareCannotCountTogether) {
  const auto exported = run({wirewatt(), "export", "--to", "likwid", "--arch", "gfx942", "--model",
                             model(), "-o", file("WIRES.txt")});
  ASSERT_EQ(exported.exit_code, 0) << exported.err;
  EXPECT_THAT(exported.out, HasSubstr("L2-memory: the hardware cannot count it beside the others"));
}

TEST_F(LikwidGroup, RefusesAPartThatItsGroupsDoNotName) {
  const auto refused = run({wirewatt(), "export", "--to", "likwid", "--arch", "sm_90", "--model",
                            model(), "-o", file("WIRES.txt")});
  EXPECT_EQ(refused.exit_code, 1) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("sm_90"));
  EXPECT_FALSE(std::filesystem::exists(file("WIRES.txt")));
}

}  // namespace
}  // namespace ww::e2e
