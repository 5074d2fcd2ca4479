// Bufferless meshes: every flit that enters a router leaves it, if need be the wrong way.
//
// BLESS (Moscibroda and Mutlu, ISCA 2009, FLIT-BLESS with oldest-first): flits choose in order of
// age; each takes a productive port that is free (x first), else any free one. A node injects when
// an input is free and ejects at most one flit a cycle, the oldest.
//
// CHIPPER (Fallin, Craik and Mutlu, HPCA 2011): eject, inject into an empty slot, then a
// permutation network of four two-input sorters: the first two look at N/S against E/W, the last
// two at the final port; in each, the winner steers and the loser takes what is left. A golden flit
// wins; else the lower input. The golden packet's rank (source x slot) changes every epoch.
//
// Packets may arrive flit by flit in any order: the receiver reassembles them (buffers not bounded
// here; the high-water mark is kept). Flits carry their packet, so each is routed on its own.
//
// Livelock: BLESS: the globally oldest flit wins every port it wants, so it moves closer in each
// hop and arrives; then the next one is oldest. Ages are packet sequence numbers: a total order.
// CHIPPER: a golden packet's flits win each sorter against all others; golden ranks come round for
// every packet; an epoch is long enough for a flit to cross the mesh; one golden packet at a time,
// its flits ordered by number. Deadlock: nothing waits inside the network. stuck() watches ages.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "bits.hpp"
#include "impl/networks.hpp"
#include "packet_store.hpp"

namespace ww::sim::net {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};
constexpr int kGoldenSlots = 16;  // packets of one source that can be golden in turn

struct Flying {
  std::uint32_t packet{kNone};
  std::uint16_t index{};
  std::uint16_t hops{};
  std::uint64_t order{};  // packet sequence number, then flit: smaller is older
  std::int64_t since{};   // cycle in which it entered the network
  [[nodiscard]] bool here() const { return packet != kNone; }
};

class Deflection final : public Network {
 public:
  explicit Deflection(const NetworkConfig& config)
      : config_(config),
        chipper_(config.deflection == "chipper"),
        routers_(static_cast<std::uint32_t>(config.width * config.height)),
        hop_(config.router_delay + config.link_delay),
        epoch_(static_cast<std::uint64_t>(config.width + config.height) *
               static_cast<std::uint64_t>(hop_)),
        slots_(std::bit_ceil(static_cast<std::size_t>(hop_ + 1))),
        store_(node_count(config), config.classes),
        flights_(slots_ * routers_ * 4),
        present_(slots_ * words()),
        sent_(routers_),
        last_class_(routers_),
        waiting_(words()),
        link_use_(routers_ * 4),
        ending_(slots_) {
    deliveries_.reserve(routers_);
    for (auto& packets : ending_) {
      packets.reserve(routers_);
    }
    if (config.count_toggles) {
      const std::size_t bytes = static_cast<std::size_t>(config.flit_bits) / 8;
      last_word_.resize(routers_ * 4 * bytes);
      word_.resize(bytes);
      link_toggles_.resize(routers_ * 4);
    }
  }

  [[nodiscard]] const NetworkConfig& config() const override { return config_; }
  [[nodiscard]] Cycles now() const override { return Cycles{static_cast<std::uint64_t>(now_)}; }

  Status inject(const Packet& packet) override {
    WW_TRY(store_.check(packet, now_));
    for (const NodeId destination : packet.destinations) {
      const std::uint32_t index = store_.enqueue(packet, destination);
      if (orders_.size() <= index) {
        orders_.resize(index + 1);
      }
      orders_[index] = sequence_++;
    }
    waiting_[packet.source / 64] |= std::uint64_t{1} << (packet.source % 64);
    return {};
  }

  void tick() override {
    store_.begin_tick();
    deliveries_.clear();
    const std::size_t slot = static_cast<std::size_t>(now_) & (slots_ - 1);
    for (const std::uint32_t index : ending_[slot]) {
      const PacketRecord& record = store_[index];
      const auto hops =
          static_cast<std::uint16_t>((record.hops + record.flits / 2u) / record.flits);
      deliveries_.push_back(store_.deliver(index, now_, hops));
    }
    ending_[slot].clear();
    for (std::size_t word = 0; word < words(); ++word) {
      std::uint64_t& here = present_[slot * words() + word];
      for (std::uint64_t left = here | waiting_[word]; left != 0; left &= left - 1) {
        step(static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(lowest(left)),
             slot);
      }
      here = 0;
    }
    ++now_;
  }

