#include "ww/sweep/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "testing.hpp"
#include "ww/sweep/points.hpp"

namespace ww::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const std::string& text) {
  const auto plan = parse_plan(text, "p.toml");
  return plan ? "no error" : plan.error().text();
}

std::vector<std::string> configurations(const std::string& text) {
  const auto plan = parse_plan(text, "/tmp/p.toml");
  EXPECT_TRUE(plan) << plan.error().text();
  const auto points = Points::expand(*plan, "program", {});
  EXPECT_TRUE(points) << points.error().text();
  std::vector<std::string> all;
  for (std::size_t i = 0; i < points->size(); ++i) all.push_back(points->configuration(i));
  return all;
}

TEST(Plan, CrossesAxesInTheOrderOfTheFileTheLastFastest) {
  EXPECT_THAT(
      configurations("command = \"simulate\"\n[base]\nk = 4\n[axes]\nvcs = [2, 4]\n"
                     "allocator = [\"a\", \"b\"]\n"),
      ElementsAre(R"({"allocator":"a","k":4,"vcs":2})", R"({"allocator":"b","k":4,"vcs":2})",
                  R"({"allocator":"a","k":4,"vcs":4})", R"({"allocator":"b","k":4,"vcs":4})"));
}

TEST(Plan, RangesReadAsTheyWereWritten) {
  EXPECT_THAT(
      configurations("command = \"c\"\n[axes]\nr = { from = 0.1, to = 0.5, step = 0.1 }\n"),
      ElementsAre(R"({"r":0.1})", R"({"r":0.2})", R"({"r":0.3})", R"({"r":0.4})", R"({"r":0.5})"));
  EXPECT_THAT(
      configurations(
          "command = \"c\"\n[axes]\nr = { from = 1, to = 100, count = 3, scale = \"log\" }\n"),
      ElementsAre(R"({"r":1})", R"({"r":10})", R"({"r":100})"));
  EXPECT_THAT(configurations("command = \"c\"\n[axes]\nr = { from = 5, to = 1, step = -2 }\n"),
              ElementsAre(R"({"r":5})", R"({"r":3})", R"({"r":1})"));
}

TEST(Plan, ZippedAxesGoTogether) {
  EXPECT_THAT(configurations("command = \"c\"\n[[zip]]\na = [1, 2]\nb = [\"x\", \"y\"]\n"),
              ElementsAre(R"({"a":1,"b":"x"})", R"({"a":2,"b":"y"})"));
}

TEST(Plan, ConditionsSetVaryAndSkip) {
  EXPECT_THAT(configurations("command = \"c\"\n[axes]\nn = [\"x\", \"y\", \"z\"]\n"
                             "[[when]]\nif = { n = \"y\" }\naxes = { a = [1, 2] }\n"
                             "[[when]]\nif = { a = 2 }\nset = { b = true }\n"
                             "[[when]]\nif = { n = [\"z\"] }\nskip = true\n"),
              ElementsAre(R"({"n":"x"})", R"({"a":1,"n":"y"})", R"({"a":2,"b":true,"n":"y"})"));
}

TEST(Plan, ErrorsNameLineAndKey) {
  EXPECT_THAT(error_of("command = \"c\"\nkommand = 1\n"),
              HasSubstr("p.toml:2: unknown key 'kommand'"));
  EXPECT_THAT(error_of("[axes]\na = [1]\n"), HasSubstr("'command' is missing"));
  EXPECT_THAT(error_of("command = \"c\"\n[axes]\na = []\n"), HasSubstr("p.toml:3: key 'a'"));
  EXPECT_THAT(error_of("command = \"c\"\n[axes]\na = { from = 1 }\n"), HasSubstr("from and to"));
  EXPECT_THAT(error_of("command = \"c\"\n[axes]\na = { from = 1, to = 2, step = -1 }\n"),
              HasSubstr("does not lead"));
  EXPECT_THAT(error_of("command = \"c\"\n[base]\na = 1\n[axes]\na = [1]\n"),
              HasSubstr("'a' is both in [base] and varied"));
  EXPECT_THAT(error_of("command = \"c\"\n[[zip]]\na = [1, 2]\nb = [1]\n"),
              HasSubstr("equally long"));
  EXPECT_THAT(error_of("command = \"c\"\n[[when]]\nif = { a = 1 }\n"), HasSubstr("does nothing"));
  EXPECT_THAT(error_of("command = \"c\"\ntime_limit_s = 0\n"), HasSubstr("time_limit_s"));
  EXPECT_THAT(error_of("command = \n"), HasSubstr("p.toml:1"));
  EXPECT_THAT(error_of("command = \"c\"\n[slurm]\noptions = [\"gpu\"]\n"),
              HasSubstr("--partition"));
}

