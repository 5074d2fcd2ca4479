// No output of any command replaces what cost hours, an input of the same call, or another output
// of it. Commands and options are those that the program's own help names, so a new one is tried
// too.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "made_campaign.hpp"
#include "pattern.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/owned_file.hpp"
#include "ww/selftest/selftest.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

struct Option {
  std::string name, type;
};

struct Command {
  Words words;
  std::vector<Option> options;
  bool has_positional{};

  [[nodiscard]] std::string name() const {
    std::string text;
    for (const auto& word : words) text += " " + word;
    return text;
  }
  [[nodiscard]] std::vector<std::string> of(const std::set<std::string>& types) const {
    std::vector<std::string> names;
    for (const auto& option : options) {
      if (types.contains(option.type)) names.push_back(option.name);
    }
    return names;
  }
};

const std::set<std::string> kOutputs{"OUTPUT", "FOLDER", "MODEL", "PATH"};

void collect(const Words& words, std::vector<Command>& commands) {
  const auto help_of = [&words](const char* how) {
    Words line{wirewatt()};
    line.insert(line.end(), words.begin(), words.end());
    line.emplace_back(how);
    return run(line).out;
  };
  Command command{words, {}, false};
  Words below;
  std::string section;
  std::istringstream screen(help_of("--help"));
  for (std::string text; std::getline(screen, text);) {
    if (!text.empty() && text[0] != ' ') section = text;
    const auto name = groups(text, "^  ([a-z]+)");
    if (section == "Subcommands:" && !name.empty()) below.push_back(name[1]);
  }
  // --help-all of the program itself has the options of all commands.
  std::istringstream whole(words.empty() ? std::string() : help_of("--help-all"));
  for (std::string text; std::getline(whole, text);) {
    if (!text.empty() && text[0] != ' ') section = text;
    const auto option = groups(text, "^  (?:-[a-zA-Z],)?(--[a-z0-9-]+)[^ ]* ([A-Z]+)");
    if (!option.empty()) command.options.push_back({option[1], option[2]});
    command.has_positional =
        command.has_positional || (section == "Positionals:" && text.starts_with("  "));
  }
  commands.push_back(command);
  for (const auto& name : below) {
    Words longer = words;
    longer.push_back(name);
    collect(longer, commands);
  }
}

const std::vector<Command>& all_commands() {
  static const std::vector<Command> commands = [] {
    std::vector<Command> found;
    collect({}, found);
    collect({"exercise"}, found);  // hidden
    return found;
  }();
  return commands;
}