  [[nodiscard]] std::span<const Delivery> deliveries() const override { return deliveries_; }

  [[nodiscard]] std::optional<Cycles> next_event() const override {
    const auto some = [](std::uint64_t word) { return word != 0; };
    if (std::any_of(waiting_.begin(), waiting_.end(), some)) {
      return now();
    }
    for (std::size_t ahead = 0; ahead < slots_; ++ahead) {
      const std::size_t slot = (static_cast<std::size_t>(now_) + ahead) & (slots_ - 1);
      const std::uint64_t* words_here = &present_[slot * words()];
      if (!ending_[slot].empty() || std::any_of(words_here, words_here + words(), some)) {
        return Cycles{static_cast<std::uint64_t>(now_) + ahead};
      }
    }
    return std::nullopt;
  }

  void skip_to(Cycles cycle) override {
    const std::optional<Cycles> next = next_event();
    const Cycles to = next ? std::min(*next, cycle) : cycle;
    if (to > now()) {
      now_ = static_cast<std::int64_t>(to.value());
      deliveries_.clear();
    }
  }

  [[nodiscard]] std::span<const std::uint64_t> waiting_sources() const override { return waiting_; }
  [[nodiscard]] std::uint64_t packets_inside() const override { return store_.inside(); }

  [[nodiscard]] power::NetworkEvents events() const override {
    power::NetworkEvents events;
    events.cycles = static_cast<std::uint64_t>(now_);
    events.routers = routers_;
    const auto width = static_cast<std::uint64_t>(config_.width);
    const auto height = static_cast<std::uint64_t>(config_.height);
    events.links = 2 * ((width - 1) * height + width * (height - 1));
    events.injected_flits = injected_flits_;
    events.ejected_flits = ejected_flits_;
    for (const std::uint64_t flits : link_use_) {
      events.link_flits += flits;
    }
    events.crossbar_flits = events.link_flits + ejected_flits_;
    events.switch_grants = events.crossbar_flits;
    events.toggles_counted = config_.count_toggles;
    for (const std::uint64_t toggles : link_toggles_) {
      events.link_toggles += toggles;
    }
    return events;
  }

  [[nodiscard]] std::vector<LinkUse> link_use() const override {
    std::vector<LinkUse> links;
    for (std::uint32_t router = 0; router < routers_; ++router) {
      for (int port = 0; port < 4; ++port) {
        if (exists(router, port)) {
          const std::size_t link = router * 4 + static_cast<std::size_t>(port);
          links.push_back(LinkUse{router, neighbour(router, port), link_use_[link],
                                  config_.count_toggles ? link_toggles_[link] : 0});
        }
      }
    }
    return links;
  }

  [[nodiscard]] Status check_conservation() const override {
    std::uint64_t flying = 0;
    for (const Flying& flit : flights_) {
      flying += flit.here() ? 1 : 0;
    }
    if (flying + ejected_flits_ != injected_flits_) {
      return fail(ErrorCode::bad_data,
                  fmt::format("{} flits went in, {} came out, {} are under way", injected_flits_,
                              ejected_flits_, flying));
    }
    return {};
  }

  [[nodiscard]] std::optional<Stuck> stuck(Cycles patience) const override {
    const auto limit = static_cast<std::int64_t>(patience.value());
    for (const Flying& flit : flights_) {
      if (flit.here() && now_ - flit.since > limit) {
        return Stuck{Stuck::Kind::livelock,
                     fmt::format("livelock: a flit has been deflected for {} cycles ({} hops)",
                                 now_ - flit.since, flit.hops)};
      }
    }
    if (store_.inside() != 0 && now_ - last_ejection_ > limit) {
      return Stuck{
          Stuck::Kind::livelock,
          fmt::format("livelock: nothing has been ejected for {} cycles", now_ - last_ejection_)};
    }
    return std::nullopt;
  }

