// Reads arbitrary bytes as a topology, in either form. They give an error or a graph whose routes
// can be checked, and never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "network/graph/topologies.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace graph = ww::sim::net::graph;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto& topology : {graph::topology_of_toml(text, "fuzzed", "file"),
                               graph::topology_of_anynet(text, "fuzzed", "up-down")}) {
    if (!topology || topology->wiring.routers > 64) continue;
    for (const auto& link : topology->wiring.links) {
      if (link.to.number() >= topology->wiring.routers || link.delay < 1) std::abort();
    }
    if (!graph::check_routes(*topology) && topology->wiring.terminals.size() < 2) std::abort();
  }
  return 0;
}
