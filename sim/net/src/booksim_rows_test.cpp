// Against BookSim 2: the rows of the reference table (recorded with BookSim 2, commit 28f4329, seed
// 1), driven with BookSim's own packets, agree to the last digit that it prints.
// By default a subset that is quick; WW_ALL_ROWS=1 takes all, WW_PRINT_ROWS=1 prints the table.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/run.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::sim::net {
namespace {

struct Row {
  std::map<std::string, std::string> fields;
  [[nodiscard]] double number(const std::string& key) const {
    return std::strtod(fields.at(key).c_str(), nullptr);
  }
  [[nodiscard]] int integer(const std::string& key) const { return static_cast<int>(number(key)); }
  // All that fixes the microarchitecture and the pattern, that is all but the rate.
  [[nodiscard]] std::string group() const {
    std::string text;
    for (const char* key : {"k", "num_vcs", "vc_buf_size", "routing_delay", "sw_allocator",
                            "packet_size", "traffic"}) {
      text += fields.at(key) + " ";
    }
    return text;
  }
};

std::vector<Row> read_rows(const std::string& file) {
  std::ifstream in(file);
  std::vector<Row> rows;
  std::vector<std::string> keys;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') {
      line.pop_back();
    }
    std::istringstream cells(line);
    Row row;
    std::size_t column = 0;
    for (std::string cell; std::getline(cells, cell, ','); ++column) {
      if (rows.empty() && keys.size() <= column && line.rfind("k,", 0) == 0) {
        keys.push_back(cell);
      } else {
        row.fields[keys.at(column)] = cell;
      }
    }
    if (!row.fields.empty()) {
      rows.push_back(row);
    }
  }
  return rows;
}

NetworkConfig network_of(const Row& row) {
  NetworkConfig config;
  config.width = config.height = row.integer("k");
  config.own<VcRouterConfig>().vcs = row.integer("num_vcs");
  config.own<VcRouterConfig>().vc_buffer = row.integer("vc_buf_size");
  config.own<VcRouterConfig>().routing_delay = row.integer("routing_delay");
  config.own<VcRouterConfig>().credit_delay = row.integer("credit_delay");
  config.own<VcRouterConfig>().vc_allocator = *allocator_from_string(row.fields.at("vc_allocator"));
  config.own<VcRouterConfig>().sw_allocator = *allocator_from_string(row.fields.at("sw_allocator"));
  config.expected_load = 1;  // sixteen routers at a time, where the host and the row allow it
  return config;
}

class BooksimRows : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* shared = std::getenv("WW_SHARED_DATA");
    if (shared != nullptr) {
      rows_ = read_rows(std::string(shared) + "/reference/booksim_mesh_curves.csv");
    }
    if (rows_.empty()) {
      GTEST_SKIP() << "no reference/booksim_mesh_curves.csv under WW_SHARED_DATA";
    }
    all_ = std::getenv("WW_ALL_ROWS") != nullptr;
    print_ = std::getenv("WW_PRINT_ROWS") != nullptr;
    // Saturation: what is accepted in overload, or where the first link fills if that is sooner.
    for (const Row& row : rows_) {
      if (is_overload(row)) {
        saturation_[row.group()] =
            std::min(row.number("ideal_sat_flits"), row.number("accepted_flits_per_node_cycle"));
      }
    }
  }
  static bool is_overload(const Row& row) {
    return row.integer("stable") == 1 &&
           row.number("inj_rate_flits") >= row.number("ideal_sat_flits");
  }
  [[nodiscard]] double load(const Row& row) const {
    return row.number("inj_rate_flits") / saturation_.at(row.group());
  }
  // BookSim warms up for three sample periods, measures whole periods, and drains.
  [[nodiscard]] static std::uint64_t period(const Row& row) {
    return row.integer("k") > 4 ? 1500 : 4000;
  }
  static Result<RunResult> simulate(const Row& row, std::uint64_t warmup, std::uint64_t cycles) {
    auto network = make_network(network_of(row));
    if (!network) {
      return tl::unexpected(network.error());
    }
    RunConfig config;
    config.traffic.pattern = *pattern_from_string(row.fields.at("traffic"));
    config.traffic.rate = row.number("inj_rate_flits");
    config.traffic.packet_size = row.integer("packet_size");
    config.traffic.stream = Stream::booksim;
    config.traffic.seed = 1;
    config.warmup = Cycles{warmup};
    config.cycles = Cycles{cycles};
    return run(**network, config);
  }
  static std::string printed(double value) { return fmt::format("{:.6g}", value); }

  std::vector<Row> rows_;
  std::map<std::string, double> saturation_;
  bool all_{};
  bool print_{};
};

