#include "booksim_stream.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>

#include "ww/core/vector_limit.hpp"

namespace ww::sim::net {
namespace {

constexpr int kLong = 100;
constexpr int kShort = 37;
constexpr int kSeparation = 70;  // streams of different seeds are 2^70 numbers apart

// The sequence is laid out in blocks of 37, the short lag, each in a row of its own: x[j-37] is
// then the same place of the row before, and x[j-100] lies two or three rows before. Four rows do.
constexpr int kRow = 40;
constexpr int kSplit = kLong - 2 * kShort;  // from here on x[j-100] is in the row two before

using BookSimRing = std::array<std::array<std::uint64_t, kRow>, 4>;

// Fills rows first ... last of the sequence, each in place row % 4; the first one from `from` on.
template <bool kAdd>
void fill_rows(BookSimRing& ring, std::size_t first, std::size_t last, int from,
               std::uint64_t mask) {
  for (std::size_t row = first; row <= last; ++row, from = 0) {
    std::uint64_t* now = ring[row % 4].data();
    const std::uint64_t* one = ring[(row + 3) % 4].data();  // before
    const std::uint64_t* two = ring[(row + 2) % 4].data();
    const std::uint64_t* three = ring[(row + 1) % 4].data();
    for (int i = from; i < kShort; ++i) {
      const std::uint64_t distant = i < kSplit ? three[i + kShort - kSplit] : two[i - kSplit];
      now[i] = (kAdd ? distant + one[i] : distant - one[i]) & mask;
    }
  }
}

// Bit i: numbers[i] < threshold; at most 64 numbers below 2^53. A difference's top bit decides.
inline std::uint64_t below_each(const std::uint64_t* numbers, int count, std::uint64_t threshold) {
  std::uint64_t bits = 0;
  for (int i = 0; i < count; ++i) {
    bits |= ((numbers[i] - threshold) >> 63) << i;
  }
  return bits;
}

// Four at a time where the machine can; the numbers are the same.
#if defined(__x86_64__)
[[gnu::target("avx2")]] inline __m256i load(const std::uint64_t* numbers) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(numbers));
}

template <bool kAdd>
[[gnu::target("avx2")]] inline void fill_four(std::uint64_t* now, const std::uint64_t* one,
                                              const std::uint64_t* distant, __m256i mask) {
  const __m256i result = kAdd ? _mm256_add_epi64(load(distant), load(one))
                              : _mm256_sub_epi64(load(distant), load(one));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(now), _mm256_and_si256(result, mask));
}

template <bool kAdd>
[[gnu::target("avx2")]] void fill_rows_wide(BookSimRing& ring, std::size_t first, std::size_t last,
                                            std::uint64_t mask) {
  const __m256i masks = _mm256_set1_epi64x(static_cast<long long>(mask));
  for (std::size_t row = first; row <= last; ++row) {
    std::uint64_t* now = ring[row % 4].data();
    const std::uint64_t* one = ring[(row + 3) % 4].data();
    const std::uint64_t* two = ring[(row + 2) % 4].data();
    const std::uint64_t* three = ring[(row + 1) % 4].data();
    const auto combined = [mask](std::uint64_t a, std::uint64_t b) {
      return (kAdd ? a + b : a - b) & mask;
    };
#pragma GCC unroll 6
    for (int i = 0; i < 24; i += 4) {
      fill_four<kAdd>(now + i, one + i, three + i + kShort - kSplit, masks);
    }
    now[24] = combined(three[24 + kShort - kSplit], one[24]);
    now[25] = combined(three[25 + kShort - kSplit], one[25]);
    now[26] = combined(two[0], one[26]);
    now[27] = combined(two[1], one[27]);
    fill_four<kAdd>(now + 28, one + 28, two + 28 - kSplit, masks);
    fill_four<kAdd>(now + 32, one + 32, two + 32 - kSplit, masks);
    now[36] = combined(two[36 - kSplit], one[36]);
  }
}
static_assert(kSplit == 26);

[[gnu::target("avx2")]] std::uint64_t below_wide(const std::uint64_t* numbers, int count,
                                                 std::uint64_t threshold) {
  const __m256i thresholds = _mm256_set1_epi64x(static_cast<long long>(threshold));
  std::uint64_t bits = 0;
  for (int i = 0; i + 4 <= count; i += 4) {
    const __m256i difference = _mm256_sub_epi64(load(numbers + i), thresholds);
    bits |= static_cast<std::uint64_t>(_mm256_movemask_pd(_mm256_castsi256_pd(difference))) << i;
  }
  return bits;
}
const bool has_wide = vector_limit() >= VectorLimit::avx2 && __builtin_cpu_supports("avx2") != 0;
#else
constexpr bool has_wide = false;
template <bool kAdd>
void fill_rows_wide(BookSimRing& ring, std::size_t first, std::size_t last, std::uint64_t mask) {
  fill_rows<kAdd>(ring, first, last, 0, mask);
}
inline std::uint64_t below_wide(const std::uint64_t* numbers, int count, std::uint64_t threshold) {
  return below_each(numbers, count, threshold);
}
#endif

}  // namespace

