// Dapper's data approximator (Raparti and Pasricha, NOCS 2018, algorithm 1): which packets of a
// memory controller's output buffer may leave as one.
//
// Algorithm 1 as printed takes the difference without its absolute value (any larger datum passes),
// divides by zero, skips the entry that moves up after an erase, and sends a packet that is not
// approximable twice (lines 6 and 21). Here the evident intent is done; `literal` keeps the missing
// absolute value and the skipped entries, which change results. A division by zero never passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ww/sim/net/i_network.hpp"

namespace ww::sim::net {

// A packet that waits: its data (headers left out) and what may be done to it.
struct Waiting {
  Approximable how{};  // threshold as it counts, type exact: not to be coalesced
  std::uint16_t flits{};
  std::span<const std::byte> data;
};

struct ApproximatorWork {
  std::uint64_t leader_words{};    // whose error range was computed
  std::uint64_t words_compared{};  // it stops at the first that is too far off
};

// True if every word of `other` may be replaced with the leader's: |leader - other| / |leader| <
// threshold, or equal words and a threshold above 0. The error is relative to the leader, as
// printed; relative to the datum that is replaced it may reach threshold / (1 - threshold).
//   int32, uint8  as numbers; a leader of 0 stands for 0 only
//   float32       same sign and exponent; the error is that of the mantissas with their leading 1,
//                 so that of the values; zeros, subnormals, infinities and NaN stand for themselves
// Bytes that do not fill a word must be equal; so must the sizes.
[[nodiscard]] bool may_replace(WordType type, double threshold, std::span<const std::byte> leader,
                               std::span<const std::byte> other, bool literal,
                               ApproximatorWork& work);

// Positions in `buffer` (front first) of the packets that leave with the front; never the front
// itself. The first `check_depth` entries are looked at, the front included; a threshold is the
// smaller of the two packets'; type, flits and size must agree. `literal` skips the entry behind
// each one taken, and so looks further.
void choose_followers(std::span<const Waiting> buffer, int check_depth, bool literal,
                      std::vector<std::uint32_t>& followers, ApproximatorWork& work);

}  // namespace ww::sim::net
