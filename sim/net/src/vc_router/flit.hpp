// A flit in a buffer, and the buffers themselves.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vc_router/ids.hpp"

namespace ww::sim::net {

// Finds the destination's router; the routing writes it into a head: coordinates, or a number.
struct Place {
  char8_t x{};
  char8_t y{};
  bool operator==(const Place&) const = default;
};

class Flit {
 public:
  Flit() = default;
  Flit(std::uint32_t packet, ClassId message_class, bool head, bool tail)
      : packet_(packet),
        flags_(static_cast<char8_t>((head ? kHead : 0u) | (tail ? kTail : 0u) |
                                    message_class.number() << kClassShift)) {}

  // The destination; meaningful in the head. `phase` is the routing's own, 0 to 15.
  void address(Place to, PortId port, std::uint32_t phase) {
    to_ = to;
    port_ = port;
    set_phase(phase);
  }
  void set_phase(std::uint32_t phase) {
    flags_ = static_cast<char8_t>((flags_ & ~(kPhaseMask << kPhaseShift)) | phase << kPhaseShift);
  }

  // Lets it stand for the flits behind the head from now on.
  void end_head() { flags_ = static_cast<char8_t>(flags_ & ~kHead); }

  [[nodiscard]] std::uint32_t packet() const { return packet_; }
  [[nodiscard]] Place to() const { return to_; }
  [[nodiscard]] PortId port() const { return port_; }  // local port at the destination's router
  [[nodiscard]] bool is_head() const { return (flags_ & kHead) != 0; }
  [[nodiscard]] bool is_tail() const { return (flags_ & kTail) != 0; }
  [[nodiscard]] ClassId message_class() const { return ClassId(flags_ >> kClassShift); }
  [[nodiscard]] std::uint32_t phase() const { return flags_ >> kPhaseShift & kPhaseMask; }

 private:
  static constexpr std::uint32_t kHead = 1;
  static constexpr std::uint32_t kTail = 2;
  static constexpr int kPhaseShift = 2;
  static constexpr std::uint32_t kPhaseMask = 0xF;
  static constexpr int kClassShift = 6;  // the two bits that are left

  std::uint32_t packet_{};
  Place to_;
  Packed<PortId> port_{PortId{}};
  char8_t flags_{};
};
static_assert(sizeof(Flit) == 8);

// The buffers of all input VCs, a ring each. A flit is written once, into the ring of the input VC
// that will hold it, when it wins the switch upstream (its credit is the room it takes); an arrival
// event makes it visible later.
class FlitRings {
 public:
  FlitRings(std::size_t channels, int buffer)
      : shift_(static_cast<int>(std::bit_width(static_cast<unsigned>(buffer - 1)))),
        mask_((1u << shift_) - 1),
        flits_(channels << shift_),
        write_(channels) {}

  [[nodiscard]] Flit& at(Channel channel, SmallCount position) {
    return flits_[(std::size_t{channel.number()} << shift_) + (position & mask_)];
  }
  // `exists`: as EventList::add(); there must be room even if it does not.
  void push(Channel channel, const Flit& flit, bool exists = true) {
    SmallCount& write = write_[channel];
    at(channel, write) = flit;
    write = SmallCount(static_cast<int>(write + static_cast<std::uint32_t>(exists)));
  }
  // Where the next flit of a channel will be written.
  [[nodiscard]] SmallCount written(Channel channel) const { return write_[channel]; }

  void fetch_for_read(Channel channel, SmallCount position) {
    __builtin_prefetch(&at(channel, position));
  }
  void fetch_for_write(Channel channel) {
    __builtin_prefetch(&write_[channel]);
    __builtin_prefetch(&flits_[std::size_t{channel.number()} << shift_]);
  }

 private:
  int shift_;
  std::uint32_t mask_;
  std::vector<Flit> flits_;  // [channel][ring], padded to powers of two
  IdVector<Channel, SmallCount> write_;
};

}  // namespace ww::sim::net
