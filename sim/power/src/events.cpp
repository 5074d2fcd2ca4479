#include "ww/sim/power/events.hpp"

#include <array>

namespace ww::sim::power {
namespace {

using Count = std::uint64_t;

// Counts that grow with time. What is missing here would be lost from windows of a run.
constexpr std::array kCounts{&NetworkEvents::injected_flits,    &NetworkEvents::ejected_flits,
                             &NetworkEvents::resent_flits,      &NetworkEvents::buffer_writes,
                             &NetworkEvents::buffer_reads,      &NetworkEvents::crossbar_flits,
                             &NetworkEvents::switch_grants,     &NetworkEvents::vc_grants,
                             &NetworkEvents::link_flits,        &NetworkEvents::link_toggles,
                             &NetworkEvents::reply_buffer_flits};
constexpr std::array kOverlayCounts{
    &OverlayEvents::packets,        &OverlayEvents::coalesced,   &OverlayEvents::flits,
    &OverlayEvents::crossbar_flits, &OverlayEvents::latch_flits, &OverlayEvents::link_flits,
    &OverlayEvents::link_toggles,   &OverlayEvents::setups,      &OverlayEvents::leader_words,
    &OverlayEvents::words_compared, &OverlayEvents::windows};
constexpr std::array kCompressionCounts{
    &CompressionEvents::blocks,           &CompressionEvents::words,
    &CompressionEvents::compressed_words, &CompressionEvents::changed_words,
    &CompressionEvents::pattern_words,    &CompressionEvents::searches,
    &CompressionEvents::search_bits,      &CompressionEvents::lookups,
    &CompressionEvents::updates,          &CompressionEvents::flits_before,
    &CompressionEvents::flits_after};
// What a network is made of: it adds up over networks and stays over time.
constexpr std::array kParts{&NetworkEvents::routers, &NetworkEvents::links};
constexpr std::array kOverlayParts{&OverlayEvents::routers, &OverlayEvents::links};

static_assert(sizeof(OverlayEvents) ==
              (kOverlayCounts.size() + kOverlayParts.size()) * sizeof(Count));
static_assert(sizeof(CompressionEvents) == (kCompressionCounts.size() + 1) * sizeof(Count));

// Applies `change(count of a, count of b)` to every listed pair.
template <class Struct, std::size_t kSize, class Change>
void each(const std::array<Count Struct::*, kSize>& counts, Struct& a, const Struct& b,
          const Change& change) {
  for (const auto count : counts) change(a.*count, b.*count);
}

template <class Change>
void each_count(NetworkEvents& a, const NetworkEvents& b, const Change& change) {
  each(kCounts, a, b, change);
  each(kOverlayCounts, a.overlay, b.overlay, change);
  each(kCompressionCounts, a.compression, b.compression, change);
}

}  // namespace

NetworkEvents& operator+=(NetworkEvents& sum, const NetworkEvents& other) {
  const auto add = [](Count& a, Count b) { a += b; };
  each_count(sum, other, add);
  each(kParts, sum, other, add);
  each(kOverlayParts, sum.overlay, other.overlay, add);
  sum.compression.dictionary_bits += other.compression.dictionary_bits;
  sum.photonic += other.photonic;
  return sum;
}

NetworkEvents operator-(const NetworkEvents& later, const NetworkEvents& earlier) {
  NetworkEvents difference = later;
  difference.cycles -= earlier.cycles;
  each_count(difference, earlier, [](Count& a, Count b) { a -= b; });
  difference.photonic = later.photonic - earlier.photonic;
  return difference;
}

}  // namespace ww::sim::power