 private:
  using Inputs = std::array<Flying, 4>;

  [[nodiscard]] std::size_t words() const { return (routers_ + 63) / 64; }
  [[nodiscard]] int x_of(std::uint32_t router) const {
    return static_cast<int>(router) % config_.width;
  }
  [[nodiscard]] int y_of(std::uint32_t router) const {
    return static_cast<int>(router) / config_.width;
  }
  [[nodiscard]] bool exists(std::uint32_t router, int port) const {
    switch (port) {
      case 0: return x_of(router) + 1 < config_.width;
      case 1: return x_of(router) > 0;
      case 2: return y_of(router) + 1 < config_.height;
      default: return y_of(router) > 0;
    }
  }
  [[nodiscard]] std::uint32_t neighbour(std::uint32_t router, int port) const {
    const auto width = static_cast<std::uint32_t>(config_.width);
    switch (port) {
      case 0: return router + 1;
      case 1: return router - 1;
      case 2: return router + width;
      default: return router - width;
    }
  }

  // Ports that bring a flit nearer, x before y: bits 0-3; 0 at the destination.
  [[nodiscard]] std::uint32_t productive(std::uint32_t router, const Flying& flit) const {
    const std::uint32_t to = store_[flit.packet].destination;
    const int dx = x_of(to) - x_of(router);
    const int dy = y_of(to) - y_of(router);
    return (dx > 0 ? 1u : dx < 0 ? 2u : 0u) | (dy > 0 ? 4u : dy < 0 ? 8u : 0u);
  }

  // The packet whose flits win everywhere in this epoch: one of a source's slots.
  [[nodiscard]] bool golden(const Flying& flit) const {
    const std::uint64_t rank =
        (static_cast<std::uint64_t>(now_) / epoch_) % (std::uint64_t{routers_} * kGoldenSlots);
    const PacketRecord& record = store_[flit.packet];
    return record.source == rank / kGoldenSlots &&
           orders_[flit.packet] % kGoldenSlots == rank % kGoldenSlots;
  }

  void step(std::uint32_t router, std::size_t slot) {
    Flying* arrived = &flights_[(slot * routers_ + router) * 4];
    Inputs inputs;
    for (std::size_t port = 0; port < 4; ++port) {
      inputs[port] = arrived[port];
      arrived[port] = Flying{};
    }
    eject(router, inputs);
    inject_flit(router, inputs);
    if (chipper_) {
      permute(router, inputs);
    } else {
      oldest_first(router, inputs);
    }
  }

  void eject(std::uint32_t router, Inputs& inputs) {
    int chosen = -1;
    for (int port = 0; port < 4; ++port) {
      const Flying& flit = inputs[static_cast<std::size_t>(port)];
      if (flit.here() && store_[flit.packet].destination == router &&
          (chosen < 0 || before(flit, inputs[static_cast<std::size_t>(chosen)]))) {
        chosen = port;
      }
    }
    if (chosen >= 0) {
      arrive(inputs[static_cast<std::size_t>(chosen)]);
      inputs[static_cast<std::size_t>(chosen)] = Flying{};
    }
  }

  // Golden before the rest (CHIPPER), older before younger.
  [[nodiscard]] bool before(const Flying& a, const Flying& b) const {
    if (chipper_) {
      const bool a_golden = golden(a);
      const bool b_golden = golden(b);
      if (a_golden != b_golden) {
        return a_golden;
      }
    }
    return a.order < b.order;
  }

  void arrive(const Flying& flit) {
    PacketRecord& record = store_[flit.packet];
    ++record.arrived_flits;
    record.hops += flit.hops + 1u;
    ++ejected_flits_;
    last_ejection_ = now_;
    if (record.arrived_flits == record.flits) {
      // It still has to pass this router and the link to its node.
      ending_[static_cast<std::size_t>(now_ + hop_) & (slots_ - 1)].push_back(flit.packet);
    }
  }

