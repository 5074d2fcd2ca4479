// docs/reference/chip-keys.md is what the rows of the keys say.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "file/truth_keys.hpp"
#include "ww/sim/gpu/architecture_keys.hpp"

namespace ww::sim::gpu {
namespace {

constexpr const char* kPage = "docs/reference/chip-keys.md";
constexpr std::string_view kIntroduction =
    R"(# Keys of a chip file

This page is for users who describe a virtual chip of their own. It lists every key of a chip file
(`sim/gpu/chips`) with its range, unit and meaning. The tables are made from the rows of the keys in
`sim/gpu/data_sheet` and `sim/gpu/truth`, and `truth_keys_page_test` checks that they are current.

- A key is required unless its row says "optional".
- A value outside its range is an error with file, line and key. Both ends of a range are allowed.
- `[architecture]` and `[[dvfs]]` are public: a driver publishes them as the chip's data sheet. All tables after
  them are the sealed truth, which no fit sees.
- The source "dynamic energy", "classes", "ranges", "virtual:rx6800", "virtual:mi300x" or "virtual:mi250x" is that section of
  `docs/virtual-gpu.md`: what a parameter does, or which values are plausible for real chips.
)";

std::vector<TomlKeyText> all_texts() {
  std::vector<TomlKeyText> texts = architecture_key_texts();
  texts.push_back({"", "title", "", "", "Name for people", "", false});
  texts.push_back({"", "chip_class", "", "",
                   "How well the fit's form describes the chip: nested, "
                   "mild or strong",
                   "classes", true});
  texts.push_back(
      {"", "floorplan", "", "",
       "Published floorplan: built in, a file beside this one, or none; without it, the "
       "true geometry is published",
       "", false});
  for (TomlKeyText& text : truth_key_texts()) {
    texts.push_back(std::move(text));
  }
  return texts;
}

std::string page_text() {
  std::vector<std::string> order;
  std::map<std::string, std::string> tables;
  for (const TomlKeyText& key : all_texts()) {
    std::string& table = tables[key.table];
    if (table.empty()) {
      order.push_back(key.table);
      table =
          fmt::format("\n## {}\n\n| key | range | unit | what | source |\n|---|---|---|---|---|\n",
                      key.table.empty() ? "Top of the file" : "`" + key.table + "`");
    }
    table += fmt::format("| `{}` | {} | {} | {}{} | {} |\n", key.name, key.range, key.unit,
                         key.help, key.required ? "" : " (optional)", key.source);
  }
  std::string page(kIntroduction);
  for (const std::string& table : order) {
    page += tables[table];
  }
  return page;
}

TEST(ChipKeysPage, SaysWhatTheRowsSay) {
  const char* source = std::getenv("WW_SOURCE_DIR");
  ASSERT_NE(source, nullptr) << "ctest sets WW_SOURCE_DIR";
  std::ifstream file(std::filesystem::path(source) / kPage);
  std::ostringstream page;
  page << file.rdbuf();
  const std::string wanted = page_text();
  if (page.str() == wanted) {
    return;
  }
  const auto made = std::filesystem::path(testing::TempDir()) / "chip-keys.md";
  std::ofstream(made) << wanted;
  ADD_FAILURE() << kPage << " is not current: copy " << made << " over it";
}

TEST(ChipKeys, HaveOneRowEachWithAHelpText) {
  std::set<std::string> seen;
  for (const TomlKeyText& key : all_texts()) {
    EXPECT_TRUE(seen.insert(key.table + key.name).second) << key.table << " " << key.name;
    EXPECT_FALSE(key.help.empty()) << key.name;
  }
}

}  // namespace
}  // namespace ww::sim::gpu