TEST_F(BooksimRows, AreReproducedToTheLastDigit) {
  int compared = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    if (row.integer("stable") != 1 || is_overload(row) || (!all_ && i % 9 != 0)) {
      continue;
    }
    const std::uint64_t warmup = 3 * period(row);
    const auto ended = static_cast<std::uint64_t>(row.number("sim_cycles"));
    const std::uint64_t measured = ended / period(row) * period(row) - warmup;
    const auto result = simulate(row, warmup, measured);
    ASSERT_TRUE(result) << result.error().text();
    const std::string name = row.group() + "rate " + row.fields.at("inj_rate_flits");
    if (print_) {
      fmt::print("{:<70} latency {:>8} {:>8}  accepted {:>9} {:>9}  hops {:>7} {:>7}\n", name,
                 row.fields.at("avg_packet_latency"), printed(result->avg_packet_latency),
                 row.fields.at("accepted_flits_per_node_cycle"),
                 printed(result->accepted_flits_per_node_cycle), row.fields.at("hops_avg_routers"),
                 printed(result->avg_hops));
    }
    EXPECT_EQ(printed(result->avg_packet_latency), row.fields.at("avg_packet_latency")) << name;
    EXPECT_EQ(printed(result->avg_network_latency), row.fields.at("avg_network_latency")) << name;
    EXPECT_EQ(printed(result->accepted_flits_per_node_cycle),
              row.fields.at("accepted_flits_per_node_cycle"))
        << name;
    EXPECT_EQ(printed(result->avg_hops), row.fields.at("hops_avg_routers")) << name;
    if (load(row) < 0.95) {
      EXPECT_TRUE(result->stable) << name;
    }
    ++compared;
  }
  fmt::print("{} rows compared\n", compared);
}

// Other microarchitectures and patterns: tests/golden/net/booksim_more.csv, BookSim 2 of the same
// commit with seed 7, three periods of 1000 cycles of warm-up.
TEST(BooksimMore, OtherConfigurationsAreReproducedToTheLastDigit) {
  const char* source = std::getenv("WW_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  const auto rows = read_rows(std::string(source) + "/tests/golden/net/booksim_more.csv");
  ASSERT_GE(rows.size(), 20u);
  for (const Row& row : rows) {
    NetworkConfig network_config = network_of(row);
    network_config.own<VcRouterConfig>().st_delay = row.integer("st_final_delay");
    network_config.own<VcRouterConfig>().speculative = row.integer("speculative") == 1;
    network_config.own<VcRouterConfig>().wait_for_tail_credit =
        row.integer("wait_for_tail_credit") == 1;
    auto network = make_network(network_config);
    ASSERT_TRUE(network) << network.error().text();
    RunConfig config;
    config.traffic.pattern = *pattern_from_string(row.fields.at("traffic"));
    config.traffic.rate = row.number("injection_rate");
    config.traffic.packet_size = row.integer("packet_size");
    config.traffic.stream = Stream::booksim;
    config.traffic.seed = 7;
    config.warmup = Cycles{static_cast<std::uint64_t>(row.integer("warmup"))};
    config.cycles = Cycles{static_cast<std::uint64_t>(row.integer("cycles"))};
    const auto result = run(**network, config);
    ASSERT_TRUE(result) << result.error().text();
    const auto printed = [](double value) { return fmt::format("{:.6g}", value); };
    std::string name;
    for (const auto& [key, value] : row.fields) {
      name += fmt::format("{}={} ", key, value);
    }
    EXPECT_EQ(printed(result->avg_packet_latency), row.fields.at("avg_packet_latency")) << name;
    EXPECT_EQ(printed(result->avg_network_latency), row.fields.at("avg_network_latency")) << name;
    EXPECT_EQ(printed(result->accepted_flits_per_node_cycle),
              row.fields.at("accepted_flits_per_node_cycle"))
        << name;
    EXPECT_EQ(printed(result->avg_hops), row.fields.at("hops_avg_routers")) << name;
  }
}

TEST_F(BooksimRows, OverloadIsAcceptedAlike) {
  int compared = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    if (!is_overload(row) || (!all_ && compared == 8)) {
      continue;
    }
    const auto result = simulate(row, 3 * period(row), 2 * period(row));
    ASSERT_TRUE(result) << result.error().text();
    EXPECT_EQ(printed(result->accepted_flits_per_node_cycle),
              row.fields.at("accepted_flits_per_node_cycle"))
        << row.group();
    EXPECT_FALSE(result->stable);
    ++compared;
  }
  fmt::print("{} rows compared\n", compared);
}

}  // namespace
}  // namespace ww::sim::net
