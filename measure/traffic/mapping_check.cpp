#include "ww/measure/mapping_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ww::measure {
namespace {

constexpr double kTolerance = 0.005;
constexpr double kLargestFactor = 4;

struct Expectation {
  Segment segment{};
  double bytes{};
  double low{};  // of what may be counted
  double high{};
};

std::vector<Expectation> expectations(const KnownBytes& known) {
  using enum Segment;
  const double both = known.read + known.written;
  return {{l1_l2_read, known.read, known.read, known.read},
          {l1_l2_write, known.written, known.written, known.written},
          {l1_l2, both, both, both},
          // Lines that were in the L2 before need not be fetched.
          {l2_memory_read, known.read, std::max(0.0, known.read - known.l2_bytes), known.read},
          // Lines that an earlier launch left dirty in it may be written now.
          {l2_memory_write, known.written, std::max(0.0, known.written - known.l2_bytes),
           known.written + known.l2_bytes}};
}

bool is_beyond_l2(Segment segment) {
  return segment == Segment::l2_memory_read || segment == Segment::l2_memory_write;
}

MappingCheck judge(const Expectation& wanted, std::span<const SegmentBytes> runs) {
  MappingCheck check;
  check.segment = wanted.segment;
  check.expected_bytes = wanted.bytes;
  double least = 0;
  double most = 0;
  double sum = 0;
  for (const SegmentBytes& run : runs) {
    if (!run.bytes) {
      check.reason = run.reason;
      if (run.status == RowStatus::rejected) check.verdict = MappingVerdict::refused;
      return check;
    }
    least = sum == 0 ? *run.bytes : std::min(least, *run.bytes);
    most = std::max(most, *run.bytes);
    sum += *run.bytes;
  }
  const double mean = sum / static_cast<double>(runs.size());
  check.counted_bytes = mean;
  if (wanted.low < 0.5 * wanted.bytes) {
    check.verdict = MappingVerdict::refused;
    check.reason = "the kernel's data is not large against the L2: what leaves it is not known";
    return check;
  }
  if (least >= wanted.low * (1 - kTolerance) && most <= wanted.high * (1 + kTolerance)) {
    check.verdict = MappingVerdict::exact;
    if (std::abs(mean - wanted.bytes) > kTolerance * wanted.bytes) {
      check.reason = "which what the L2 keeps explains";
    }
    return check;
  }
  check.verdict = MappingVerdict::refused;
  if (!(mean > 0)) {
    check.reason = "nothing was counted";
    return check;
  }
  check.reason =
      fmt::format("counted {:+.1f}% off the known bytes", 100 * (mean / wanted.bytes - 1));
  const double factor = wanted.bytes / mean;
  if (most - least > kTolerance * mean) {
    check.reason += fmt::format(", and runs differ by {:.1f}%", 100 * (most - least) / mean);
  } else if (wanted.low != wanted.high) {
    check.reason += "; part of it may have stayed in the L2, so no factor can be told";
  } else if (factor > kLargestFactor || factor < 1 / kLargestFactor) {
    check.reason += ", more than a wrong size of a request explains";
  } else {
    check.verdict = MappingVerdict::scaled;
    check.scale = factor;
    check.reason += fmt::format("; every run agrees, so bytes are multiplied by {:.4f}", factor);
  }
  return check;
}

}  // namespace

std::string_view to_string(MappingVerdict verdict) {
  switch (verdict) {
    case MappingVerdict::exact: return "exact";
    case MappingVerdict::scaled: return "scaled";
    case MappingVerdict::refused: return "refused";
    case MappingVerdict::unavailable: return "unavailable";
  }
  return "unknown";
}

std::vector<MappingCheck> check_mapping(std::string_view architecture,
                                        std::span<const CounterDispatch> runs,
                                        const KnownBytes& known) {
  std::vector<MappingCheck> checks;
  std::vector<std::vector<SegmentBytes>> counted;
  for (const CounterDispatch& run : runs) counted.push_back(segment_bytes(architecture, run));
  for (const Expectation& wanted : expectations(known)) {
    const auto cannot_tell = [&](const char* reason) {
      MappingCheck check;
      check.segment = wanted.segment;
      check.expected_bytes = wanted.bytes;
      check.reason = reason;
      checks.push_back(std::move(check));
    };
    if (is_beyond_l2(wanted.segment) && !(known.l2_bytes > 0)) {
      cannot_tell("the size of the L2 is not known, and so neither is what leaves it");
      continue;
    }
    std::vector<SegmentBytes> of_segment;
    for (const auto& run : counted) {
      const auto found = std::ranges::find(run, wanted.segment, &SegmentBytes::segment);
      if (found != run.end()) of_segment.push_back(*found);
    }
    if (of_segment.size() < 2) {
      cannot_tell("one run cannot tell a wrong factor from a disturbance: two are needed");
      continue;
    }
    checks.push_back(judge(wanted, of_segment));
  }
  return checks;
}

}  // namespace ww::measure
