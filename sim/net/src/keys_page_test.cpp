// docs/reference/network-keys.md is what the rows of the keys say.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "ww/sim/net/factory.hpp"

namespace ww::sim::net {
namespace {

constexpr const char* kPage = "docs/reference/network-keys.md";
constexpr std::string_view kIntroduction =
    R"(# Keys of a network

This page is for users who want to set up a network for `wirewatt simulate` or for timing mode. It lists every
key with its default, range, unit and source. The tables are made from the rows of the keys in `sim/net`, and
`ww_sim_net_test` checks that they are current.

- On the command line, a key is an option whose name has dashes: `vc_buffer` is `--vc-buffer`.
- In a file of timing settings (`docs/timing.md`), it is a key of the table `[network]`.
- The defaults are those of `wirewatt simulate`, except that its `--classes` is 0: as many as the load needs. Timing
  mode has the same, or those of the network's own paper (`docs/timing.md`).
- The source is that of the default. Sections, tables, figures and equations are those of the network's paper:
  Raparti and Pasricha (NOCS 2018) for dapper, Bashir et al. (GPUOPT) for light. "assumed" means that the paper
  does not say it.
)";
constexpr std::string_view kOthers = "Other keys";
constexpr std::string_view kOthersText =
    R"(
`--k` and `--height` set `width` and `height`. `--allocator` sets both allocators, and `--sw-allocator` sets that of
the switch. `--approx-threshold` sets `error_threshold`, in percent. `--network`, `--classes` and `--memory-nodes` set
the keys of their names. The rest are keys of settings files alone.
)";

std::string range_text(const BoundKey& key) {
  if (!key.range.choices.empty()) {
    return std::string(key.range.choices);
  }
  if (std::holds_alternative<bool*>(key.field)) {
    return "true, false";
  }
  return std::isinf(key.range.low) ? "" : fmt::format("{} to {}", key.range.low, key.range.high);
}

std::string row_text(const BoundKey& key) {
  return fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", key.name, value_text(key.field),
                     range_text(key), key.unit, key.help, key.source);
}

// The tables by heading of the help, in the order in which the rows name them.
std::string page_text() {
  NetworkConfig config = dapper_baseline();  // with which every command begins
  std::vector<std::string_view> headings;
  std::map<std::string_view, std::string> tables;
  for (const BoundKey& key : keys_of(config)) {
    const std::string_view heading = key.group.empty() ? kOthers : key.group;
    std::string& table = tables[heading];
    if (table.empty()) {
      if (heading != kOthers) {
        headings.push_back(heading);
      }
      table = fmt::format("\n## {}\n{}\n", heading, heading == kOthers ? kOthersText : "");
      table += "| key | default | range | unit | what | source |\n|---|---|---|---|---|---|\n";
    }
    table += row_text(key);
  }
  headings.push_back(kOthers);
  std::string page(kIntroduction);
  for (const std::string_view heading : headings) {
    page += tables[heading];
  }
  return page;
}

TEST(KeysPage, SaysWhatTheRowsSay) {
  const char* source = std::getenv("WW_SOURCE_DIR");
  ASSERT_NE(source, nullptr) << "ctest sets WW_SOURCE_DIR";
  std::ifstream file(std::filesystem::path(source) / kPage);
  std::ostringstream page;
  page << file.rdbuf();
  const std::string wanted = page_text();
  if (page.str() == wanted) {
    return;
  }
  const auto made = std::filesystem::path(testing::TempDir()) / "network-keys.md";
  std::ofstream(made) << wanted;
  ADD_FAILURE() << kPage << " is not current: copy " << made << " over it";
}

}  // namespace
}  // namespace ww::sim::net