  // A node sends a flit when an input is free: one per cycle.
  void inject_flit(std::uint32_t router, Inputs& inputs) {
    int ports = 0;
    int flits = 0;
    int free_slot = -1;
    for (int port = 0; port < 4; ++port) {
      const bool here = inputs[static_cast<std::size_t>(port)].here();
      ports += exists(router, port) ? 1 : 0;
      flits += here ? 1 : 0;
      // On the rim only as many flits may stay as there are ways out.
      free_slot = !here && exists(router, port) ? port : free_slot;
    }
    int message_class = static_cast<int>(last_class_[router]);
    std::uint32_t index = kNoPacket;
    if (sent_[router] != 0) {
      index = store_.front(router, message_class);
    } else {
      for (int tried = 0; tried < config_.classes && index == kNoPacket; ++tried) {
        message_class = (message_class + 1) % config_.classes;
        index = store_.front(router, message_class);
      }
    }
    if (index == kNoPacket) {
      return;
    }
    const bool to_itself = store_[index].destination == router;
    if (!to_itself && (flits >= ports || free_slot < 0)) {
      return;
    }
    PacketRecord& record = store_[index];
    last_class_[router] = static_cast<std::uint8_t>(message_class);
    if (sent_[router] == 0) {
      record.injected = now_;
    }
    const Flying flit{index, sent_[router], 0, (orders_[index] << 16) | sent_[router], now_};
    ++injected_flits_;
    if (++sent_[router] == record.flits) {
      sent_[router] = 0;
      store_.pop(router, message_class);
      bool more = false;
      for (int c = 0; c < config_.classes; ++c) {
        more |= store_.front(router, c) != kNoPacket;
      }
      waiting_[router / 64] &= ~(static_cast<std::uint64_t>(!more) << (router % 64));
    }
    if (to_itself) {
      arrive(flit);  // turns round in its own router
    } else {
      inputs[static_cast<std::size_t>(free_slot)] = flit;
    }
  }

  void oldest_first(std::uint32_t router, const Inputs& inputs) {
    std::array<std::size_t, 4> order{};
    std::size_t count = 0;
    for (std::size_t port = 0; port < 4; ++port) {  // insertion sort, oldest first
      if (inputs[port].here()) {
        std::size_t at = count++;
        for (; at > 0 && inputs[port].order < inputs[order[at - 1]].order; --at) {
          order[at] = order[at - 1];
        }
        order[at] = port;
      }
    }
    std::uint32_t free = 0;
    for (int port = 0; port < 4; ++port) {
      free |= exists(router, port) ? 1u << port : 0u;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Flying& flit = inputs[order[i]];
      const std::uint32_t good = productive(router, flit) & free;
      const int port = lowest(good != 0 ? good : free);
      free &= ~(1u << port);
      send(router, port, flit);
    }
  }

  // The permutation network. Inputs 0 (+x), 1 (-x) meet in one sorter, 2 (+y), 3 (-y) in the other;
  // then the x outputs and the y outputs each in one.
  void permute(std::uint32_t router, const Inputs& inputs) {
    std::array<Flying, 2> to_x;
    std::array<Flying, 2> to_y;
    for (std::size_t half = 0; half < 2; ++half) {
      const Flying& a = inputs[2 * half];
      const Flying& b = inputs[2 * half + 1];
      const auto wants_x = [&](const Flying& flit) {
        const std::uint32_t good = productive(router, flit);
        return (good & 3u) != 0 || (good & 12u) == 0;  // at its destination: anywhere
      };
      const bool a_wins = a.here() && (!b.here() || before_in_sorter(a, b));
      const Flying& winner = a_wins ? a : b;
      const Flying& loser = a_wins ? b : a;
      const bool winner_x = winner.here() && wants_x(winner);
      to_x[half] = winner_x ? winner : loser;
      to_y[half] = winner_x ? loser : winner;
    }
    finish(router, to_x, 0);
    finish(router, to_y, 2);
    settle(router);
  }

  [[nodiscard]] bool before_in_sorter(const Flying& a, const Flying& b) const {
    const bool a_golden = golden(a);
    const bool b_golden = golden(b);
    if (a_golden && b_golden) {
      return a.order < b.order;
    }
    return a_golden || !b_golden;  // neither golden: the first input
  }

