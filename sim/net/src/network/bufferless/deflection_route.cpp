// Routes flits in a bufferless router.
#include <algorithm>
#include <bit>

#include "bits.hpp"
#include "network/bufferless/deflection.hpp"

namespace ww::sim::net {
namespace {

constexpr int kGoldenSlots = 16;  // packets of one source that can be golden in turn

}  // namespace

// Ports that bring a flit nearer, x before y: bits 0-3; 0 at the destination.
std::uint32_t Deflection::productive(std::uint32_t router, const Flying& flit) const {
  const std::uint32_t to = goal(flit);
  const int dx = x_of(to) - x_of(router);
  const int dy = y_of(to) - y_of(router);
  return (dx > 0 ? 1u : dx < 0 ? 2u : 0u) | (dy > 0 ? 4u : dy < 0 ? 8u : 0u);
}

bool Deflection::golden(const Flying& flit) const {
  const std::uint64_t rank =
      (static_cast<std::uint64_t>(now_) / epoch_) % (std::uint64_t{routers_} * kGoldenSlots);
  const PacketRecord& record = store_[flit.packet];
  return record.source == rank / kGoldenSlots &&
         orders_[flit.packet] % kGoldenSlots == rank % kGoldenSlots;
}

bool Deflection::before(const Flying& a, const Flying& b) const {
  if (chipper_) {
    const bool a_golden = golden(a);
    const bool b_golden = golden(b);
    if (a_golden != b_golden) {
      return a_golden;
    }
  }
  return a.order < b.order;
}

void Deflection::oldest_first(std::uint32_t router, const Inputs& inputs) {
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

void Deflection::permute(std::uint32_t router, const Inputs& inputs) {
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

bool Deflection::before_in_sorter(const Flying& a, const Flying& b) const {
  const bool a_golden = golden(a);
  const bool b_golden = golden(b);
  if (a_golden && b_golden) {
    return a.order < b.order;
  }
  return a_golden || !b_golden;  // neither golden: the first input
}

void Deflection::finish(std::uint32_t router, const std::array<Flying, 2>& pair, int first_port) {
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

void Deflection::settle(std::uint32_t router) {
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

void Deflection::send(std::uint32_t router, int port, const Flying& flit) {
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

void Deflection::count_toggles(std::size_t link, const Flying& flit) {
  const std::size_t bytes = static_cast<std::size_t>(config_.flit_bits) / 8;
  link_toggles_[link] +=
      store_.drive(store_[flit.packet], flit.index, std::span(&last_word_[link * bytes], bytes));
}

}  // namespace ww::sim::net
