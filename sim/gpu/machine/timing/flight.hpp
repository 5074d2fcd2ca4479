// Requests under way between an L1 and a memory node, and their replies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine/compute_unit/compute_unit.hpp"
#include "machine/compute_unit/memory_operation.hpp"

namespace ww::sim::gpu::timing {

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

// A datum of Dapper's replies (NOCS 2018, section V.A).
inline constexpr std::size_t kDatumBytes = 8;

// A load that joined another's request for the same line.
struct Joined {
  exec::MemoryOperation* operation{};
  std::uint64_t lanes{};
  std::int64_t departure{};  // core cycles
  std::uint32_t line{};
  std::uint32_t next{kNone};
};

// Data that a flight brings back, from the time at which its memory node serves it.
struct Cargo {
  std::array<std::byte, 128> data;  // of a read's lines, when they were served
  // A reply in data of 64 bits, by bit: those that were sent, that have arrived.
  std::uint8_t sent_data{};
  std::uint8_t arrived_data{};
  std::array<std::byte, 64> delivered;
  std::vector<std::uint32_t> others;  // cores whose copies a store or an atomic made invalid
};

// Thousands wait in the L1s, and each cycle touches others: one of the host's lines each.
struct alignas(64) Flight {
  exec::MemoryOperation* operation{};
  std::uint64_t lanes{};     // as in exec::Request
  std::int64_t departure{};  // from the L1, core cycles of the launch
  std::uint32_t line{};
  std::uint32_t sequence{};                // of the core's requests to this memory node
  std::uint32_t l1_slot[2]{kNone, kNone};  // of the line, of the pair's other one
  std::uint32_t joined{kNone};             // first load that joined
  std::uint32_t next[2]{kNone, kNone};     // waiter for the same L2 fill, by line of the pair
  std::uint32_t cargo{kNone};              // once it has one
  std::uint16_t core{};
  std::uint16_t memory{};
  std::uint8_t waits{};  // L2 fills that the reply waits for
  exec::Request::Kind kind{};
  bool fills : 1 {};           // the L1 slots
  bool pair : 1 {};            // reads both lines of the aligned pair
  bool brings_line : 1 {};     // a store's reply: its L1 has to get the rest of the line
  bool approximable : 1 {};    // a read of lines whose bytes may change
  std::uint8_t wanted_data{};  // of a reply in data of 64 bits, by bit

  [[nodiscard]] bool is_read() const {
    return kind == exec::Request::Kind::read || kind == exec::Request::Kind::scalar;
  }
  // Whether the reply comes as data of 64 bits; wanted_data says which.
  [[nodiscard]] bool in_data() const { return wanted_data != 0; }
  [[nodiscard]] std::uint32_t lines() const { return pair ? 2 : 1; }
  [[nodiscard]] std::uint32_t first_line() const { return pair ? line & ~1U : line; }
  [[nodiscard]] std::size_t bytes() const { return lines() * exec::kLineBytes; }
};
static_assert(sizeof(Flight) == 64);

// Slots are reused: memory grows with what is under way.
template <class Item>
class Pool {
 public:
  std::uint32_t take() {
    if (free_.empty()) {
      items_.emplace_back();
      return static_cast<std::uint32_t>(items_.size() - 1);
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  void give_back(std::uint32_t index) { free_.push_back(index); }
  void clear() {
    items_.clear();
    free_.clear();
  }
  Item& operator[](std::uint32_t index) { return items_[index]; }
  const Item& operator[](std::uint32_t index) const { return items_[index]; }

 private:
  std::vector<Item> items_;
  std::vector<std::uint32_t> free_;
};

// Flights, and the cargo of those that were served.
class Flights {
 public:
  std::uint32_t take() { return flights_.take(); }
  void give_back(std::uint32_t index) {
    if (flights_[index].cargo != kNone) {
      cargo_.give_back(flights_[index].cargo);
      flights_[index].cargo = kNone;
    }
    flights_.give_back(index);
  }
  void clear() {
    flights_.clear();
    cargo_.clear();
  }
  Flight& operator[](std::uint32_t index) { return flights_[index]; }
  const Flight& operator[](std::uint32_t index) const { return flights_[index]; }
  // Returns the flight's cargo; it is empty at first, but for the bytes.
  Cargo& load(Flight& flight) {
    if (flight.cargo == kNone) {
      flight.cargo = cargo_.take();
      Cargo& cargo = cargo_[flight.cargo];
      cargo.sent_data = cargo.arrived_data = 0;
      cargo.others.clear();
    }
    return cargo_[flight.cargo];
  }
  // Cargo of a flight that has one.
  [[nodiscard]] Cargo& cargo(const Flight& flight) { return cargo_[flight.cargo]; }
  // Prefetches a flight's cargo, if it has any, which is read soon.
  void expect_cargo(const Flight& flight) const {
    if (flight.cargo == kNone) return;
    const Cargo& cargo = cargo_[flight.cargo];
    __builtin_prefetch(cargo.data.data());
    __builtin_prefetch(cargo.data.data() + 64);
    __builtin_prefetch(&cargo.sent_data);
  }

 private:
  Pool<Flight> flights_;
  Pool<Cargo> cargo_;
};

// First in, first out, without allocation once it has grown.
template <class Item>
class Fifo {
 public:
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] Item& front() { return items_[head_]; }
  [[nodiscard]] const Item& front() const { return items_[head_]; }
  void push(const Item& item) {
    if (count_ == items_.size()) grow();
    items_[(head_ + count_++) & (items_.size() - 1)] = item;
  }
  void pop() {
    head_ = (head_ + 1) & (items_.size() - 1);
    --count_;
  }
  void clear() { head_ = count_ = 0; }

 private:
  void grow() {
    std::vector<Item> larger(items_.empty() ? 16 : 2 * items_.size());
    for (std::size_t i = 0; i < count_; ++i) larger[i] = items_[(head_ + i) & (items_.size() - 1)];
    items_ = std::move(larger);
    head_ = 0;
  }
  std::vector<Item> items_;  // a power of two of them
  std::size_t head_{};
  std::size_t count_{};
};

}  // namespace ww::sim::gpu::timing