class Outputs : public testing::Test {
 protected:
  void SetUp() override {
    { ASSERT_TRUE(CampaignStore::create(file("campaign.db"))); }
    {
      SQLite::Database db(file("sweep.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
      db.exec("CREATE TABLE point(a)");
      db.exec("PRAGMA application_id=" + std::to_string(kSweepApplicationId));
    }
    std::ofstream(file("model.json")) << R"({"format": "wirewatt-model/1", "device": "gpu:0"})";
    std::ofstream(file("crossing.json")) << R"({"energy_pj_per_bit_crossing": {"value": 1}})";
    std::ofstream(file("package.json")) << R"({"method": "chiplet", "hop_classes": []})";
    std::ofstream(file("ladder.json")) << R"({"ladder_pj_per_bit": []})";
    std::ofstream(file("1.results")) << "wirewatt-results 1\n";
    std::ofstream(file("card.wwst"), std::ios::binary) << selftest::archive_bytes({});
    fs::copy_file(file("campaign.db"), file("segments.db"));
  }
  [[nodiscard]] fs::path file(const std::string& name) const { return folder_.path() / name; }

  static Finished call(const Command& command, const Words& more) {
    Words line{wirewatt()};
    line.insert(line.end(), command.words.begin(), command.words.end());
    line.insert(line.end(), more.begin(), more.end());
    return run(line);
  }

  TemporaryFolder folder_;
};

TEST_F(Outputs, EveryOptionThatNamesAFileSaysWhetherItIsWritten) {
  // Options of the type TEXT: names, numbers in lists, columns, devices. One that is not here names
  // a file: mark it by as_output_file(), as_output_folder() or as_input_file().
  const std::set<std::string> texts{
      "--adaptive",     "--approximable",   "--deadlock",     "--deflection",
      "--link-budget",  "--predictor",      "--routing",      "--scheme",
      "--sw-allocator", "--table-counts",   "--token-order",  "--wait-counts",
      "--ways",         "--accelwattch",    "--allocator",    "--application",
      "--approx",       "--arbiter",        "--arch",         "--baseline",
      "--by",           "--card-node",      "--check",        "--chip-class",
      "--column",       "--compare",        "--constant",     "--crossing-mm-source",
      "--data",         "--device",         "--estimator",    "--executor",
      "--format",       "--kernel",         "--kernels",      "--leave-one-out",
      "--level",        "--load",           "--meter",        "--metric",
      "--mode",         "--network",        "--node",         "--on-fault",
      "--only",         "--openmetrics",    "--over",         "--pareto",
      "--power-column", "--recording",      "--reg",          "--run",
      "--sensitivity",  "--size",           "--slurm-option", "--sort",
      "--target",       "--term",           "--time-column",  "--to",
      "--traffic",      "--voltage-column", "--without",      "--workload",
      "--power-metric"};
  for (const Command& command : all_commands()) {
    for (const auto& name : command.of({"TEXT"})) {
      EXPECT_TRUE(texts.contains(name)) << command.name() << " " << name;
    }
  }
}

// One name has one meaning: a number here is no text there.
TEST_F(Outputs, EveryOptionTakesTheSameKindOfValueInAllCommands) {
  // Written by one command and read by others, or a number of which one command takes a list.
  const std::set<std::string> both{"--counters", "--trace", "--packet-trace", "--node"};
  std::map<std::string, std::map<std::string, std::string>> kinds;
  for (const Command& command : all_commands()) {
    for (const auto& option : command.options) {
      const bool is_number = std::set<std::string>{"FLOAT", "INT", "UINT"}.contains(option.type);
      const std::string kind = kOutputs.contains(option.type) ? "output"
                               : is_number                    ? "number"
                                                              : option.type;
      kinds[option.name][kind] = command.name();
    }
  }
  for (const auto& [option, in] : kinds) {
    if (both.contains(option)) continue;
    std::string where;
    for (const auto& [kind, command] : in) where += " " + kind + " in '" + command + "'";
    EXPECT_EQ(in.size(), 1U) << option << ":" << where;
  }
}

TEST_F(Outputs, NoneReplacesWhatWirewattOwns) {
  std::vector<fs::path> owned;
  for (const char* name : {"campaign.db", "segments.db", "sweep.db", "1.results", "model.json",
                           "crossing.json", "package.json", "ladder.json", "card.wwst"}) {
    owned.push_back(file(name));
  }
  fs::create_symlink(file("campaign.db"), file("soft"));
  fs::create_hard_link(file("campaign.db"), file("hard"));
  owned.push_back(file("soft"));
  owned.push_back(file("hard"));
  int tried = 0;
  for (const Command& command : all_commands()) {
    for (const auto& option : command.of(kOutputs)) {
      for (const fs::path& target : owned) {
        const std::string before = read_file(target).value();
        const auto finished = call(command, {option, target.string()});
        const std::string what = command.name() + " " + option + " " + target.string();
        EXPECT_EQ(finished.exit_code, 2) << what;
        EXPECT_NE(finished.err.find("is not overwritten"), std::string::npos)
            << what << finished.err;
        EXPECT_EQ(read_file(target).value_or(""), before) << what;
        ++tried;
      }
    }
  }
  EXPECT_GE(tried, 30 * 11);
}

TEST_F(Outputs, NoneReplacesAnInputOfTheSameCall) {
  const std::string text = "a,b\n1,2\n";
  const fs::path input = file("input.csv");
  std::ofstream(input) << text;
  fs::create_symlink(input, file("link.csv"));
  int tried = 0;
  for (const Command& command : all_commands()) {
    for (const auto& output : command.of({"OUTPUT", "MODEL", "PATH"})) {
      std::vector<Words> calls;
      for (const auto& option : command.of({"FILE"})) {
        calls.push_back({option, input.string(), output, file("link.csv").string()});
      }
      if (command.has_positional) calls.push_back({output, input.string(), "--", input.string()});
      for (const Words& words : calls) {
        const auto finished = call(command, words);
        EXPECT_EQ(finished.exit_code, 2) << command.name() << " " << words[0];
        EXPECT_TRUE(found(finished.err, "is what .* reads")) << command.name() << finished.err;
        EXPECT_EQ(read_file(input).value_or(""), text) << command.name() << " " << words[0];
        ++tried;
      }
    }
  }
  EXPECT_GE(tried, 20);
}

TEST_F(Outputs, TwoOfOneCallAreTwoFiles) {
  int tried = 0;
  for (const Command& command : all_commands()) {
    const auto outputs = command.of({"OUTPUT", "PATH"});
    for (std::size_t i = 0; i + 1 < outputs.size(); ++i) {
      const auto finished = call(command, {outputs[i], file("new").string(), outputs[i + 1],
                                           (file("") / "." / "new").string()});
      EXPECT_EQ(finished.exit_code, 2) << command.name();
      EXPECT_TRUE(found(finished.err, "is what .* writes")) << command.name() << finished.err;
      EXPECT_FALSE(fs::exists(file("new"))) << command.name();
      ++tried;
    }
  }
  EXPECT_GE(tried, 5);
}

TEST_F(Outputs, APlaceThatCannotBeIsWrongUsage) {
  std::ofstream(file("file")) << "text";
  fs::create_directory(file("folder"));
  int tried = 0;
  const auto expect_refused = [&](const Command& command, const std::string& option,
                                  const fs::path& place, const char* why) {
    const auto finished = call(command, {option, place.string()});
    EXPECT_EQ(finished.exit_code, 2) << command.name() << " " << option << " " << place;
    EXPECT_TRUE(found(finished.err, why)) << command.name() << " " << option << finished.err;
    ++tried;
  };
  for (const Command& command : all_commands()) {
    for (const auto& option : command.of({"OUTPUT", "MODEL"})) {
      if (option == "--svg" || option == "--plot") continue;  // ask for the ending first
      expect_refused(command, option, file("folder"), "is a folder; give the name of a file in it");
      expect_refused(command, option, file("file") / "x", "Not a directory");
      expect_refused(command, option, file("nowhere") / "x", "No such file or directory");
    }
    for (const auto& option : command.of({"FOLDER"})) {
      expect_refused(command, option, file("file"), "Not a directory");
      expect_refused(command, option, file("file") / "x" / "y", "Not a directory");
    }
  }
  EXPECT_GE(tried, 50);
  EXPECT_EQ(read_file(file("file")).value_or(""), "text");
}

TEST_F(Outputs, DevicesAndOtherPeoplesFilesAreWritten) {
  std::ofstream(file("old.svg")) << "old";
  std::ofstream(file("notes.svg")) << R"({"format": 7})";
  const Words curve{wirewatt(), "simulate", "--k", "2",       "--warmup",
                    "100",      "--cycles", "200", "--curve", "--plot"};
  for (const std::string& target :
       {file("old.svg").string(), file("notes.svg").string(), std::string("/dev/null")}) {
    Words line = curve;
    line.push_back(target);
    EXPECT_EQ(run(line).exit_code, 0) << target;
  }
  EXPECT_NE(read_file(file("old.svg")).value_or("old"), "old");
}

class OutputsOfFit : public OfAMadeCampaign {};

TEST_F(OutputsOfFit, OnlyFitReplacesTheModelOfItsCampaign) {
  TemporaryFolder other;
  const fs::path own = fs::path(model()) / "model.json";
  const fs::path copy = other.path() / "model.json";
  fs::copy_file(own, copy);
  const std::string before = read_file(copy).value();
  const auto refused = run({wirewatt(), "fit", model(), "--out", copy.string()});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("holds a calibration"), std::string::npos) << refused.err;
  EXPECT_EQ(read_file(copy).value(), before);
  EXPECT_LE(run({wirewatt(), "fit", model(), "--out", own.string()}).exit_code, 1);
  EXPECT_LE(
      run({wirewatt(), "fit", model(), "--out", (other.path() / "new.json").string()}).exit_code,
      1);
  EXPECT_TRUE(fs::exists(other.path() / "new.json"));
}

// A paper is compared with the calibration that reproduce itself would make, and with no other that
// lies in the folder. The mark of a control ends the last call before it runs the study.
TEST_F(OutputsOfFit, ReproduceUsesNoCalibrationOfAnotherDeviceOrSeed) {
  TemporaryFolder other;
  const auto refusal = [&](const char* device, const char* seed) {
    auto model = parse_json(read_file(fs::path(OutputsOfFit::model()) / "model.json").value());
    model["device"] = device;
    model["provenance"]["plan_seed"] = seed;
    model["provenance"]["control"] = "swap-paths";
    std::ofstream(other.path() / "model.json") << model.dump();
    const auto finished =
        run({wirewatt(), "reproduce", "iiswc16", "--quick", "--out", other.path().string()});
    EXPECT_EQ(finished.exit_code, 2) << finished.err;
    return finished.err;
  };
  EXPECT_NE(refusal("virtual:mi210", "1").find("of virtual:mi210"), std::string::npos);
  EXPECT_NE(refusal("virtual:w9100", "2").find("of seed 2"), std::string::npos);
  EXPECT_NE(refusal("virtual:w9100", "1").find("negative control (swap-paths)"), std::string::npos);
}

TEST_F(OutputsOfFit, ANewCampaignLeavesACalibrationThatLiesThere) {
  TemporaryFolder other;
  fs::copy_file(fs::path(model()) / "model.json", other.path() / "model.json");
  const auto refused = run({wirewatt(), "calibrate", "--device", "virtual:w9100", "--quick",
                            "--out", other.path().string()});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("holds a calibration"), std::string::npos) << refused.err;
  EXPECT_FALSE(fs::exists(other.path() / "campaign.db"));
}

}  // namespace
}  // namespace ww::e2e
