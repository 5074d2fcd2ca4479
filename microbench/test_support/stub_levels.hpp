// The memory hierarchy of a stub card: an L1 for each SM, one L2, memory behind it. Every access of
// the PTX machine goes through it, takes as long as the level that answers, and costs what all
// levels on its way cost.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx_machine.hpp"
#include "stub_card.hpp"

namespace ww::microbench::testing {

// Lines by their number; the one that was not used for longest goes first.
class StubCache {
 public:
  explicit StubCache(std::uint64_t bytes);
  struct Looked {
    bool hit{};
    bool dirty_left{};   // a line that was written has made room
    double ones_left{};  // share of ones in it
  };
  // A line that is not there comes, where `allocates`. Where `writes`, it is dirty from then on.
  Looked look(std::uint64_t line, bool allocates, bool writes = false, double ones = 0);
  void clear();

 private:
  static constexpr std::size_t kWays = 16;
  struct Way {
    std::uint64_t line{~std::uint64_t{0}};
    std::uint64_t used{};
    double ones{};
    bool dirty{};
  };
  std::size_t sets_;
  std::vector<Way> ways_;
  std::uint64_t now_{};
};

class StubLevels {
 public:
  explicit StubLevels(const StubCard& card);
  struct Taken {
    std::uint32_t ticks{};
    double joules{};
  };
  Taken take(const PtxAccess& access, PtxMemory& memory);
  // A launch finds nothing in an L1.
  void begin_launch();

 private:
  [[nodiscard]] double of_bits(double joules_per_bit, double bits, double ones) const;
  Taken take_line(const PtxAccess& access, std::uint64_t line, double ones);
  const StubCard& card_;
  std::vector<StubCache> l1_;
  StubCache l2_;
};

}  // namespace ww::microbench::testing
