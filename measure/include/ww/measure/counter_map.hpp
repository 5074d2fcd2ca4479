// Maps counters to bytes on each segment of the way between registers and memory, as data: one
// table for each architecture, each line with its source. Coalesced streams are what the sources
// checked; partial lines, atomics and scattered stores are not.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/figure.hpp"
#include "ww/measure/counter_file.hpp"

namespace ww::measure {

enum class Segment {
  registers_l1,
  l1_l2_read,
  l1_l2_write,
  l1_l2,           // both ways together
  l2_memory_read,  // leaving the L2: to memory, or to the fabric where there is one
  l2_memory_write,
  l2_fill,  // lines that the L2 allocated for reads and writes: a cross-check
};
[[nodiscard]] std::string_view to_string(Segment segment);

// bytes += bytes_each * counter. `optional`: counted if the file has it; a file that lacks it gives
// a lower bound, because programs with atomics move more.
struct CounterTerm {
  std::string_view counter;  // without "_sum"; ncu's by their whole name
  double bytes_each{};
  bool optional{false};
  std::string_view stands_in_for{};  // an optional term's counter: counted where the file lacks it
};

enum class MapQuality {
  exact,        // within 0.5% of known bytes in recordings of this architecture
  upper_bound,  // true or too high
  lower_bound,  // true or too low
  unchecked,    // from the vendor's documents; known-bytes kernels must check it on the device
};
[[nodiscard]] std::string_view to_string(MapQuality quality);

// Remark on every figure of a rule that is `unchecked`.
inline constexpr std::string_view kUncheckedBytes = "bytes from the vendor's documents, unchecked";

struct SegmentRule {
  Segment segment{};
  std::span<const CounterTerm> terms;  // none: no counter exists; `note` says why
  MapQuality quality{MapQuality::unchecked};
  std::string_view note;
  std::string_view source;
};

// Upper bound of bytes by a file that has only totals.
struct BoundRule {
  Segment segment{};
  std::span<const CounterTerm> terms;  // the largest size that a request can have
  bool both_ways{};                    // the total is that of reads and writes together
  std::string_view note;
};

struct ArchitectureMap {
  std::span<const std::string_view> prefixes;  // "gfx94" stands for gfx940, gfx941, gfx942
  std::span<const SegmentRule> rules;
  std::span<const BoundRule> bounds{};  // used where a rule's counters are missing
};

// All architectures with a table.
[[nodiscard]] std::span<const ArchitectureMap> counter_maps();
// The table of an architecture ("gfx90a", "gfx90a:sramecc+:xnack-", "sm_80"), or null.
[[nodiscard]] const ArchitectureMap* counter_map(std::string_view architecture);

// Bytes of one dispatch on one segment.
struct SegmentBytes {
  Segment segment{};
  RowStatus status{RowStatus::unavailable};
  std::optional<double> bytes;        // with status ok
  std::optional<double> upper_bytes;  // with status not_identified: not more than this
  bool upper_is_of_both{};            // reads and writes of the segment share that bound
  MapQuality quality{MapQuality::unchecked};
  std::string reason;  // what is missing, or what to know about the figure
};

// One entry for each segment, never 0 for what was not counted: a counter that the file lacks
// makes the segment `unavailable` and names it, or `not_identified` with a bound where a total is
// there (dram__bytes.sum, or requests without their sizes); passes that contradict each other (a
// part larger than its whole) make it `rejected`. An architecture without a table: all unavailable.
[[nodiscard]] std::vector<SegmentBytes> segment_bytes(std::string_view architecture,
                                                      const CounterDispatch& dispatch);

// Bytes of the requests from the vector L1s to the L2, by kind. Atomics are counted once, whether
// they return a value or not. (The rules of l1_l2_read and l1_l2_write count them with the way on
// which their data move.)
struct RequestBytes {
  double read{}, write{}, atomic{};
  double of_a_read{};  // bytes of a read request
};
// Computes requests from counters summed over dispatches. Requests move 64 B, but reads of gfx94,
// whose counters have TCC_BUBBLE_sum, and of gfx10 (GL2C_READ_128_REQ_sum) 128 B. Error
// unsupported: a counter is missing.
[[nodiscard]] Result<RequestBytes> l1_l2_requests(const std::map<std::string, double>& counters);

}  // namespace ww::measure
