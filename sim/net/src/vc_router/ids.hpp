// Index types of virtual-channel routers. A number of one kind cannot index what another kind
// counts, so that a port is never taken for a virtual channel.
#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ww::sim::net {

template <class Tag>
class Index {
 public:
  constexpr Index() = default;
  template <std::integral T>
  constexpr explicit Index(T number) : number_(static_cast<std::uint32_t>(number)) {}
  [[nodiscard]] constexpr std::uint32_t number() const { return number_; }
  constexpr auto operator<=>(const Index&) const =
      default;  // NOLINT(modernize-use-nullptr): its own 0

 private:
  std::uint32_t number_{};
};

using RouterId = Index<struct RouterTag>;
using PortId = Index<struct PortTag>;      // of a router; inputs and outputs share their numbers
using VcId = Index<struct VcTag>;          // of a port
using PortVc = Index<struct PortVcTag>;    // of a router: port * VCs + VC, of inputs or of outputs
using GroupId = Index<struct GroupTag>;    // heads of one group compete for the same VCs
using ClassId = Index<struct ClassTag>;    // message class
using Channel = Index<struct ChannelTag>;  // of the network: a router and its PortVc
using NodeVc = Index<struct NodeVcTag>;    // of the network: a node and the VC of its port
using CreditTo = Index<struct CreditTag>;  // the number of a Channel or a NodeVc

// The index after this one of `count`, cyclically.
template <class Id>
[[nodiscard]] constexpr Id next_in(Id id, std::uint32_t count) {
  const std::uint32_t next = id.number() + 1;
  return Id(next & -static_cast<std::uint32_t>(next != count));
}

// An index in few bytes. `Raw` is no alias of char: as one it could be any object's bytes, and
// every store would make the compiler load all pointers and sizes anew.
template <class Id, class Raw = char8_t>
class Packed {
 public:
  constexpr Packed() = default;
  constexpr Packed(Id id) : raw_(static_cast<Raw>(id.number())) {}
  constexpr operator Id() const { return Id(static_cast<std::uint32_t>(raw_)); }

  [[nodiscard]] static constexpr Packed none() {
    Packed packed{};
    packed.raw_ = kNone;
    return packed;
  }
  [[nodiscard]] constexpr bool is_none() const { return raw_ == kNone; }
  constexpr void clear_if(bool condition) {
    raw_ = static_cast<Raw>(raw_ | (condition ? kNone : Raw{0}));
  }

 private:
  static constexpr Raw kNone = std::numeric_limits<Raw>::max();
  Raw raw_;  // none of its own, so that arrays need not be cleared
};

// A small count, or a position that runs freely and wraps.
class SmallCount {
 public:
  constexpr SmallCount() = default;
  constexpr explicit SmallCount(int value) : value_(static_cast<char8_t>(value)) {}
  constexpr operator std::uint32_t() const { return value_; }
  constexpr std::uint32_t operator++() { return ++value_; }
  constexpr std::uint32_t operator--() { return --value_; }
  // How far this position is ahead of an earlier one.
  [[nodiscard]] constexpr std::uint32_t since(SmallCount earlier) const {
    return static_cast<char8_t>(value_ - earlier.value_);
  }

 private:
  char8_t value_{};
};

template <class Id, class T, int kRoom>
class IdArray {
 public:
  [[nodiscard]] constexpr T& operator[](Id id) { return items_[id.number()]; }
  [[nodiscard]] constexpr const T& operator[](Id id) const { return items_[id.number()]; }
  constexpr void fill(const T& value) { items_.fill(value); }

 private:
  std::array<T, static_cast<std::size_t>(kRoom)> items_{};
};

template <class Id, class T>
class IdVector {
 public:
  IdVector() = default;
  explicit IdVector(std::size_t size, const T& value = T{}) : items_(size, value) {}
  [[nodiscard]] T& operator[](Id id) { return items_[id.number()]; }
  [[nodiscard]] const T& operator[](Id id) const { return items_[id.number()]; }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  void push_back(const T& value) { items_.push_back(value); }
  [[nodiscard]] T* data() { return items_.data(); }
  [[nodiscard]] auto begin() { return items_.begin(); }
  [[nodiscard]] auto end() { return items_.end(); }
  [[nodiscard]] auto begin() const { return items_.begin(); }
  [[nodiscard]] auto end() const { return items_.end(); }

 private:
  std::vector<T> items_;
};

}  // namespace ww::sim::net
