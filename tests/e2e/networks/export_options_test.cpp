// Every option of `export` changes the file of every format, or is refused by its name.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "process.hpp"
#include "sweep_folder.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

const std::vector<std::string> kModelFormats{"accelwattch", "gem5",    "mcpat",
                                             "noxim",       "booksim", "rapidchiplet"};
using Options = std::map<std::string, std::string>;

class ExportOptions : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(path("wires"));
    write("wires/model.json",
          json{{"format", "wirewatt-model/1"},
               {"device", "AMD Instinct MI210"},
               {"reference", {{"voltage_v", 1.0}, {"clock_hz", 1.7e9}}},
               {"distances",
                {{"engine_to_quadrant_mm", {{5.0, 12.0}, {12.0, 5.0}}}, {"floorplan", "mi210"}}},
               {"target", "gfx90a"},
               {"virtual", false},
               {"energy_fj_per_bit_mm",
                {{"status", "ok"},
                 {"value", 100.0},
                 {"low", 90.0},
                 {"high", 115.0},
                 {"convention", "per_random_bit"}}}}
              .dump());
    fs::create_directory(path("crossings"));
    write("crossings/crossing.json",
          json{{"device", "cuda:0"},
               {"energy_pj_per_bit_crossing",
                {{"status", "ok"}, {"value", 1.0}, {"low", 0.9}, {"high", 1.1}}},
               {"zero_data_pj_per_bit_crossing",
                {{"status", "ok"}, {"value", 0.4}, {"low", 0.3}, {"high", 0.5}}}}
              .dump());
    for (const char* noc : {"3", "4"}) {
      const std::string name = std::string("base") + noc;
      write(name + ".accelwattch", "<component id=\"root\"><param name=\"NOC_A\" value=\"" +
                                       std::string(noc) + "\"/></component>");
      write(name + ".mcpat",
            "<component id=\"system.NoC0\"><stat name=\"total_accesses\" value=\"" +
                std::string(noc) + "\"/></component>");
      write(name + ".rapidchiplet",
            "{\"link_routing\": \"manhattan\", \"bump_pitch\": " + std::string(noc) + "}");
    }
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
  }
  [[nodiscard]] fs::path path(const std::string& name) const { return folder_.path() / name; }

  // Exports with the options that the format needs, and one more.
  [[nodiscard]] Finished exported(const std::string& format, const std::string& model,
                                  Options options, const std::string& more = {},
                                  const std::string& value = {}) const {
    std::vector<std::string> words{wirewatt(), "export", "--to",
                                   format,     "-o",     path("out").string()};
    if (format == "csv") {
      words.push_back(path("campaign").string());
    } else {
      words.insert(words.end(), {"--model", path(model).string()});
    }
    if (!more.empty()) options[more] = value;
    for (const auto& [option, one] : options) {
      words.push_back(option);
      if (!one.empty()) words.push_back(one);
    }
    std::error_code ec;
    fs::remove_all(path("out"), ec);
    return run(words);
  }
  [[nodiscard]] std::string base(const std::string& format, int which = 3) const {
    return path("base" + std::to_string(which) + "." + format).string();
  }
  TemporaryFolder folder_;
};

TEST_F(ExportOptions, EachChangesTheFileOrIsRefused) {
  const std::map<std::string, std::pair<std::string, std::string>> values{
      {"--link-mm", {"2", "2.35"}},
      {"--node", {"22", "32"}},
      {"--card-node", {"12nm", "16nm"}},
      {"--estimator", {"dsent", "dsent-gem5"}},
      {"--flit-bits", {"64", "128"}},
      {"--ports", {"6", "7"}},
      {"--vcs", {"2", "3"}},
      {"--vc-buffer", {"6", "7"}},
      {"--clock", {"1e9", "2e9"}},
      {"--link-load", {"0.5", "0.25"}},
      {"--base", {base("mcpat"), base("mcpat", 4)}},
      {"--pj-per-access", {"2", "3"}}};
  std::map<std::string, std::set<std::string>> taken;  // formats by option
  for (const std::string model : {"wires", "crossings"}) {
    for (const auto& format : kModelFormats) {
      Options needed;
      if (format == "accelwattch" || format == "mcpat") {
        needed = {{"--base", base(format)}, {"--pj-per-access", "5"}};
      }
      if (model == "wires") needed["--card-node"] = "28nm";
      if (model == "wires") needed["--node"] = "22";
      const auto plain = exported(format, model, needed);
      ASSERT_EQ(plain.exit_code, 0) << model << " " << format << plain.err;
      for (const auto& [option, both] : values) {
        const bool is_base = option == "--base" && fs::exists(base(format));
        const auto first =
            exported(format, model, needed, option, is_base ? base(format, 3) : both.first);
        const auto text = text_of(path("out"));
        const auto where = fmt::format("{} {} {}\n{}", model, format, option, first.err);
        if (first.exit_code != 0) {
          EXPECT_EQ(first.exit_code, 2) << where;
          EXPECT_THAT(first.err, HasSubstr(option)) << where;
          continue;
        }
        if (model == "wires") taken[option].insert(format);
        const auto second =
            exported(format, model, needed, option, is_base ? base(format, 4) : both.second);
        EXPECT_EQ(second.exit_code, 0) << where << second.err;
        EXPECT_NE(text_of(path("out")), text) << where;
      }
    }
  }
  // An option that no format takes would not be one.
  for (const auto& [option, both] : values) EXPECT_FALSE(taken[option].empty()) << option;
  EXPECT_EQ(taken["--vc-buffer"], (std::set<std::string>{"accelwattch", "gem5", "mcpat", "noxim"}));
  EXPECT_EQ(taken["--link-load"], std::set<std::string>{"rapidchiplet"});
  for (const auto& [option, both] : values) {
    const auto refused = exported("csv", "", {}, option, both.first);
    EXPECT_EQ(refused.exit_code, 2) << option;
    EXPECT_THAT(refused.err, HasSubstr(option));
  }
}

// The buffer's depth stands in the file, whatever it is: Noxim ends where it finds none.
TEST_F(ExportOptions, NoximsBufferHasTheDepthThatIsGiven) {
  const auto done = exported("noxim", "wires", {{"--flit-bits", "256"}, {"--card-node", "28nm"}},
                             "--vc-buffer", "6");
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(text_of(path("out")), HasSubstr("- [6, 256, "));
  EXPECT_THAT(done.out, HasSubstr("exact keys"));
}

}  // namespace
}  // namespace ww::e2e
