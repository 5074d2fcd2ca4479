// Finds the address bits that choose the L2's channel, from a test of pairs alone.
#pragma once

#include <cstdint>
#include <functional>

#include "ww/core/result.hpp"
#include "ww/microbench/topology.hpp"

namespace ww::microbench {

// Whether two addresses lie on one channel. Addresses are offsets from a base that is aligned to
// the whole range, so that flipping a bit of the offset flips that bit of the address.
using SameChannel = std::function<Result<bool>(std::uint64_t, std::uint64_t)>;

struct AddressRange {
  unsigned lowest_bit{6};    // below it lies one line
  unsigned highest_bit{20};  // within a page of 2 MiB, where virtual and physical bits agree
};

// Tries, in this order: channel numbers that are XORs of address bits (every power of two of
// channels; Gaussian elimination over GF(2), where "same channel" is membership in the kernel),
// then channel = (address / interleave) mod n. Either must predict `checks` random pairs or more,
// half of them on one channel, the rest of every difference between channels; one wrong answer in
// fifty is taken for noise. found = false with a reason where neither does, or where no two
// addresses differ. Errors of `same`.
[[nodiscard]] Result<AddressMap> find_address_map(const SameChannel& same,
                                                  const AddressRange& range, int checks,
                                                  std::uint64_t seed);

}  // namespace ww::microbench
