// A network that writes down what it is given.
#include <fmt/format.h>

#include <fstream>
#include <optional>
#include <unordered_map>

#include "packet_trace/text.hpp"
#include "ww/core/owned_file.hpp"
#include "ww/sim/net/packet_trace.hpp"

namespace ww::sim::net {
namespace {

class RecordingNetwork final : public Network {
 public:
  RecordingNetwork(std::unique_ptr<Network> network, std::ofstream file, std::string name,
                   const std::string& producer)
      : network_(std::move(network)),
        file_(std::move(file)),
        name_(std::move(name)),
        newest_(static_cast<std::size_t>(node_count(network_->config()))) {
    const NetworkConfig& config = network_->config();
    file_ << fmt::format("{} {} {} {} {}\n", kPacketTraceMark, node_count(config), config.classes,
                         config.flit_bits, producer);
  }

  [[nodiscard]] const NetworkConfig& config() const override { return network_->config(); }
  [[nodiscard]] Cycles now() const override { return network_->now(); }

  Status inject(const Packet& packet) override {
    Packet numbered = packet;
    numbered.tag = next_;
    WW_TRY(network_->inject(numbered));
    TracedPacket traced;
    traced.cycle = network_->now().value();
    traced.source = packet.source;
    traced.destinations.assign(packet.destinations.begin(), packet.destinations.end());
    traced.message_class = packet.message_class;
    traced.kind = packet.kind;
    traced.flits = packet.flits;
    traced.approximable = packet.approximable;
    traced.payload.assign(packet.payload.begin(), packet.payload.end());
    if (const Arrival* arrival = cause_of(packet)) {
      traced.after = {arrival->packet};
      traced.gap = traced.cycle - arrival->cycle;
    }
    file_ << packet_line(traced) << '\n';
    if (!file_) return fail(ErrorCode::io_error, "cannot be written; is the disk full?", name_);
    under_way_[next_++] = {packet.tag, packet.destinations.size()};
    return {};
  }

  void tick() override {
    network_->tick();
    deliveries_.assign(network_->deliveries().begin(), network_->deliveries().end());
    for (Delivery& delivery : deliveries_) {
      const auto found = under_way_.find(delivery.tag);
      const Arrival arrival{delivery.tag, network_->now().value()};
      const std::uint64_t tag = found->second.tag;
      newest_[delivery.destination] = arrival;
      // A request's tag may be used again once it was answered, so that replies have none here.
      if (!is_reply(delivery.kind)) requests_[{delivery.destination, tag}] = arrival;
      if (--found->second.copies == 0) under_way_.erase(found);
      delivery.tag = tag;
    }
    // A driver may never destroy its networks: what a launch sent is in the file when it ends.
    if (!deliveries_.empty() && under_way_.empty()) file_.flush();
  }
  [[nodiscard]] std::span<const Delivery> deliveries() const override { return deliveries_; }
  [[nodiscard]] std::optional<Cycles> next_event() const override { return network_->next_event(); }
  void skip_to(Cycles cycle) override { network_->skip_to(cycle); }
  [[nodiscard]] std::span<const std::uint64_t> waiting_sources() const override {
    return network_->waiting_sources();
  }
  [[nodiscard]] std::uint32_t source_queue(NodeId node, std::uint8_t message_class) const override {
    return network_->source_queue(node, message_class);
  }
  [[nodiscard]] std::uint64_t packets_inside() const override { return network_->packets_inside(); }
  [[nodiscard]] power::NetworkEvents events() const override { return network_->events(); }
  [[nodiscard]] std::vector<LinkUse> link_use() const override { return network_->link_use(); }
  [[nodiscard]] Status check_conservation() const override {
    return network_->check_conservation();
  }
  [[nodiscard]] std::optional<Stuck> stuck(Cycles patience) const override {
    return network_->stuck(patience);
  }

 private:
  struct Arrival {
    std::uint64_t packet{};
    std::uint64_t cycle{};  // the first in which the node can act on it
  };
  struct UnderWay {
    std::uint64_t tag{};  // the caller's
    std::size_t copies{};
  };
  struct NodeAndTag {
    NodeId node{};
    std::uint64_t tag{};
    bool operator==(const NodeAndTag&) const = default;
  };
  struct Hash {
    std::size_t operator()(const NodeAndTag& key) const {
      return std::hash<std::uint64_t>{}(key.tag * 0x9E3779B97F4A7C15ULL ^ key.node);
    }
  };

  // Returns the cause of a packet: for a reply the request with its tag that came to its source,
  // for any other packet the newest arrival there.
  const Arrival* cause_of(const Packet& packet) {
    if (is_reply(packet.kind)) {
      const auto request = requests_.find({packet.source, packet.tag});
      if (request != requests_.end()) {
        answered_ = request->second;
        requests_.erase(request);
        return &answered_;
      }
    }
    const auto& newest = newest_[packet.source];
    return newest ? &*newest : nullptr;
  }

  std::unique_ptr<Network> network_;
  std::ofstream file_;
  std::string name_;
  std::uint64_t next_{};
  std::unordered_map<std::uint64_t, UnderWay> under_way_;   // by number
  std::vector<std::optional<Arrival>> newest_;              // [node]
  std::unordered_map<NodeAndTag, Arrival, Hash> requests_;  // that came and were not answered
  Arrival answered_;
  std::vector<Delivery> deliveries_;
};

}  // namespace

Result<std::unique_ptr<Network>> record_packets(std::unique_ptr<Network> network,
                                                const std::filesystem::path& file,
                                                const std::string& producer) {
  WW_TRY(refuse_owned_database(file));
  std::ofstream out(file);
  if (!out) return fail(ErrorCode::io_error, "cannot be written", file.string());
  return std::make_unique<RecordingNetwork>(std::move(network), std::move(out), file.string(),
                                            producer);
}

}  // namespace ww::sim::net
