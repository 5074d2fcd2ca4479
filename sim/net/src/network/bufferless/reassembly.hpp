// Places flits that come in any order into a bufferless network's receivers: some packets a node.
//
// Retransmit-Once (CHIPPER, section 5): a flit that finds no buffer for its packet is dropped, and
// the packet noted. Buffers that come free go to noted packets, first come first served; only then
// are the dropped flits asked for, and what is sent again or still under way finds its buffer. A
// flit that has reached its receiver thus always leaves the network: partly arrived packets cannot
// fill it up and keep out the flits that they wait for. Each flit is sent twice at most. The sender
// keeps a packet until all of it has been taken.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace ww::sim::net {

class Reassembly {
 public:
  Reassembly(std::uint32_t nodes, int buffers)
      : free_(nodes, static_cast<std::uint32_t>(buffers)), noted_(nodes) {}

  // A flit of a packet of several has reached its node: false when it is dropped.
  bool take(std::uint32_t node, std::uint32_t packet, std::uint16_t flit) {
    if (states_.size() <= packet) {
      states_.resize(packet + 1);
      dropped_.resize(packet + 1);
    }
    State& state = states_[packet];
    if (state == State::unknown && free_[node] != 0) {
      --free_[node];
      state = State::held;
    }
    if (state == State::held) {
      return true;
    }
    if (state == State::unknown) {
      state = State::noted;
      noted_[node].push_back(packet);
    }
    dropped_[packet].push_back(flit);
    return false;
  }

  // All flits of a packet have been taken. Gives the packet that its buffer goes to, if one was
  // noted: its dropped flits are to be asked for.
  std::optional<std::uint32_t> complete(std::uint32_t node, std::uint32_t packet) {
    states_[packet] = State::unknown;
    dropped_[packet].clear();
    if (noted_[node].empty()) {
      ++free_[node];
      return std::nullopt;
    }
    const std::uint32_t next = noted_[node].front();
    noted_[node].pop_front();
    states_[next] = State::held;
    return next;
  }

  // Flits of a packet that were dropped; final once it has a buffer.
  [[nodiscard]] const std::vector<std::uint16_t>& dropped(std::uint32_t packet) const {
    return dropped_[packet];
  }

 private:
  enum class State : std::uint8_t { unknown, held, noted };

  std::vector<std::uint32_t> free_;                  // [node]: buffers
  std::vector<std::deque<std::uint32_t>> noted_;     // [node]: packets that wait for a buffer
  std::vector<State> states_;                        // [packet]
  std::vector<std::vector<std::uint16_t>> dropped_;  // [packet]
};

}  // namespace ww::sim::net
