// One physical network per message class, side by side: requests and replies share neither links
// nor buffers, so neither waits for the other (Dapper's planes).
#include <algorithm>
#include <utility>

#include "network_base.hpp"
#include "planes.hpp"
#include "reply_buffers.hpp"

namespace ww::sim::net {
namespace {

class Planes final : public NetworkBase {
 public:
  Planes(const NetworkConfig& config, std::vector<std::unique_ptr<Network>> planes)
      : NetworkBase(config), planes_(std::move(planes)), reply_buffers_(config) {}

  [[nodiscard]] Cycles now() const override { return planes_.front()->now(); }

  Status inject(const Packet& packet) override {
    if (packet.message_class >= planes_.size()) {
      return fail(ErrorCode::out_of_range,
                  "message class " + std::to_string(packet.message_class) + " of " +
                      std::to_string(planes_.size()),
                  "packet.message_class");
    }
    Packet inside = packet;
    inside.message_class = 0;
    WW_TRY(planes_[packet.message_class]->inject(inside));
    reply_buffers_.count(packet);
    gather_waiting();
    return {};
  }

  void tick() override {
    deliveries_.clear();
    for (std::size_t plane = 0; plane < planes_.size(); ++plane) {
      planes_[plane]->tick();
      for (Delivery delivery : planes_[plane]->deliveries()) {
        delivery.message_class = static_cast<std::uint8_t>(plane);
        deliveries_.push_back(delivery);
      }
    }
    gather_waiting();
  }

  void draw_from(const std::shared_ptr<Draws>& draws) override {
    for (const auto& plane : planes_) {
      plane->draw_from(draws);
    }
  }

  [[nodiscard]] std::optional<Cycles> next_event() const override {
    std::optional<Cycles> first;
    for (const auto& plane : planes_) {
      const std::optional<Cycles> next = plane->next_event();
      first = !first ? next : next ? std::min(*first, *next) : *first;
    }
    return first;
  }

  [[nodiscard]] std::uint32_t source_queue(NodeId node, std::uint8_t message_class) const override {
    return planes_[message_class]->source_queue(node, 0);
  }
  [[nodiscard]] std::uint64_t packets_inside() const override {
    std::uint64_t inside = 0;
    for (const auto& plane : planes_) {
      inside += plane->packets_inside();
    }
    return inside;
  }

  [[nodiscard]] power::NetworkEvents events() const override {
    power::NetworkEvents all = planes_.front()->events();
    for (std::size_t plane = 1; plane < planes_.size(); ++plane) {
      all += planes_[plane]->events();
    }
    all.reply_buffer_flits = reply_buffers_.flits();
    return all;
  }

  // Parallel links of the planes count as one.
  [[nodiscard]] std::vector<LinkUse> link_use() const override {
    std::vector<LinkUse> all = planes_.front()->link_use();
    for (std::size_t plane = 1; plane < planes_.size(); ++plane) {
      const std::vector<LinkUse> more = planes_[plane]->link_use();
      for (std::size_t link = 0; link < all.size(); ++link) {
        all[link].flits += more[link].flits;
        all[link].toggles += more[link].toggles;
      }
    }
    return all;
  }

  [[nodiscard]] Status check_conservation() const override {
    for (const auto& plane : planes_) {
      WW_TRY(plane->check_conservation());
    }
    return {};
  }

  [[nodiscard]] std::optional<Stuck> stuck(Cycles patience) const override {
    for (const auto& plane : planes_) {
      if (auto why = plane->stuck(patience)) {
        return why;
      }
    }
    return std::nullopt;
  }

 private:
  void skip(Cycles to) override {
    for (const auto& plane : planes_) {
      plane->skip_to(to);
    }
  }
  void gather_waiting() {
    std::fill(waiting_.begin(), waiting_.end(), 0);
    for (const auto& plane : planes_) {
      const auto words = plane->waiting_sources();
      for (std::size_t word = 0; word < waiting_.size(); ++word) {
        waiting_[word] |= words[word];
      }
    }
  }

  std::vector<std::unique_ptr<Network>> planes_;  // [message class]
  ReplyBuffers reply_buffers_;
};

}  // namespace

std::unique_ptr<Network> make_planes(const NetworkConfig& config,
                                     std::vector<std::unique_ptr<Network>> planes) {
  return std::make_unique<Planes>(config, std::move(planes));
}

}  // namespace ww::sim::net
