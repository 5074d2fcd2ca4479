// Declares what the tests of sweeps share: plans and what became of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "process.hpp"

namespace ww::e2e {

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

inline std::string write_plan(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text;
  return file.string();
}

// A network of 16 nodes: a few milliseconds a point.
inline std::string mesh_plan(int rates, int seeds, const std::string& more = "",
                             const std::string& base = "cycles = 400\n") {
  return more + "command = \"simulate\"\n[base]\nnetwork = \"mesh\"\nk = 4\nwarmup = 100\n" + base +
         "[axes]\nrate = { from = 0.01, to = 0.3, count = " + std::to_string(rates) +
         " }\nseed = { from = 1, to = " + std::to_string(seeds) + ", step = 1 }\n";
}

// The CSV of a sweep: what is to be the same whoever ran it.
inline std::string csv_of(const std::filesystem::path& sweep) {
  const auto file = sweep.parent_path() / (sweep.filename().string() + ".csv");
  const auto shown = run({wirewatt(), "sweep", "show", sweep.string(), "--csv", file.string()});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  return text_of(file);
}

// The cells of a line of CSV.
inline std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

struct Points {
  std::size_t lines{};
  std::map<std::string, int> status;
  std::map<std::string, int> index;  // how often each is there
};

inline Points points_of(const std::filesystem::path& sweep) {
  std::istringstream csv(csv_of(sweep));
  Points points;
  std::string line;
  std::getline(csv, line);
  const auto head = cells_of(line);
  const auto status = std::find(head.begin(), head.end(), "status") - head.begin();
  while (std::getline(csv, line)) {
    const auto cells = cells_of(line);
    ++points.index[cells.at(0)];
    ++points.status[cells.at(static_cast<std::size_t>(status))];
    ++points.lines;
  }
  return points;
}

inline void expect_each_once(const Points& points, std::size_t count) {
  EXPECT_EQ(points.lines, count);
  EXPECT_EQ(points.index.size(), count);
}

}  // namespace ww::e2e
