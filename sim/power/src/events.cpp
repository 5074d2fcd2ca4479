#include "ww/sim/power/events.hpp"

#include <array>
#include <nlohmann/json.hpp>

namespace ww::sim::power {
namespace {

using Count = std::uint64_t;

// Counts that grow with time. What is missing here would be lost from windows of a run.
constexpr std::array kNetworkCounts{&NetworkEvents::router_cycles_without_edge,
                                    &NetworkEvents::injected_flits,
                                    &NetworkEvents::ejected_flits,
                                    &NetworkEvents::resent_flits,
                                    &NetworkEvents::buffer_writes,
                                    &NetworkEvents::buffer_reads,
                                    &NetworkEvents::crossbar_flits,
                                    &NetworkEvents::switch_grants,
                                    &NetworkEvents::vc_grants,
                                    &NetworkEvents::link_flits,
                                    &NetworkEvents::link_toggles,
                                    &NetworkEvents::reply_buffer_flits};
constexpr std::array kSizedLinkCounts{
    &SizedLinkEvents::flit_um,           &SizedLinkEvents::toggle_um,
    &SizedLinkEvents::crossing_flits,    &SizedLinkEvents::crossing_fj,
    &SizedLinkEvents::l2_crossing_flits, &SizedLinkEvents::l2_crossing_toggles};
constexpr std::array kPitchedWireCounts{&PitchedWireEvents::flit_milli_pitches,
                                        &PitchedWireEvents::toggle_milli_pitches};
constexpr std::array kDieHopCounts{&DieHopEvents::flits, &DieHopEvents::toggles, &DieHopEvents::fj};
constexpr std::array kPairWireCounts{&PairWireEvents::flits, &PairWireEvents::flit_um,
                                     &PairWireEvents::toggle_um};
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
// Parts of a network: their number adds up over networks and stays over time.
constexpr std::array kParts{&NetworkEvents::routers, &NetworkEvents::links};
constexpr std::array kSizedLinkParts{&SizedLinkEvents::length_um, &SizedLinkEvents::missing_wires,
                                     &SizedLinkEvents::l2_crossings};
constexpr std::array kPitchedWireParts{&PitchedWireEvents::wire_milli_pitches};
constexpr std::array kOverlayParts{&OverlayEvents::routers, &OverlayEvents::links};

static_assert(sizeof(SizedLinkEvents) ==
              (kSizedLinkCounts.size() + kSizedLinkParts.size()) * sizeof(Count));
static_assert(sizeof(PitchedWireEvents) ==
              (kPitchedWireCounts.size() + kPitchedWireParts.size()) * sizeof(Count));
static_assert(sizeof(DieHopEvents) == (kDieHopCounts.size() + 1) * sizeof(Count));
static_assert(sizeof(PairWireEvents) == kPairWireCounts.size() * sizeof(Count));
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
  each(kNetworkCounts, a, b, change);
  each(kSizedLinkCounts, a.sized_links, b.sized_links, change);
  each(kPitchedWireCounts, a.pitched_wires, b.pitched_wires, change);
  each(kPitchedWireCounts, a.l2_crossing_wires, b.l2_crossing_wires, change);
  each(kDieHopCounts, a.row_hops, b.row_hops, change);
  each(kDieHopCounts, a.column_hops, b.column_hops, change);
  each(kPairWireCounts, a.request_wires, b.request_wires, change);
  each(kPairWireCounts, a.reply_wires, b.reply_wires, change);
  each(kOverlayCounts, a.overlay, b.overlay, change);
  each(kCompressionCounts, a.compression, b.compression, change);
}

}  // namespace

NetworkEvents& operator+=(NetworkEvents& sum, const NetworkEvents& other) {
  const auto add = [](Count& a, Count b) { a += b; };
  each_count(sum, other, add);
  each(kParts, sum, other, add);
  each(kSizedLinkParts, sum.sized_links, other.sized_links, add);
  each(kPitchedWireParts, sum.pitched_wires, other.pitched_wires, add);
  each(kPitchedWireParts, sum.l2_crossing_wires, other.l2_crossing_wires, add);
  each(kOverlayParts, sum.overlay, other.overlay, add);
  sum.row_hops.links += other.row_hops.links;
  sum.column_hops.links += other.column_hops.links;
  sum.compression.dictionary_bits += other.compression.dictionary_bits;
  sum.photonic += other.photonic;
  return sum;
}

void append(NetworkEvents& sum, const NetworkEvents& later) {
  const bool first = sum.cycles == 0;
  const bool counted = later.toggles_counted && (first || sum.toggles_counted);
  NetworkEvents all = later;  // its parts
  each_count(all, sum, [](Count& a, Count b) { a += b; });
  all.cycles += sum.cycles;
  all.photonic += sum.photonic;
  all.toggles_counted = counted;
  sum = all;
}

std::uint64_t flit_hops(const NetworkEvents& events) {
  return events.crossbar_flits + events.overlay.crossbar_flits;
}

void add_json(nlohmann::json& json, const NetworkEvents& events) {
  if (const OverlayEvents& plane = events.overlay; plane.routers != 0) {
    json["reply_plane"] = {{"packets", plane.packets},
                           {"coalesced", plane.coalesced},
                           {"flits", plane.flits},
                           {"flit_hops", plane.crossbar_flits},
                           {"words_compared", plane.words_compared}};
  }
  if (const CompressionEvents& codes = events.compression; codes.blocks != 0) {
    json["compression"] = {{"blocks", codes.blocks},
                           {"flits_before", codes.flits_before},
                           {"flits_after", codes.flits_after},
                           {"words", codes.words},
                           {"compressed_words", codes.compressed_words},
                           {"changed_words", codes.changed_words}};
  }
  if (const PhotonicEvents& light = events.photonic; light.present) {
    json["light"] = {{"messages", light.messages},
                     {"c_messages", light.c_messages},
                     {"local_messages", light.local_messages},
                     {"avg_wait_cycles", light.wait_cycles_per_message()},
                     {"mean_lit_units", light.mean_lit_units()},
                     {"data_units", light.structure.data_units},
                     {"overhead_units", light.structure.overhead_units},
                     {"use_of_light", light.use_of_light()},
                     {"busy_stations", light.mean_busy_stations()},
                     {"data_grabs", light.data_grabs},
                     {"power_grabs", light.power_grabs},
                     {"failed_attempts", light.failed_attempts},
                     {"epochs", light.epochs},
                     {"epochs_by_lit_units", light.epochs_by_lit},
                     {"epochs_by_held_units", light.epochs_by_held},
                     {"halted_cycles", light.halted_cycles},
                     {"rings", light.structure.rings}};
  }
}

NetworkEvents operator-(const NetworkEvents& later, const NetworkEvents& earlier) {
  NetworkEvents difference = later;
  difference.cycles -= earlier.cycles;
  each_count(difference, earlier, [](Count& a, Count b) { a -= b; });
  difference.photonic = later.photonic - earlier.photonic;
  return difference;
}

}  // namespace ww::sim::power
