// Over random configurations: every packet arrives once and whole, flits and credits are conserved,
// nothing gets stuck, and two identical runs are identical.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/traffic.hpp"

namespace ww::sim::net {
namespace {

template <class T>
T one_of(std::initializer_list<T> values) {
  return *rc::gen::elementOf(std::vector<T>(values));
}

int between(int low, int high) {
  return *rc::gen::inRange(low, high + 1);
}

NetworkConfig any_light(NetworkConfig config) {
  config.width = between(2, 6);
  config.height = between(1, 6);
  config.concentration = one_of({1, 1, 2, 8});
  config.classes = one_of({1, 2});
  config.flit_bits = one_of({64, 128, 256});
  PhotonicConfig& keys = config.photonic;
  keys.station_queue = one_of({1, 2, 16});
  keys.cluster_delay = between(1, 3);
  keys.optical_mhz = one_of({1400, 5000, 9999});
  keys.power_units = one_of({1, 3, 16, 40});
  keys.max_grab = one_of({1, 2, 16});
  keys.hold_messages = one_of({1, 4, 100});
  keys.grab_cycles = between(0, 3);
  keys.reservation_cycles = between(0, 3);
  keys.backoff_loops = between(1, 3);
  keys.backoff_doublings = between(0, 5);
  keys.epoch = one_of({40, 100, 1000});
  keys.unit_cap = between(1, 7);
  keys.predictor = one_of<std::string>({"hybrid", "flex", "restr", "perfect"});
  keys.flex_literal = one_of({false, true});
  for (int station = 0; station + 1 < config.width * config.height; ++station) {
    if (one_of({false, true})) {
      keys.llc_stations.push_back(static_cast<std::uint32_t>(station));
    }
  }
  return config;
}

NetworkConfig any_network() {
  NetworkConfig config;
  config.network = one_of<std::string>({"mesh", "mesh", "mesh-adaptive", "mesh-priority",
                                        "mesh-bufferless", "ideal", "dapper", "dapper",
                                        "approx-noc", "prior-opt", "gpuopt", "ps-gpuopt"});
  if (is_photonic(config.network)) {
    return any_light(std::move(config));
  }
  const bool bufferless = config.network == "mesh-bufferless";
  const bool dapper = config.network == "dapper";
  config.width = between(2, 6);
  config.height = between(bufferless ? 2 : 1, 6);
  config.concentration = dapper ? 1 : one_of({1, 1, 2, 3});
  config.classes = dapper ? 2 : one_of({1, 2});
  config.planes = one_of({false, false, true});
  const int fewest = config.classes * (config.network == "mesh-adaptive" ? 2 : 1);
  config.vcs = between(fewest, 9);
  config.vc_buffer = between(1, 9);
  config.routing_delay = between(0, 3);
  config.vc_alloc_delay = one_of({1, 1, 2});
  config.sw_alloc_delay = one_of({1, 1, 3});
  config.st_delay = one_of({1, 1, 2});
  config.credit_delay = between(0, 3);
  config.link_delay = one_of({1, 1, 2, 4});
  config.speculative = one_of({false, true});
  config.wait_for_tail_credit = one_of({false, true});
  config.vc_allocator = one_of({Allocator::islip, Allocator::separable_input_first});
  config.sw_allocator = one_of({Allocator::islip, Allocator::separable_input_first});
  config.router_delay = between(1, 4);
  config.reassembly_buffers = one_of({1, 2, 16});
  config.adaptive = one_of<std::string>({"dyxy", "rca"});
  config.deflection = one_of<std::string>({"chipper", "bless"});
  config.flit_bits = one_of({64, 128});
  config.count_toggles = one_of({false, true});
  config.overlay.check_depth = between(1, 9);
  config.overlay.min_window = between(8, 40);
  config.overlay.period = config.height * config.overlay.min_window + between(0, 300);
  config.overlay.epoch = config.overlay.period * between(1, 6);
  config.overlay.setup = between(0, 3);
  config.overlay.approximator_delay = between(0, 4);
  config.overlay.literal_approximator = one_of({false, false, true});
  config.compression.scheme = one_of<std::string>({"di", "fp"});
  config.compression.compress_delay = between(0, 4);
  config.compression.decompress_delay = between(0, 4);
  config.compression.dictionary_entries = one_of({1, 2, 8});
  if (dapper && one_of({false, true})) {
    for (int row = 0; row < config.height; ++row) {
      config.memory_nodes.push_back(
          static_cast<NodeId>(row * config.width + between(0, config.width - 1)));
    }
  }
  // As many flits a port as the credit loop needs, and no masks wider than they are.
  while (config.vcs * config.vc_buffer < credit_loop(config)) {
    ++config.vc_buffer;
  }
  return config;
}

// Payloads of similar pixels behind a header of 8 bytes that holds the tag; so that packets are
// coalesced and words replaced, and each arrival can be told from another's.
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

Trace drive(const NetworkConfig& config, std::uint64_t seed, double rate, int longest) {
  auto made = make_network(config);
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
          continue;  // prior-opt has no link for this pair
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
      check_payload(delivery, payloads[delivery.tag],
                    config.network == "dapper" || config.network == "approx-noc");
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
      RC_ASSERT(!network.stuck(Cycles{20000}).has_value());
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

TEST(NetworkProperties, PacketsArriveOnceAndNothingIsLost) {
  EXPECT_TRUE(rc::check("packets arrive once and nothing is lost", [] {
    const NetworkConfig config = any_network();
    const auto seed = static_cast<std::uint64_t>(*rc::gen::inRange(0, 1000000));
    const double rate = between(1, 60) / 100.0;
    const int longest = between(1, 9);
    const Trace first = drive(config, seed, rate, longest);
    RC_ASSERT(first == drive(config, seed, rate, longest));
  }));
}

}  // namespace
}  // namespace ww::sim::net
