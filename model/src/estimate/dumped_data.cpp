#include "ww/model/dumped_data.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace ww::model {
namespace {

constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kLineWords = kLineBytes / sizeof(std::uint64_t);
using DumpedLine = std::array<std::uint64_t, kLineWords>;

struct BusCounts {
  double bits{}, toggles{}, adjacent{}, opposite{};
};

// One bus of `words` times 64 wires; wire 0 is the lowest bit of the first word.
class DumpBus {
 public:
  DumpBus(std::size_t words, BusCounts& counts) : words_(words), counts_(counts) {}

  void send(const DumpedLine& line) {
    for (std::size_t from = 0; from < kLineWords; from += words_) beat(&line[from]);
  }

 private:
  void beat(const std::uint64_t* data) {
    if (started_) {
      std::uint64_t toggles = 0;
      std::uint64_t adjacent = 0;
      std::uint64_t opposite = 0;
      for (std::size_t w = 0; w < words_; ++w) {
        const bool last = w + 1 == words_;
        const std::uint64_t changed = data[w] ^ wires_[w];
        const std::uint64_t next_changed = last ? 0 : data[w + 1] ^ wires_[w + 1];
        const std::uint64_t both = changed & (changed >> 1 | next_changed << 63);
        const std::uint64_t unlike = data[w] ^ (data[w] >> 1 | (last ? 0 : data[w + 1]) << 63);
        toggles += static_cast<std::uint64_t>(std::popcount(changed));
        adjacent += static_cast<std::uint64_t>(std::popcount(both));
        opposite += static_cast<std::uint64_t>(std::popcount(both & unlike));
      }
      counts_.bits += static_cast<double>(64 * words_);
      counts_.toggles += static_cast<double>(toggles);
      counts_.adjacent += static_cast<double>(adjacent);
      counts_.opposite += static_cast<double>(opposite);
    }
    std::copy_n(data, words_, wires_.begin());
    started_ = true;
  }

  std::size_t words_;
  BusCounts& counts_;
  DumpedLine wires_{};
  bool started_{};
};

DumpedLine line_of(std::string_view dump, std::size_t index) {
  DumpedLine line;
  std::memcpy(line.data(), dump.data() + index * kLineBytes, kLineBytes);
  return line;
}

}  // namespace

Result<AssumedData> data_of_dumps(std::span<const std::string_view> dumps) {
  constexpr std::array<std::size_t, 2> kBeatWords{4, 8};
  std::array<BusCounts, 2 * kBeatWords.size()> ways;
  std::mt19937_64 random(1);  // any order does: of many lines, all come to the same
  for (const std::string_view dump : dumps) {
    std::vector<std::size_t> order(dump.size() / kLineBytes);
    if (order.size() < 2) continue;
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t way = 0; way < ways.size(); ++way) {
      if (way == kBeatWords.size()) std::ranges::shuffle(order, random);
      DumpBus bus(kBeatWords[way % kBeatWords.size()], ways[way]);
      for (const std::size_t index : order) bus.send(line_of(dump, index));
    }
  }
  if (!(ways.front().bits > 0)) {
    return fail(ErrorCode::bad_data, "the dumps have fewer than two lines of 64 bytes");
  }
  Interval rate{0, ways.front().toggles / ways.front().bits, 0};
  double coupling = 0;
  for (const BusCounts& way : ways) {
    const double here = way.toggles / way.bits;
    rate.value += here / static_cast<double>(ways.size());
    rate.low = std::min(rate.low, here);
    rate.high = std::max(rate.high, here);
    if (way.toggles > 0) {
      coupling +=
          (2 * way.opposite - way.adjacent) / way.toggles / static_cast<double>(ways.size());
    }
  }
  return data_counted_between(rate, coupling);
}

}  // namespace ww::model
