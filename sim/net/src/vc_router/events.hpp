// The time wheel. Events are words in lists, one list per kind and cycle: idle routers cost
// nothing, and a straight loop over a list mispredicts less than a loop over each router's ports.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "vc_router/flit.hpp"
#include "vc_router/ids.hpp"

namespace ww::sim::net {

// Events of one kind in one cycle. Items beyond `size` are scrap: an event that may not exist is
// written always and counted only if it does, since whatever can be chosen by arithmetic is not
// chosen by a branch.
template <class Item>
class EventList {
 public:
  void make_room(std::size_t items) { items_ = std::make_unique<Item[]>(items + 1); }
  void add(const Item& item, std::uint32_t exists = 1) {
    items_[size_] = item;
    size_ += exists;
  }
  // Room for an item that is written in place.
  [[nodiscard]] Item& add_in_place(std::uint32_t exists) {
    Item& item = items_[size_];
    size_ += exists;
    return item;
  }
  void clear() { size_ = 0; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] const Item& operator[](std::uint32_t n) const { return items_[n]; }
  [[nodiscard]] std::span<Item> items() { return {items_.get(), size_}; }
  [[nodiscard]] std::span<const Item> items() const { return {items_.get(), size_}; }

 private:
  std::unique_ptr<Item[]> items_;
  std::uint32_t size_{};
};

// A flit comes to an input VC. A head comes with it where links are equal: it is written into its
// buffer then.
struct Arrival {
  Channel at;
  Flit head;

  [[nodiscard]] std::uint32_t number() const { return at.number(); }
};

// Flits that come in one cycle, to routers or to nodes.
struct FlitEvents : EventList<Arrival> {
  std::uint64_t visited{};    // routers to which they come, modulo 64; at nodes scrap
  std::uint32_t flits{};      // that come to nodes; at routers scrap
  std::uint64_t revisited{};  // those to which several do

  // `router`: its bit in `visited`.
  void visit(std::uint64_t router) {
    revisited |= visited & router;
    visited |= router;
  }
  void clear_all() {
    clear();
    visited = revisited = 0;
  }
  // A flit comes. At nodes the tails alone are listed.
  void come(Channel at, const Flit& head, std::uint64_t router, std::uint32_t listed) {
    visit(router);
    ++flits;
    add_whole(at, head, listed);
  }
  // Adds the head as a whole: the compiler would take it apart.
  void add_whole(Channel at, const Flit& head, std::uint32_t exists) {
    Arrival& arrival = add_in_place(exists);
    arrival.at = at;
    std::memcpy(&arrival.head, &head, sizeof head);
  }
};

// Events of one cycle.
struct alignas(128) WheelSlot {
  FlitEvents arrivals;               // at input VCs
  FlitEvents ejections;              // at the nodes; those behind local ports listed are tails
  EventList<CreditTo> credits;       // at output VCs: Channel
  EventList<CreditTo> node_credits;  // at the nodes: NodeVc

  [[nodiscard]] bool is_empty() const {
    return (arrivals.size() | credits.size() | node_credits.size() | ejections.size()) == 0 &&
           ejections.flits == 0;
  }
};

class TimeWheel {
 public:
  // `longest`: cycles from now to the latest event that is ever added.
  TimeWheel(int longest, std::size_t port_events, std::size_t node_events)
      : slots_(std::bit_ceil(static_cast<std::size_t>(longest) + 1)), mask_(slots_.size() - 1) {
    for (WheelSlot& slot : slots_) {
      slot.arrivals.make_room(port_events);
      slot.credits.make_room(port_events);
      slot.node_credits.make_room(node_events);
      slot.ejections.make_room(node_events);
    }
  }
  [[nodiscard]] WheelSlot& at(std::int64_t cycle) {
    return slots_[static_cast<std::size_t>(cycle) & mask_];
  }
  [[nodiscard]] const WheelSlot& at(std::int64_t cycle) const {
    return slots_[static_cast<std::size_t>(cycle) & mask_];
  }
  [[nodiscard]] std::size_t size() const { return slots_.size(); }
  [[nodiscard]] const std::vector<WheelSlot>& slots() const { return slots_; }

 private:
  std::vector<WheelSlot> slots_;
  std::size_t mask_;
};

}  // namespace ww::sim::net
