// Against BookSim 2 (commit 28f4329, seed 7, sample periods of 1,000 cycles, three of them to warm
// up, default routers, noc latencies): the rows of tests/golden/net/booksim_topologies.csv agree in
// every digit that it prints. studies/booksim_rows has BookSim's settings and runs the rows again.
// BookSim's names: torus (dim_order), fly (dest_tag), crossbar (a fly of one stage), cmesh
// (dor_no_express, xy_yx_no_express; with express links dor, xy_yx), flatfly (ran_min, xyyx,
// adaptive_xyyx, valiant, ugal), anynet (min), dragonfly (min, ugal), fattree (nca, anca).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/run.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::sim::net {
namespace {

TEST(BooksimTopologies, AreReproducedToTheLastDigit) {
  const char* source = std::getenv("WW_SOURCE_DIR");
  ASSERT_NE(source, nullptr) << "ctest sets WW_SOURCE_DIR";
  const std::string folder = std::string(source) + "/tests/golden/net/";
  std::ifstream in(folder + "booksim_topologies.csv");
  std::string line;
  ASSERT_TRUE(std::getline(in, line));  // the names of the columns
  int compared = 0;
  while (std::getline(in, line)) {
    SCOPED_TRACE(line);
    std::istringstream text(line);
    std::vector<std::string> cells;
    for (std::string cell; std::getline(text, cell, ',');) {
      cells.push_back(cell);
    }
    ASSERT_EQ(cells.size(), 13u);
    NetworkConfig config;
    config.network = cells[0];
    config.width = std::stoi(cells[1]);
    config.height = std::stoi(cells[2]);
    config.concentration = std::stoi(cells[3]);
    config.own<VcRouterConfig>().vcs = std::stoi(cells[5]);
    std::istringstream settings(cells[4]);
    for (std::string setting; settings >> setting;) {
      const std::size_t equals = setting.find('=');
      ASSERT_NE(equals, std::string::npos);
      const std::string key = setting.substr(0, equals);
      const std::string value = setting.substr(equals + 1);
      ASSERT_TRUE(set_key(config, key, key == "topology" ? folder + value : value));
    }
    auto network = make_network(config);
    ASSERT_TRUE(network) << network.error().text();
    RunConfig run_config;
    run_config.traffic.rate = std::stod(cells[7]);
    run_config.traffic.packet_size = std::stoi(cells[6]);
    run_config.traffic.stream = Stream::booksim;
    run_config.traffic.seed = 7;
    run_config.warmup = Cycles{3000};
    run_config.cycles = Cycles{std::stoull(cells[8])};
    const auto result = run(**network, run_config);
    ASSERT_TRUE(result) << result.error().text();
    const auto printed = [](double value) { return fmt::format("{:.6g}", value); };
    EXPECT_EQ(printed(result->avg_packet_latency), cells[9]);
    EXPECT_EQ(printed(result->avg_network_latency), cells[10]);
    EXPECT_EQ(printed(result->accepted_flits_per_node_cycle), cells[11]);
    EXPECT_EQ(printed(result->avg_hops), cells[12]);
    ++compared;
  }
  EXPECT_GE(compared, 156);
}

}  // namespace
}  // namespace ww::sim::net