  void finish(std::uint32_t router, const std::array<Flying, 2>& pair, int first_port) {
    const Flying& a = pair[0];
    const Flying& b = pair[1];
    const bool a_wins = a.here() && (!b.here() || before_in_sorter(a, b));
    const Flying& winner = a_wins ? a : b;
    const Flying& loser = a_wins ? b : a;
    if (!winner.here()) {
      return;
    }
    const std::uint32_t good = productive(router, winner) >> first_port & 3u;
    const int port = good == 2u ? first_port + 1 : first_port;
    out_[static_cast<std::size_t>(port)] = winner;
    out_[static_cast<std::size_t>(port ^ 1)] = loser;
  }

  // On the rim some outputs lead nowhere: their flits take the free ones (CHIPPER turns them back).
  void settle(std::uint32_t router) {
    for (int port = 0; port < 4; ++port) {
      Flying& flit = out_[static_cast<std::size_t>(port)];
      if (!flit.here() || exists(router, port)) {
        continue;
      }
      int choice = -1;
      const std::uint32_t good = productive(router, flit);
      for (int other = 0; other < 4; ++other) {
        if (exists(router, other) && !out_[static_cast<std::size_t>(other)].here() &&
            (choice < 0 || (good >> other & 1u) != 0)) {
          choice = other;
        }
      }
      out_[static_cast<std::size_t>(choice)] = flit;
      flit = Flying{};
    }
    for (int port = 0; port < 4; ++port) {
      Flying& flit = out_[static_cast<std::size_t>(port)];
      if (flit.here()) {
        send(router, port, flit);
        flit = Flying{};
      }
    }
  }

  void send(std::uint32_t router, int port, const Flying& flit) {
    const std::size_t link = router * 4 + static_cast<std::size_t>(port);
    link_use_[link] += 1;
    if (config_.count_toggles) {
      count_toggles(link, flit);
    }
    const std::uint32_t next = neighbour(router, port);
    const std::size_t slot = static_cast<std::size_t>(now_ + hop_) & (slots_ - 1);
    Flying& there = flights_[(slot * routers_ + next) * 4 + static_cast<std::size_t>(port ^ 1)];
    there = flit;
    ++there.hops;
    present_[slot * words() + next / 64] |= std::uint64_t{1} << (next % 64);
  }

  void count_toggles(std::size_t link, const Flying& flit) {
    store_.copy_flit(store_[flit.packet], flit.index, word_.size(), word_.data());
    std::byte* last = &last_word_[link * word_.size()];
    for (std::size_t i = 0; i < word_.size(); ++i) {
      link_toggles_[link] +=
          static_cast<std::uint64_t>(std::popcount(static_cast<std::uint8_t>(last[i] ^ word_[i])));
    }
    std::copy(word_.begin(), word_.end(), last);
  }

  const NetworkConfig config_;
  const bool chipper_;
  const std::uint32_t routers_;
  const int hop_;              // cycles from a router's input to the next one's
  const std::uint64_t epoch_;  // of a golden packet [cycles]: long enough to cross the mesh
  const std::size_t slots_;
  PacketStore store_;
  std::vector<Flying> flights_;         // [slot][router][input port]
  std::vector<std::uint64_t> present_;  // [slot][word]: routers that flits reach
  std::vector<std::uint64_t> orders_;   // [packet]: sequence number
  std::vector<std::uint16_t> sent_;     // [node]: flits of the front packet sent
  std::vector<std::uint8_t> last_class_;
  std::vector<std::uint64_t> waiting_;  // [word]: nodes with something to send
  std::vector<std::uint64_t> link_use_;
  std::vector<std::vector<std::uint32_t>> ending_;  // [slot]: packets whose last flit arrives
  std::vector<Delivery> deliveries_;
  Inputs out_{};
  std::int64_t now_{0};
  std::int64_t last_ejection_{0};
  std::uint64_t sequence_{0};
  std::uint64_t injected_flits_{0};
  std::uint64_t ejected_flits_{0};
  std::vector<std::byte> last_word_;
  std::vector<std::byte> word_;
  std::vector<std::uint64_t> link_toggles_;
};

}  // namespace

std::unique_ptr<Network> make_deflection(const NetworkConfig& config) {
  return std::make_unique<Deflection>(config);
}

}  // namespace ww::sim::net
