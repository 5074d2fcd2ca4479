// A network of one's own: every packet arrives a fixed number of cycles after its injection.
#include <deque>

#include "network.hpp"
#include "packet_store.hpp"

namespace ww::examples {
namespace {

using namespace ww::sim::net;

// Its own settings, and one row for each: the command line, files and checks read the row.
struct FixedDelayConfig {
  int fixed_delay{10};
};

constexpr Key<FixedDelayConfig> kFixedDelayKeys[] = {
    {"fixed_delay", &FixedDelayConfig::fixed_delay, between(1, 1000, "a wire takes a cycle"),
     "cycles", "Network", "fixed-delay: time from injection to arrival", ""},
};

void fixed_delay_keys(NetworkConfig& config, BoundKeys& keys) {
  bind_rows<FixedDelayConfig>(config.own<FixedDelayConfig>(), kFixedDelayKeys, keys);
}

class FixedDelay final : public Network {
 public:
  explicit FixedDelay(const NetworkConfig& config)
      : config_(config),
        delay_(config.own<FixedDelayConfig>().fixed_delay),
        store_(node_count(config), config.classes),
        waiting_(static_cast<std::size_t>(node_count(config) + 63) / 64) {}

  const NetworkConfig& config() const override { return config_; }
  Cycles now() const override { return Cycles{static_cast<std::uint64_t>(now_)}; }

  Status inject(const Packet& packet) override {
    WW_TRY(store_.check(packet, now_));
    for (const NodeId destination : packet.destinations) {
      const std::uint32_t index = store_.enqueue(packet, destination);
      store_.pop(packet.source, packet.message_class);  // nothing ever waits
      store_[index].injected = now_;
      under_way_.push_back({now_ + delay_, index});
      events_.injected_flits += packet.flits;
      events_.link_flits += packet.flits;
    }
    return {};
  }

  void tick() override {
    store_.begin_tick();
    deliveries_.clear();
    while (!under_way_.empty() && under_way_.front().arrival == now_) {
      const std::uint32_t index = under_way_.front().packet;
      under_way_.pop_front();
      events_.ejected_flits += store_[index].flits;
      store_.deliver(index, now_, 1, deliveries_);
    }
    ++now_;
  }

  std::span<const Delivery> deliveries() const override { return deliveries_; }
  std::optional<Cycles> next_event() const override {
    if (under_way_.empty()) {
      return std::nullopt;
    }
    return Cycles{static_cast<std::uint64_t>(under_way_.front().arrival)};
  }
  void skip_to(Cycles cycle) override {
    const auto next = next_event();
    const Cycles to = next ? std::min(*next, cycle) : cycle;
    if (to <= now()) {
      return;
    }
    now_ = static_cast<std::int64_t>(to.value());
    deliveries_.clear();
  }
  std::span<const std::uint64_t> waiting_sources() const override { return waiting_; }
  std::uint32_t source_queue(NodeId, std::uint8_t) const override { return 0; }
  std::uint64_t packets_inside() const override { return store_.inside(); }
  sim::power::NetworkEvents events() const override {
    auto events = events_;
    events.cycles = static_cast<std::uint64_t>(now_);
    return events;
  }
  std::vector<LinkUse> link_use() const override { return {}; }
  Status check_conservation() const override {
    if (store_.inside() == under_way_.size()) {
      return {};
    }
    return fail(ErrorCode::bad_data, "a packet is neither under way nor delivered");
  }
  std::optional<Stuck> stuck(Cycles) const override { return std::nullopt; }

 private:
  struct UnderWay {
    std::int64_t arrival;
    std::uint32_t packet;
  };
  const NetworkConfig config_;
  const std::int64_t delay_;
  PacketStore store_;
  std::vector<std::uint64_t> waiting_;
  std::deque<UnderWay> under_way_;  // in order of arrival, since the delay is one and the same
  Deliveries deliveries_;
  sim::power::NetworkEvents events_;
  std::int64_t now_{};
};

std::unique_ptr<Network> make_fixed_delay(const NetworkConfig& config) {
  return std::make_unique<FixedDelay>(config);
}

// The rows have said it all: no key depends on another.
Status validate_fixed_delay(const NetworkConfig&) {
  return {};
}

}  // namespace

const NetworkKind kFixedDelay{.name = "fixed-delay",
                              .make = make_fixed_delay,
                              .validate = validate_fixed_delay,
                              .keys = fixed_delay_keys};

}  // namespace ww::examples
