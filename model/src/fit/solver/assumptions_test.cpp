#include "ww/model/assumptions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace ww::model {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegin = "<!-- assumptions: made by assumptions_markdown() -->\n";
constexpr std::string_view kEnd = "<!-- end of assumptions -->\n";

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream stream;
  stream << in.rdbuf();
  return stream.str();
}

// The page is to say what the code has. `WW_UPDATE_DOCS=1 model_assumptions_test` writes it.
TEST(Assumptions, StandInTheMethodPageAsTheCodeHasThem) {
  std::string page = text_of(WW_METHOD_PAGE);
  const auto begin = page.find(kBegin);
  const auto end = page.find(kEnd);
  ASSERT_NE(begin, std::string::npos);
  ASSERT_LT(begin, end);
  const auto from = begin + kBegin.size();
  if (std::getenv("WW_UPDATE_DOCS") != nullptr) {
    page.replace(from, end - from, assumptions_markdown());
    std::ofstream(WW_METHOD_PAGE) << page;
    return;
  }
  EXPECT_EQ(page.substr(from, end - from), assumptions_markdown());
}

TEST(Assumptions, EachHaveAValueASourceAndAnEntryOfTheirOwn) {
  std::set<std::string> quantities;
  std::set<std::string> constants;
  for (const Assumption& row : assumptions()) {
    EXPECT_FALSE(row.value.empty()) << row.quantity;
    EXPECT_FALSE(row.source.empty()) << row.quantity;
    EXPECT_TRUE(quantities.insert(row.quantity).second) << row.quantity;
    // A bound that no source states is called judgement; nothing rests on virtual chips.
    EXPECT_EQ(row.source.find("virtual-gpu.md"), std::string::npos) << row.quantity;
    EXPECT_FALSE(row.constants.empty()) << row.quantity;
    EXPECT_TRUE(row.recorded.empty() || row.recorded.starts_with("confirmed") ||
                row.recorded.starts_with("contradicted"))
        << row.recorded;
    for (const std::string& name : row.constants) {
      EXPECT_TRUE(constants.insert(name).second) << name << " stands in two rows";
    }
  }
}

// Named numbers of the fit that assume nothing of a card.
const std::map<std::string, std::string>& no_assumptions() {
  static const std::map<std::string, std::string> names = {
      {"kLevels", "levels of confidence that are reported"},
      {"kOutside", "of a 95% interval"},
      {"kErrorIsKnown", "degrees of freedom without end"},
      {"kBitsPerByte", "unit"},
      {"kFemto", "unit"},
      {"kJoulesPerFj", "unit"},
      {"kJoulesPerPj", "unit"},
      {"kMaxUnseenHits", "beyond it a figure is refused"},
      {"kNan", "no number"},
      {"kNoReading", "no number"},
      {"kHeatCount", "number of the heat's time constants, which stand in the table"},
      {"kFastHeatCount", "the first of them"},
      {"kFilters", "the same"},
      {"kFast", "the same"},
      {"kIdleBlocks", "place in a list"},
      {"kPasses", "steps of the search, of which the last changes nothing"},
      {"least_mass", "guards a division"},
      {"kHopClasses", "names in a list"},
      {"kEquation", "columns of a fit and what fills them"},
      {"kPairEquation", "the same"},
      {"kJoulesPerPjAndByte", "unit"},
      {"kEvenShare", "one of four dies; the interval goes from none to all of the traffic"},
      {"kMinMisses", "what a campaign's own runs are held to, as counters are"},
      {"kAssumedByIiswc16", "what a paper assumes, reproduced beside ours"},
      {"kPlanComputeUnits", "a die for which a layout is searched, with its source"},
      {"kPlanChannels", "the same"},
      {"kPlanSideMm", "the same"},
      {"kPicojoule", "unit"},
      {"kSocket", "place in a list"},
      {"kLinks", "ways in a list"},
      {"kBehindCache", "the same"},
      {"kOfParts", "the same"},
      {"kKinds", "kinds of calibration"},
      {"kWiresFitOptions", "names of options"},
      {"kForeignToEstimate", "the same"},
      {"kForeignToProject", "the same"},
      {"kSegmentColumns", "names of columns"},
      {"kOtherColumns", "the same"},
      {"kBisections", "steps of a search, to the last digits"},
      {"kHarmonics", "where a series is cut; what is left out has 2% of the variance"},
      {"kDrawsOfOneSign", "draws of a Monte Carlo, whose scatter it says"},
      {"kCusOfGroup", "what the experiment runs"},
      {"kRegisterLanes", "the same"},
      {"kFewestLanes", "the same"},
      {"kTransfer", "made of kOtherWires"},
      {"other_toggles", "made of kOtherToggles"},
      {"kApplicationToggles", "measured, in a table of docs/estimate.md"},
      {"kWireSegments", "names"},
      {"kSegmentNames", "names"},
      {"kChipletRailNames", "names"},
      {"kPoints", "what the experiment runs"},
      {"kBeyondL2Points", "the same"},
      {"kRunsOfRound", "the same"},
      {"kPaperWireToLogic", "what a paper has, reproduced beside ours"},
      {"kBeatWords", "the ways to count a dump, which docs/estimate.md lists"},
      {"kLineBytes", "the same"},
      {"PublishedLevel", "a type"},
      {"kPublished", "figures of others, beside ours"},
      {"kLevelsInOrder", "names in a list"},
      {"kIdleExponent", "kBeta by another name"},
      {"kIdleExponentSigma", "kBetaSigma by another name"},
      {"kMinLadderBlocks", "runs that a ladder needs for an answer"},
      {"kMinLadderRates", "the same"},
      {"kMinIdlePoints", "readings without which idle power has no slope"},
      {"kMinIdleSpanK", "the same"},
      {"kBitsOfItem", "what the ladder's streams load"},
      {"kMaxTogglesOfWire", "what a counter is refused beyond, as no wire can do it"},
      {"kMaxNeighbours", "the same"},
      {"kMinCoreVoltage", "what a value is refused beyond, as a slip of the unit"},
      {"kMaxCoreVoltage", "the same"},
      {"kMinCoreClock", "the same"},
      {"kMaxCoreClock", "the same"},
      {"kLargestRouteMm", "the same"},
      {"kLineWords", "the same"},
      {"kLargestDieMm", "limit of a file"},
      {"kMaxEngines", "limit of a file"},
      {"kMaxUnits", "limit of a file"},
      {"kMaxChannels", "limit of a file"},
  };
  return names;
}

