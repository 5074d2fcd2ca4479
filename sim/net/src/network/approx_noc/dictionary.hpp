// DI-VAXX (Approx-NoC, ISCA 2017): words that a receiver has seen often, known to its sender too
// (adaptive dictionaries, Jin et al., MICRO 2008), matched but for the bits that do not matter.
//
// A receiver counts the words that come uncompressed; one seen twice becomes an entry, in place of
// the one least used. It notifies the sender in the header of its next packet to it; until that has
// arrived the sender goes on with what it knows, and the receiver keeps what it replaced for the
// packets already under way. (The paper's text is not at hand; this much is our choice.)
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "network/approx_noc/bit_writer.hpp"

namespace ww::sim::net {

// A sender's dictionary for one receiver.
class EncoderDictionary {
 public:
  explicit EncoderDictionary(int entries) : entries_(static_cast<std::size_t>(entries)) {}

  struct Hit {
    std::uint32_t index{};
    std::uint32_t value{};
  };
  // The entry equal to `word`, or else the first that differs from it in bits of `free` alone.
  [[nodiscard]] std::optional<Hit> find(std::uint32_t word, std::uint32_t free) const;
  void set(std::uint32_t index, std::uint32_t value) { entries_[index] = {value, true}; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::uint32_t value{};
    bool valid{};
  };
  std::vector<Entry> entries_;
};

// A receiver's counts of one sender's words.
class DecoderDictionary {
 public:
  explicit DecoderDictionary(int entries) : entries_(static_cast<std::size_t>(entries)) {}

  struct Update {
    std::uint32_t index{};
    std::uint32_t value{};
  };
  // A word that came uncompressed; an update when its entry is one to send back. Words that differ
  // in bits of `free` alone count as one: the first that came.
  std::optional<Update> see(std::uint32_t word, std::uint32_t free);
  // A word that came as an index.
  void use(std::uint32_t index);

 private:
  struct Entry {
    std::uint32_t value{};
    std::uint32_t count{};
    bool announced{};
  };
  void count(Entry& entry);
  std::vector<Entry> entries_;
};

}  // namespace ww::sim::net
