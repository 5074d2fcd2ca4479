#include "channels/address_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "ww/core/split_mix.hpp"

namespace ww::microbench {
namespace {

constexpr std::size_t kMaxDimensions = 8;  // 256 channels
constexpr int kMaxModulo = 256;
constexpr double kNeededShare = 0.98;

// The bits whose channels are independent, and every other bit as a sum of those.
struct Basis {
  std::vector<unsigned> bits;
  std::vector<std::uint64_t> masks;  // of each independent bit: all bits that contain it

  [[nodiscard]] std::uint64_t address(std::uint64_t combination) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      if ((combination >> i & 1) != 0) sum |= std::uint64_t{1} << bits[i];
    }
    return sum;
  }
};

// Returns nothing where there are more channels than are looked for.
Result<std::optional<Basis>> eliminate(const SameChannel& same, const AddressRange& range) {
  Basis basis;
  for (unsigned bit = range.lowest_bit; bit <= range.highest_bit; ++bit) {
    const std::uint64_t flipped = std::uint64_t{1} << bit;
    std::optional<std::uint64_t> equal;
    for (std::uint64_t sum = 0; sum < std::uint64_t{1} << basis.bits.size(); ++sum) {
      WW_ASSIGN(alike, same(flipped, basis.address(sum)));
      if (!alike) continue;
      equal = sum;
      break;
    }
    if (!equal) {
      if (basis.bits.size() == kMaxDimensions) return std::optional<Basis>();
      basis.bits.push_back(bit);
      basis.masks.push_back(flipped);
      continue;
    }
    for (std::size_t i = 0; i < basis.bits.size(); ++i) {
      if ((*equal >> i & 1) != 0) basis.masks[i] |= flipped;
    }
  }
  return std::optional<Basis>(std::move(basis));
}

int difference(const AddressMap& map, std::uint64_t first, std::uint64_t second) {
  const int a = map.channel_of(first);
  const int b = map.channel_of(second);
  if (map.form == AddressMap::Form::xor_of_bits) return a ^ b;
  return (b - a + map.channels) % map.channels;
}

// Checks a map on random pairs.
class MapCheck {
 public:
  MapCheck(const SameChannel& same, const AddressRange& range, SplitMix& random)
      : same_(same),
        random_(random),
        keep_(~((std::uint64_t{1} << range.lowest_bit) - 1) &
              ((std::uint64_t{2} << range.highest_bit) - 1)) {}

  // Sets the share of pairs that the map predicts, and how many those were: `checks` or more, half
  // of them on one channel as it says. The others take every difference of two channels in turn.
  // Among pairs at random, a map with twice the channels would be right but for a few. So a
  // difference that turns out to be none, twice of three times, makes the share 0.
  Status check(AddressMap& map, int checks) {
    const int apart = std::max(checks / 2, map.channels - 1);
    int right = 0;
    for (int i = 0; i < checks / 2; ++i) {
      WW_ASSIGN(alike, is_same(map, 0));
      right += alike ? 1 : 0;
    }
    for (int i = 0; i < apart; ++i) {
      const int channels = 1 + i % (map.channels - 1);
      WW_ASSIGN(alike, is_same(map, channels));
      right += alike ? 0 : 1;
      if (!alike) continue;
      WW_ASSIGN(second, is_same(map, channels));
      WW_ASSIGN(third, is_same(map, channels));
      if (second || third) {
        map.predicted_share = 0;
        map.pairs = checks / 2 + i + 1;
        return {};
      }
    }
    map.pairs = checks / 2 + apart;
    map.predicted_share = static_cast<double>(right) / map.pairs;
    return {};
  }

 private:
  // Asks about a random pair whose channels differ by so much.
  Result<bool> is_same(const AddressMap& map, int channels) {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    do {
      first = random_.next() & keep_;
      second = random_.next() & keep_;
    } while (difference(map, first, second) != channels);
    return same_(first, second);
  }

  const SameChannel& same_;
  SplitMix& random_;
  std::uint64_t keep_;
};

AddressMap xor_map(const Basis& basis) {
  AddressMap map;
  map.form = AddressMap::Form::xor_of_bits;
  map.channels = 1 << basis.bits.size();
  map.interleave_bytes = std::int64_t{1} << basis.bits.front();
  map.masks = basis.masks;
  return map;
}

}  // namespace

int AddressMap::channel_of(std::uint64_t address) const {
  if (form == Form::modulo) {
    return static_cast<int>(address / static_cast<std::uint64_t>(interleave_bytes) %
                            static_cast<std::uint64_t>(channels));
  }
  int channel = 0;
  for (std::size_t i = 0; i < masks.size(); ++i) {
    channel |= (std::popcount(address & masks[i]) & 1) << i;
  }
  return channel;
}

Result<AddressMap> find_address_map(const SameChannel& same, const AddressRange& range, int checks,
                                    std::uint64_t seed) {
  SplitMix random(seed);
  AddressMap none;
  const auto accept = [&](AddressMap map) -> Result<std::optional<AddressMap>> {
    WW_TRY(MapCheck(same, range, random).check(map, checks));
    map.found = map.predicted_share >= kNeededShare;
    if (map.found) return std::optional<AddressMap>(std::move(map));
    none.predicted_share = std::max(none.predicted_share, map.predicted_share);
    none.pairs = map.pairs;
    return std::optional<AddressMap>();
  };
  WW_ASSIGN(basis, eliminate(same, range));
  if (basis && basis->bits.empty()) {
    none.reason =
        "no two addresses within 2 MiB behave differently: one channel, or its interleave "
        "is larger";
    return none;
  }
  if (basis) {
    WW_ASSIGN(map, accept(xor_map(*basis)));
    if (map) return *map;
  }
  // The lowest bit that matters is the interleave under either form.
  const unsigned first = basis ? basis->bits.front() : range.lowest_bit;
  for (unsigned bit = first; bit < range.highest_bit; ++bit) {
    const std::uint64_t interleave = std::uint64_t{1} << bit;
    WW_ASSIGN(neighbours, same(0, interleave));
    if (neighbours) continue;
    const std::uint64_t span = std::uint64_t{2} << range.highest_bit;
    for (int n = 2; n <= kMaxModulo && static_cast<std::uint64_t>(n) * interleave < span; ++n) {
      WW_ASSIGN(again, same(0, static_cast<std::uint64_t>(n) * interleave));
      if (!again) continue;
      AddressMap modulo;
      modulo.form = AddressMap::Form::modulo;
      modulo.channels = n;
      modulo.interleave_bytes = static_cast<std::int64_t>(interleave);
      WW_ASSIGN(map, accept(std::move(modulo)));
      if (map) return *map;
      break;
    }
    break;
  }
  none.reason = fmt::format(
      "neither an XOR of address bits nor a remainder foretells the pairs "
      "(best: {:.0f}% of {})",
      100 * none.predicted_share, none.pairs);
  return none;
}

}  // namespace ww::microbench
