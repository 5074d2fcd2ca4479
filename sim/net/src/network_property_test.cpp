// Every network of the table, and the example of docs/extend.md, over random configurations: every
// packet arrives once and whole, flits and credits are conserved, nothing gets stuck, and two
// identical runs are identical.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "fixed_delay/network.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/traffic.hpp"
#include "ww/sim/net/vc_router_config.hpp"

namespace ww::sim::net {
namespace {

template <class T>
T one_of(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}

int between(int low, int high) {
  return *rc::gen::inRange(low, high + 1);
}

// A value that a row allows. Numbers are mostly near the default and seldom far from it, so that
// runs end: a network whose epochs take a million cycles shows nothing in three hundred.
void draw(const BoundKey& key) {
  const KeyRange& range = key.range;
  const auto number = [&range](double usual) {
    const double spread = std::max(4.0, usual);
    const double low = std::max(range.low, std::floor(usual - spread / 2));
    const double high = std::min(range.high, std::ceil(usual + spread));
    return static_cast<double>(between(static_cast<int>(low), static_cast<int>(high)));
  };
  if (auto* const* value = std::get_if<int*>(&key.field)) {
    **value = static_cast<int>(number(**value));
  } else if (auto* const* flag = std::get_if<bool*>(&key.field)) {
    **flag = one_of({false, true});
  } else if (auto* const* text = std::get_if<std::string*>(&key.field)) {
    std::vector<std::string> choices;
    std::istringstream list{std::string(range.choices)};
    for (std::string choice; std::getline(list >> std::ws, choice, ',');) {
      choices.push_back(choice);
    }
    if (!choices.empty()) {
      **text = *rc::gen::elementOf(choices);
    }
  }  // real numbers and lists keep their defaults
}

void put(NetworkConfig& config, std::string_view key, int value) {
  RC_ASSERT(set_key(config, key, std::to_string(value)).has_value());
}

// Keys that only make sense together: windows that fill a period, periods that fill an epoch.
void draw_windows(NetworkConfig& config) {
  const int window = between(8, 40);
  const int period = config.height * window + between(0, 300);
  put(config, "min_window", window);
  put(config, "period", period);
  put(config, "epoch", period * between(1, 6));
  put(config, "literal_selection", 0);  // it gets stuck, as dapper_test shows
  if (one_of({false, true})) {
    for (int row = 0; row < config.height; ++row) {
      config.memory_nodes.push_back(
          static_cast<NodeId>(row * config.width + between(0, config.width - 1)));
    }
  }
}

// Short epochs, slow tokens, few lasers, and stations anywhere.
void draw_light(NetworkConfig& config) {
  config.concentration = one_of({1, 1, 2, 8});
  config.planes = false;
  config.flit_bits = one_of({64, 128, 256});
  put(config, "optical_mhz", one_of({1400, 5000, 9999}));
  put(config, "power_units", one_of({1, 3, 16, 40}));
  put(config, "laser_epoch", one_of({40, 100, 1000}));
  std::string stations;
  for (int station = 0; station + 1 < config.width * config.height; ++station) {
    if (one_of({false, true})) {
      stations += (stations.empty() ? "" : ",") + std::to_string(station);
    }
  }
  RC_ASSERT(set_key(config, "llc_stations", stations).has_value());
}

// Draws as many nodes as a power of the radix.
void draw_stages(NetworkConfig& config) {
  const int radix = between(2, 4);
  config.width = radix;
  config.height = one_of({1, radix, radix * radix});
  config.concentration = 1;
  put(config, "radix", radix);
}

// A file of routers in a row, some with links over several, and nodes anywhere.
void draw_topology(NetworkConfig& config) {
  const int routers = between(2, 8);
  std::string text = "routers = " + std::to_string(routers) + "\nrouting = \"up-down\"\nnodes = [";
  for (int node = between(2, 9); node > 0; --node) {
    text += std::to_string(between(0, routers - 1)) + ", ";
  }
  text += "]\n";
  for (int router = 1; router < routers; ++router) {
    for (const int other : {router - 1, between(0, router - 1)}) {
      text += "[[link]]\nfrom = " + std::to_string(router) + "\nto = " + std::to_string(other) +
              "\ndelay = " + std::to_string(between(1, 4)) + "\n";
    }
  }
  static const auto scratch = ScratchFolder::create("topology").value();
  const std::string file = scratch.path() / "topology.toml";
  std::ofstream(file) << text;
  RC_ASSERT(set_key(config, "topology", file).has_value());
  RC_ASSERT(set_key(config, "routing", "file").has_value());
}

// Networks whose keys depend on one another; a network without such keys needs no line here.
const std::map<std::string_view, void (*)(NetworkConfig&)>& related_keys() {
  static const std::map<std::string_view, void (*)(NetworkConfig&)> kRelated{
      {"dapper", draw_windows},   {"prior-opt", draw_light}, {"gpuopt", draw_light},
      {"ps-gpuopt", draw_light},  {"fly", draw_stages},      {"fattree", draw_stages},
      {"topology", draw_topology}};
  return kRelated;
}

// Sizes and routers are drawn from the shared keys, and then each key that the network alone has,
// by its row. What does not go together is drawn again, with fewer and fewer changes and from
// larger sizes: the first runs draw the least of a range, where some networks have too few rows or
// VCs.
NetworkConfig any_network(const NetworkKind& kind) {
  for (int attempt = 0; attempt < 200; ++attempt) {
    const int least = 1 + std::min(attempt, 4);
    NetworkConfig config;
    config.network = kind.name;
    config.width = between(2, 6);
    config.height = between(least, 6);
    config.concentration = kind.classes != 0 ? 1 : one_of({1, 1, 2, 3});
    config.classes = kind.classes != 0 ? kind.classes : one_of({1, 2});
    config.planes = one_of({false, false, true});
    config.link_delay = one_of({1, 1, 2, 4});
    config.flit_bits = one_of({64, 128});
    config.count_toggles = one_of({false, true});
    config.expected_load = one_of({0, 1});
    put(config, "router_delay", between(1, 4));
    auto& router = config.own<VcRouterConfig>();
    router.vcs = between(least, 9);
    router.vc_buffer = between(1, 9);
    router.routing_delay = between(0, 3);
    router.vc_alloc_delay = one_of({1, 1, 2});
    router.sw_alloc_delay = one_of({1, 1, 3});
    router.st_delay = one_of({1, 1, 2});
    router.credit_delay = between(0, 3);
    router.speculative = one_of({false, true});
    router.wait_for_tail_credit = one_of({false, true});
    router.vc_allocator = one_of({Allocator::islip, Allocator::separable_input_first});
    router.sw_allocator = one_of({Allocator::islip, Allocator::separable_input_first});
    if (kind.keys != nullptr) {
      BoundKeys own;
      kind.keys(config, own);
      for (const BoundKey& key : own) {
        if (between(0, 2 + attempt / 4) == 0) {
          draw(key);
        }
      }
    }
    // Takes as many flits a port as the credit loop needs, and no masks wider than they are.
    while (router.vcs * router.vc_buffer < credit_loop(router, config.link_delay)) {
      ++router.vc_buffer;
    }
    if (const auto related = related_keys().find(kind.name); related != related_keys().end()) {
      related->second(config);
    }
    if (validate(kind, config)) {
      return *with_size(kind, config);
    }
  }
  RC_FAIL("no configuration of 200 is valid: the rows allow what validate() refuses");
  return {};
}

// Payloads of similar pixels behind a header of 8 bytes that holds the tag; so that packets are
// coalesced and words replaced, and each arrival differs from another's.
constexpr std::size_t kHeader = 8;
std::vector<std::byte> pixels(Random& random, std::uint64_t tag, int flits, int flit_bits) {
  std::vector<std::byte> payload(static_cast<std::size_t>(flits * flit_bits / 8));
  std::memcpy(payload.data(), &tag, sizeof tag);
  for (std::size_t i = kHeader; i < payload.size(); ++i) {
    payload[i] = static_cast<std::byte>(200 + random.below(8));
  }
  return payload;
}

// Pixels of 200 to 207: within a quarter of one another, so approximation keeps them in range.
void check_payload(const Delivery& delivery, const std::vector<std::byte>& sent, bool may_change) {
  RC_ASSERT(delivery.payload.size() == sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const auto now = static_cast<int>(delivery.payload[i]);
    const auto before = static_cast<int>(sent[i]);
    RC_ASSERT(now == before ||
              (may_change && i >= kHeader && std::abs(now - before) * 4 <= before));
  }
}

struct Trace {
  std::vector<std::uint64_t> arrivals;  // tag, cycle, tag, cycle, ...
  bool operator==(const Trace&) const = default;
};

Trace drive(const NetworkKind& kind, const NetworkConfig& config, std::uint64_t seed, double rate,
            int longest) {
  auto made = make_network(kind, config);
  RC_ASSERT(made.has_value());
  Network& network = **made;
  Random random(seed);
  const auto nodes = static_cast<std::uint32_t>(node_count(config));
  std::map<std::uint64_t, Packet> open;
  std::vector<NodeId> destinations;
  std::vector<std::vector<std::byte>> payloads;
  Trace trace;
  std::uint64_t tag = 0;
  for (int cycle = 0; cycle < 300 || !open.empty(); ++cycle) {
    RC_ASSERT(cycle < 2000000);  // one lit waveguide carries the packets of 288 nodes one by one
    for (NodeId node = 0; node < nodes && cycle < 300; ++node) {
      if (random.unit() < rate) {
        const NodeId to = random.below(nodes);
        Packet packet;
        packet.source = node;
        packet.destinations = {&to, 1};
        packet.flits =
            static_cast<std::uint16_t>(1 + random.below(static_cast<std::uint32_t>(longest)));
        packet.message_class =
            static_cast<std::uint8_t>(random.below(static_cast<std::uint32_t>(config.classes)));
        packet.tag = tag;
        packet.created = network.now();
        payloads.push_back(pixels(random, tag, packet.flits, config.flit_bits));
        packet.payload = payloads.back();
        packet.approximable = {WordType::uint8, random.below(2) == 0 ? 0.0 : 0.1, kHeader};
        const Status sent = network.inject(packet);
        if (!sent && sent.error().code == ErrorCode::unsupported) {
          payloads.pop_back();
          RC_ASSERT(kind.only_to_memory);
          continue;  // no link for this pair
        }
        RC_ASSERT(sent.has_value());
        destinations.push_back(to);
        open[tag++] = packet;
      }
    }
    network.tick();
    for (const Delivery& delivery : network.deliveries()) {
      const auto sent = open.find(delivery.tag);
      RC_ASSERT(sent != open.end());  // once
      RC_ASSERT(delivery.source == sent->second.source);
      RC_ASSERT(delivery.destination == destinations[delivery.tag]);
      RC_ASSERT(delivery.flits == sent->second.flits);
      RC_ASSERT(delivery.arrived >= delivery.injected);
      RC_ASSERT(delivery.injected >= delivery.created);
      check_payload(delivery, payloads[delivery.tag], kind.approximates);
      if (sent->second.approximable.threshold == 0) {
        check_payload(delivery, payloads[delivery.tag], false);
      }
      open.erase(sent);
      trace.arrivals.push_back(delivery.tag);
      trace.arrivals.push_back(delivery.arrived.value());
    }
    if (cycle % 64 == 0) {
      const Status conserved = network.check_conservation();
      RC_ASSERT(conserved.has_value());
      // Nothing moves in a deadlock. A node at a saturated ring may wait until what passes it has
      // drained.
      const auto stuck = network.stuck(Cycles{20000});
      RC_ASSERT(!stuck.has_value() || stuck->kind == Stuck::Kind::starvation);
      RC_ASSERT(!network.stuck(Cycles{500000}).has_value());
    }
  }
  RC_ASSERT(network.packets_inside() == 0u);
  for (int i = 0; i < 64; ++i) {
    network.tick();
  }
  RC_ASSERT(network.check_conservation().has_value());
  RC_ASSERT(!network.next_event().has_value());
  const power::NetworkEvents events = network.events();
  RC_ASSERT(events.injected_flits == events.ejected_flits);
  return trace;
}

class EveryNetwork : public testing::TestWithParam<const NetworkKind*> {};

TEST_P(EveryNetwork, DeliversPacketsOnceAndLosesNothing) {
  const NetworkKind& kind = *GetParam();
  EXPECT_TRUE(rc::check(std::string(kind.name) + " delivers packets once and loses nothing", [&] {
    const NetworkConfig config = any_network(kind);
    const auto seed = static_cast<std::uint64_t>(*rc::gen::inRange(0, 1000000));
    const double rate = between(1, 60) / 100.0;
    const int longest = between(1, 9);
    const Trace first = drive(kind, config, seed, rate, longest);
    RC_ASSERT(first == drive(kind, config, seed, rate, longest));
  }));
}

std::string name_of(const testing::TestParamInfo<const NetworkKind*>& info) {
  std::string name(info.param->name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<const NetworkKind*> all_kinds() {
  const auto table = network_kinds();
  std::vector<const NetworkKind*> kinds(table.begin(), table.end());
  kinds.push_back(&examples::kFixedDelay);
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryNetwork, testing::ValuesIn(all_kinds()), name_of);

}  // namespace
}  // namespace ww::sim::net
