// The random numbers that BookSim 2 draws for a seed, so that our packets can be its packets.
//
// BookSim 2 uses Knuth's lagged-Fibonacci generators (The Art of Computer Programming, vol. 2, 3rd
// ed., section 3.6, equation 15 and exercises 15-16): integers modulo 2^30 by subtraction and
// fractions modulo 1 by addition (here: integers modulo 2^52), of each 1009 numbers the first 100.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "ww/sim/net/draws.hpp"

namespace ww::sim::net {

class KnuthSequence {
 public:
  enum class Kind { integers, fractions };
  KnuthSequence(Kind kind, std::uint32_t seed);

  static constexpr int kUsed = 100;
  using Numbers = std::array<std::uint64_t, kUsed>;
  // The next 100 numbers that BookSim 2 would use: below 2^30, or below 2^52.
  [[nodiscard]] const Numbers& refill();

 private:
  // The state `count` numbers later.
  void advance(int count);
  [[nodiscard]] std::uint64_t combine(std::uint64_t a, std::uint64_t b) const;

  Kind kind_;
  std::uint64_t mask_;
  Numbers state_{};  // the last 100 numbers
  Numbers used_{};
};

// Coins of one probability and integers, each in BookSim's order.
class BooksimStream final : public Draws {
 public:
  BooksimStream(std::uint32_t seed, double probability);

  // Draws coins until one is a hit, `most` at most (and at least one); returns how many were drawn
  // before the hit, or `most` when there was none.
  std::uint64_t misses(std::uint64_t most) {
    std::uint64_t drawn = 0;
    while (drawn < most) {
      if (left_ == 0) {
        refill_window();
      }
      const int taken = static_cast<int>(
          std::min<std::uint64_t>(static_cast<std::uint64_t>(left_), most - drawn));
      const std::uint64_t seen = window_ << (64 - taken);  // the coins at hand, at the top
      if (seen != 0) {
        const int before = __builtin_ctzll(window_);
        drop(before + 1);
        return drawn + static_cast<std::uint64_t>(before);
      }
      drop(taken);
      drawn += static_cast<std::uint64_t>(taken);
    }
    return most;
  }
  // `count` coins (at most 64), the first in bit 0.
  std::uint64_t coins(int count);
  // Uniform in [0, bound), as BookSim's RandomInt(bound - 1).
  std::uint32_t below(std::uint32_t bound) override { return next_integer() % bound; }
  std::uint32_t next_integer() {
    if (next_integer_ == KnuthSequence::kUsed) {
      numbers_ = &integers_.refill();
      next_integer_ = 0;
    }
    return static_cast<std::uint32_t>((*numbers_)[static_cast<std::size_t>(next_integer_++)]);
  }

 private:
  void refill_window();
  void drop(int count) {
    window_ = count == 64 ? 0 : window_ >> count;
    left_ -= count;
  }

  KnuthSequence fractions_;
  KnuthSequence integers_;
  std::uint64_t threshold_;  // a fraction is a hit when it is below
  std::uint64_t window_{};   // the next coins
  int left_{};               // coins left in the window
  std::uint64_t second_{};   // the coins after the first 64 of a refill
  bool has_second_{};
  const KnuthSequence::Numbers* numbers_{};
  int next_integer_{KnuthSequence::kUsed};
};

}  // namespace ww::sim::net