TEST(Points, BecomeCommandLines) {
  const auto plan = parse_plan(
      "command = \"workloads run\"\n[base]\nsize = \"small\"\nquick = true\noff = false\n"
      "arguments = [\"dct\", \"bfs\"]\ncore-nodes = [0, 1]\nprogram = [\"./a\", \"-x\"]\n",
      "/tmp/p.toml");
  ASSERT_TRUE(plan);
  const auto points = Points::expand(*plan, "program", {});
  ASSERT_TRUE(points) << points.error().text();
  EXPECT_THAT(points->arguments(0),
              ElementsAre("workloads", "run", "--core-nodes=0", "--core-nodes=1", "--quick",
                          "--size=small", "dct", "bfs", "--", "./a", "-x"));
}

TEST(Points, OfOneHashAreComputedOnce) {
  const auto plan =
      parse_plan("command = \"c\"\n[axes]\na = [1, 2, 1.0]\nb = [false]\n", "/tmp/p.toml");
  ASSERT_TRUE(plan);
  const auto points = Points::expand(*plan, "program", {});
  ASSERT_TRUE(points);
  EXPECT_EQ(points->size(), 3U);
  EXPECT_THAT(points->firsts(), ElementsAre(0, 1));
  EXPECT_EQ(points->hash(0), points->hash(2));
}

TEST(Points, AreOthersWithAnotherProgramCommandOrInput) {
  const TestFolder folder;
  const auto file = folder.path() / "p.toml";
  const auto hash_of = [&](const std::string& command, const std::string& program) {
    const auto plan =
        parse_plan("command = \"" + command + "\"\n[base]\nmodel = \"m.json\"\n", file);
    const auto points = Points::expand(*plan, program, {"model"});
    EXPECT_TRUE(points) << points.error().text();
    return points->hash(0);
  };
  std::ofstream(folder.path() / "m.json") << "one";
  const auto first = hash_of("simulate", "p");
  EXPECT_EQ(hash_of("simulate", "p"), first);
  EXPECT_NE(hash_of("simulate", "q"), first);
  EXPECT_NE(hash_of("project", "p"), first);
  std::ofstream(folder.path() / "m.json") << "two";
  EXPECT_NE(hash_of("simulate", "p"), first);
}

// If points were equal, --resume would take results without the keys that the plan now asks for.
TEST(Points, AreOthersWhereOtherPartsOfTheResultAreKept) {
  const auto hash_of = [](const std::string& filter) {
    const auto plan =
        parse_plan("command = \"simulate\"\n" + filter + "[base]\nk = 4\n", "/p.toml");
    EXPECT_TRUE(plan) << plan.error().text();
    return Points::expand(*plan, "program", {})->hash(0);
  };
  const auto all = hash_of("");
  const auto kept = hash_of("keep = [\"a\"]\n");
  EXPECT_NE(kept, all);
  EXPECT_NE(hash_of("keep = [\"b\"]\n"), kept);
  EXPECT_NE(hash_of("timings = [\"a\"]\n"), all);
  EXPECT_NE(hash_of("timings = [\"a\"]\n"), kept);
}

// Settings that may name a file without being a file's option: another content is another point.
TEST(Points, AreOthersWithAnotherContentOfAFileThatADeviceOrAProgramNames) {
  for (const std::string base :
       {"command = \"calibrate\"\n[base]\ndevice = \"virtual:my.toml\"\n",
        "command = \"run\"\n[base]\nprogram = \"./my.toml\"\n",
        "command = \"run\"\n[base]\nprogram = \"true\"\narguments = [\"-i\", \"my.toml\"]\n"}) {
    SCOPED_TRACE(base);
    const TestFolder folder;
    const auto hash_with = [&](const std::string& content) {
      std::ofstream(folder.path() / "my.toml") << content;
      const auto plan = parse_plan(base, folder.path() / "p.toml");
      EXPECT_TRUE(plan) << plan.error().text();
      const auto points = Points::expand(*plan, "program", {});
      EXPECT_TRUE(points) << points.error().text();
      return points->hash(0);
    };
    const auto first = hash_with("a");
    EXPECT_NE(hash_with("b"), first);
    EXPECT_EQ(hash_with("a"), first);
  }
}

TEST(Points, NameAnInputThatIsNotThere) {
  const TestFolder folder;
  const auto plan =
      parse_plan("command = \"simulate\"\n[base]\ntrace = \"no.wwt\"\n", folder.path() / "p.toml");
  const auto points = Points::expand(*plan, "program", {"trace"});
  ASSERT_FALSE(points);
  EXPECT_EQ(points.error().code, ErrorCode::not_found);
  EXPECT_THAT(points.error().text(), HasSubstr("no.wwt"));
}

TEST(Points, HashesReadBack) {
  const PointHash hash{0x0123456789abcdef, 42};
  EXPECT_EQ(*PointHash::from_text(hash.text()), hash);
  EXPECT_FALSE(PointHash::from_text("xyz"));
  EXPECT_FALSE(PointHash::from_text(std::string(31, '0') + "g"));
}

}  // namespace
}  // namespace ww::sweep
