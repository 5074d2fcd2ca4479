// Real bit transitions on the links: the words of each flit against the link's last.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "packet_store.hpp"

namespace ww::sim::net {

class LinkToggles {
 public:
  // `streams`: packets whose flits interleave on the links, one for each VC.
  LinkToggles(std::size_t links, std::size_t streams, int flit_bits)
      : flit_bytes_(static_cast<std::size_t>(flit_bits) / 8),
        last_word_(links * flit_bytes_),
        next_flit_(streams),
        toggles_(links) {}

  // The transitions of this flit, which crosses in `pieces` pieces.
  std::uint64_t count(const PacketStore& store, std::uint32_t packet, bool head, std::size_t link,
                      std::size_t stream, int pieces = 1) {
    std::uint16_t& index = next_flit_[stream];
    if (head) {
      index = 0;
    }
    const std::span wires(&last_word_[link * flit_bytes_],
                          flit_bytes_ / static_cast<std::size_t>(pieces));
    std::uint64_t changed = 0;
    for (int piece = 0; piece < pieces; ++piece) {
      changed += store.drive(store[packet], index * pieces + piece, wires);
    }
    ++index;
    toggles_[link] += changed;
    return changed;
  }
  [[nodiscard]] std::uint64_t of(std::size_t link) const { return toggles_[link]; }

 private:
  std::size_t flit_bytes_;
  std::vector<std::byte> last_word_;      // [link]
  std::vector<std::uint16_t> next_flit_;  // [stream]: the index of its next flit
  std::vector<std::uint64_t> toggles_;    // [link]
};

}  // namespace ww::sim::net