// Names of all constants of a source.
void constants_of(const fs::path& path, std::set<std::string>& names) {
  static const std::regex declaration(
      R"((?:^|\n)[^\n/]*\bconstexpr\s+((?:static\s+)?(?:const\s+)?[A-Za-z_:]+(?:<[^>\n]*>)?)\s+([^;]*?);)");
  static const std::regex name(R"((?:^|,\s*)([A-Za-z_]\w*)\s*(?:=|\{))");
  const std::string source = text_of(path);
  for (std::sregex_iterator at(source.begin(), source.end(), declaration), end; at != end; ++at) {
    const std::string type = (*at)[1];
    if (type.ends_with("string_view") || type.ends_with("char")) continue;
    const std::string declared = (*at)[2];
    for (std::sregex_iterator one(declared.begin(), declared.end(), name); one != end; ++one) {
      names.insert((*one)[1]);
    }
  }
}

// Names of the constants of all sources below a folder, tests left out.
void collect_constants(const fs::path& folder, std::set<std::string>& names) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".cpp" && path.extension() != ".hpp") continue;
    if (path.stem().string().ends_with("_test") || path.stem().string().ends_with("_fuzz")) {
      continue;
    }
    // Literature with a source in each of its own lines.
    if (path.filename() == "technology.cpp" || path.filename() == "layout.cpp" ||
        path.filename() == "chip_power.cpp") {
      continue;
    }
    constants_of(path, names);
  }
}

TEST(Assumptions, StandInTheTableWhereTheFitHasANamedNumber) {
  std::set<std::string> found;
  const fs::path model(WW_MODEL_SOURCES);
  for (const char* folder : {"fit", "reduction", "estimate", "floorplan"}) {
    collect_constants(model / "src" / folder, found);
  }
  collect_constants(model / "calibration", found);
  for (const char* header : {"assumed_data.hpp", "wire_model.hpp", "floorplan.hpp"}) {
    ASSERT_TRUE(fs::exists(model / "include/ww/model" / header));
  }
  collect_constants(model / "include/ww/model", found);
  constants_of(model.parent_path() / "core/include/ww/core/sensor_tolerances.hpp", found);
  std::set<std::string> tabled;
  for (const Assumption& row : assumptions()) {
    tabled.insert(row.constants.begin(), row.constants.end());
  }
  for (const std::string& name : found) {
    EXPECT_TRUE(tabled.contains(name) || no_assumptions().contains(name))
        << name << " is a number of the fit that no line of the table has";
  }
  for (const std::string& name : tabled) EXPECT_TRUE(found.contains(name)) << name << " is gone";
  for (const auto& [name, why] : no_assumptions()) {
    EXPECT_TRUE(found.contains(name)) << name << " is gone (" << why << ")";
  }
}

}  // namespace
}  // namespace ww::model