std::uint64_t KnuthSequence::combine(std::uint64_t a, std::uint64_t b) const {
  return (kind_ == Kind::integers ? a - b : a + b) & mask_;
}

// Knuth's ran_start: squares a polynomial modulo z^100 + z^37 + 1, bit by bit of the seed.
KnuthSequence::KnuthSequence(Kind kind, std::uint32_t seed)
    : kind_(kind),
      mask_(kind == Kind::integers ? (std::uint64_t{1} << 30) - 1 : (std::uint64_t{1} << 52) - 1) {
  const std::uint64_t modulus = mask_ + 1;
  const std::uint64_t low_seed = seed & ((1u << 30) - 1);
  std::array<std::uint64_t, 2 * kLong - 1> x{};
  std::uint64_t bootstrap =
      kind == Kind::integers ? (std::uint64_t{seed} + 2) & (mask_ - 1) : 2 * (low_seed + 2);
  for (std::size_t j = 0; j < kLong; ++j) {
    x[j] = bootstrap;
    bootstrap <<= 1;
    if (bootstrap >= modulus) {
      bootstrap -= modulus - 2;
    }
  }
  ++x[1];
  std::uint64_t bits = low_seed;
  for (int left = kSeparation - 1; left > 0;) {
    for (std::size_t j = kLong - 1; j > 0; --j) {  // square
      x[2 * j] = x[j];
      x[2 * j - 1] = 0;
    }
    for (std::size_t j = 2 * kLong - 2; j >= kLong; --j) {
      x[j - (kLong - kShort)] = combine(x[j - (kLong - kShort)], x[j]);
      x[j - kLong] = combine(x[j - kLong], x[j]);
    }
    if ((bits & 1) != 0) {  // multiply by z
      for (std::size_t j = kLong; j > 0; --j) {
        x[j] = x[j - 1];
      }
      x[0] = x[kLong];
      x[kShort] = combine(x[kShort], x[kLong]);
    }
    if (bits != 0) {
      bits >>= 1;
    } else {
      --left;
    }
  }
  std::copy(x.begin(), x.begin() + kShort, state_.begin() + (kLong - kShort));
  std::copy(x.begin() + kShort, x.begin() + kLong, state_.begin());
  for (int i = 0; i < 10; ++i) {
    advance(2 * kLong - 1);
  }
}

void KnuthSequence::advance(int count) {
  alignas(64) BookSimRing ring;
  std::copy(state_.begin(), state_.begin() + kShort, ring[0].begin());
  std::copy(state_.begin() + kShort, state_.begin() + 2 * kShort, ring[1].begin());
  std::copy(state_.begin() + 2 * kShort, state_.end(), ring[2].begin());
  const std::size_t last = static_cast<std::size_t>(count + kLong - 1) / kShort;
  const auto fill = [&]<bool kAdd>() {
    fill_rows<kAdd>(ring, 2, 2, kSplit, mask_);
    if (has_wide) {
      fill_rows_wide<kAdd>(ring, 3, last, mask_);
    } else {
      fill_rows<kAdd>(ring, 3, last, 0, mask_);
    }
  };
  kind_ == Kind::integers ? fill.operator()<false>() : fill.operator()<true>();
  // The numbers count ... count + 99 lie in the last three or four rows.
  std::size_t row = static_cast<std::size_t>(count) / kShort;
  std::size_t place = static_cast<std::size_t>(count) % kShort;
  for (std::size_t i = 0; i < kLong;) {
    const std::size_t taken = std::min<std::size_t>(kShort - place, kLong - i);
    std::copy_n(ring[row % 4].begin() + static_cast<std::ptrdiff_t>(place), taken,
                state_.begin() + static_cast<std::ptrdiff_t>(i));
    i += taken;
    place = 0;
    ++row;
  }
}

const KnuthSequence::Numbers& KnuthSequence::refill() {
  used_ = state_;
  advance(1009);
  return used_;
}

BooksimStream::BooksimStream(std::uint32_t seed, double probability)
    : fractions_(KnuthSequence::Kind::fractions, seed),
      integers_(KnuthSequence::Kind::integers, seed),
      threshold_(static_cast<std::uint64_t>(std::ceil(probability * 0x1.0p52))) {}

void BooksimStream::refill_window() {
  constexpr int kFirst = 64;
  constexpr int kRest = KnuthSequence::kUsed - kFirst;
  if (has_second_) {
    window_ = second_;
    left_ = kRest;
    has_second_ = false;
    return;
  }
  const auto& fractions = fractions_.refill();
  const auto bits = [&](int first, int count) {
    return has_wide ? below_wide(fractions.data() + first, count, threshold_)
                    : below_each(fractions.data() + first, count, threshold_);
  };
  window_ = bits(0, kFirst);
  left_ = kFirst;
  second_ = bits(kFirst, kRest);
  has_second_ = true;
}

std::uint64_t BooksimStream::coins(int count) {
  std::uint64_t result = 0;
  for (int done = 0; done < count;) {
    if (left_ == 0) {
      refill_window();
    }
    const int taken = std::min(left_, count - done);
    const std::uint64_t wanted = taken == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << taken) - 1;
    result |= (window_ & wanted) << done;
    drop(taken);
    done += taken;
  }
  return result;
}

}  // namespace ww::sim::net
