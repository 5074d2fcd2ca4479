#include "network/dapper/approximator.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ww::sim::net {
namespace {

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// |leader - other| < threshold |leader|, without a division.
bool close(double leader, double other, double threshold, bool literal) {
  if (leader == 0) {
    return false;
  }
  if (literal) {
    return (leader - other) / leader < threshold;
  }
  return std::abs(leader - other) < threshold * std::abs(leader);
}

bool close_floats(std::uint32_t leader, std::uint32_t other, double threshold, bool literal) {
  constexpr std::uint32_t kMantissa = (1u << 23) - 1;
  const std::uint32_t exponent = leader >> 23 & 0xFF;
  if (leader >> 23 != other >> 23 || exponent == 0 || exponent == 0xFF) {
    return false;
  }
  return close((leader & kMantissa) + (kMantissa + 1), (other & kMantissa) + (kMantissa + 1),
               threshold, literal);
}

bool close_words(WordType type, const std::byte* leader, const std::byte* other, double threshold,
                 bool literal) {
  switch (type) {
    case WordType::int32:
      return close(load<std::int32_t>(leader), load<std::int32_t>(other), threshold, literal);
    case WordType::float32:
      return close_floats(load<std::uint32_t>(leader), load<std::uint32_t>(other), threshold,
                          literal);
    case WordType::uint8:
      return close(load<std::uint8_t>(leader), load<std::uint8_t>(other), threshold, literal);
    case WordType::exact: break;
  }
  return false;
}

}  // namespace

bool may_replace(WordType type, double threshold, std::span<const std::byte> leader,
                 std::span<const std::byte> other, bool literal, ApproximatorWork& work) {
  if (type == WordType::exact || !(threshold > 0) || leader.size() != other.size()) {
    return false;
  }
  const std::size_t word = type == WordType::uint8 ? 1 : 4;
  const std::size_t whole = leader.size() / word * word;
  for (std::size_t at = 0; at < whole; at += word) {
    // Pixels are compared four at a time.
    work.words_compared += at % 4 == 0 ? 1 : 0;
    if (std::memcmp(&leader[at], &other[at], word) != 0 &&
        !close_words(type, &leader[at], &other[at], threshold, literal)) {
      return false;
    }
  }
  return std::equal(leader.begin() + static_cast<std::ptrdiff_t>(whole), leader.end(),
                    other.begin() + static_cast<std::ptrdiff_t>(whole));
}

void choose_followers(std::span<const Waiting> buffer, int check_depth, bool literal,
                      std::vector<std::uint32_t>& followers, ApproximatorWork& work) {
  followers.clear();
  if (buffer.empty() || buffer[0].how.type == WordType::exact) {
    return;
  }
  const Waiting& leader = buffer[0];
  if (check_depth > 1 && buffer.size() > 1) {
    work.leader_words += leader.data.size() / 4;
  }
  std::size_t at = 1;
  for (int depth = 1; depth < check_depth && at < buffer.size(); ++depth, ++at) {
    const Waiting& next = buffer[at];
    if (next.how.type != leader.how.type || next.flits != leader.flits) {
      continue;
    }
    const double threshold = std::min(leader.how.threshold, next.how.threshold);
    if (may_replace(leader.how.type, threshold, leader.data, next.data, literal, work)) {
      followers.push_back(static_cast<std::uint32_t>(at));
      at += literal ? 1 : 0;
    }
  }
}

}  // namespace ww::sim::net
