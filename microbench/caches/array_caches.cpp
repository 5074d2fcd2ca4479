#include "caches/array_caches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ww/core/interrupt.hpp"

namespace ww::microbench {
namespace {

using nlohmann::json;
using Kind = ArrayCacheVerdict::Kind;

constexpr std::int64_t kKib = 1024;
// GL1 has 128 KiB (RDNA 1 and 2) or 256 KiB (RDNA 3), an L0 16 or 32 KiB (AMD's RDNA white papers):
// sets of 64 and 96 KiB lie in the one and not in the other, and those from 512 KiB on in neither.
constexpr std::array<std::int64_t, 5> kSets{64 * kKib, 96 * kKib, 192 * kKib, 512 * kKib,
                                            1024 * kKib};
constexpr std::int64_t kInside = 96 * kKib;
constexpr std::int64_t kBeyond = 512 * kKib;
// Latencies within this of each other are equal: sets meet other slices, at other distances.
constexpr double kFlat = 0.03;
// Plain loads beyond GL1 take longer by at least this: three times what is called flat.
constexpr double kMinStep = 0.10;
// Memory takes half as long again as the L2, or longer, on every card that was recorded.
constexpr double kMaxSlower = 0.25;
// A list in GL1 and one that is four times as large as the largest.
constexpr std::int64_t kShortList = 64 * kKib;
constexpr std::int64_t kLongList = 1024 * kKib;
constexpr double kMaxFaster = 0.10;

// Upper bound (95%) of a share of which none was seen in `tries`.
double none_of(double tries) {
  return 1 - std::pow(0.05, 1 / tries);
}

struct Step {
  double inside{}, beyond{};
  [[nodiscard]] double ticks() const { return beyond - inside; }
  [[nodiscard]] double share() const { return ticks() / beyond; }
};

// Median-like latencies of sets inside a GL1 and beyond; nothing where one is missing.
std::optional<Step> step_of(const std::vector<StairPoint>& points) {
  double inside = 0;
  double beyond = 0;
  int of_inside = 0;
  int of_beyond = 0;
  for (const StairPoint& point : points) {
    if (point.bytes <= kInside) {
      inside += point.ticks;
      ++of_inside;
    } else if (point.bytes >= kBeyond) {
      beyond += point.ticks;
      ++of_beyond;
    }
  }
  if (of_inside == 0 || of_beyond == 0 || !(beyond > 0)) return {};
  return Step{inside / of_inside, beyond / of_beyond};
}

struct TestVerdict {
  Kind kind{Kind::not_shown};
  std::string reason;
  double max_hits{1};
  bool absent{};  // plain loads show no cache
};

TestVerdict judge_stairs(const ArrayCacheEvidence& evidence) {
  const auto past = step_of(evidence.past);
  const auto plain = step_of(evidence.plain);
  if (!past || !plain) return {Kind::not_shown, "no staircase: " + evidence.no_stairs};
  if (past->share() > kFlat) {
    return {Kind::answers,
            fmt::format("the streams' loads take {:.0f} ticks from sets of at most {} KiB and "
                        "{:.0f} from {} KiB on, so a cache before the L2 answers them",
                        past->inside, kInside / kKib, past->beyond, kBeyond / kKib)};
  }
  if (past->beyond > (1 + kMaxSlower) * plain->beyond) {
    return {Kind::past_l2,
            fmt::format("the streams' loads take {:.0f} ticks where plain loads take "
                        "{:.0f} from the L2, so the L2 does not answer them",
                        past->beyond, plain->beyond)};
  }
  if (std::abs(plain->share()) <= kFlat && past->beyond > (1 - kMinStep) * plain->beyond) {
    return {Kind::not_shown,
            fmt::format("there is no cache between the L1s and the L2: plain loads take {:.0f} "
                        "ticks from small sets and {:.0f} from large ones",
                        plain->inside, plain->beyond),
            1, true};
  }
  if (plain->share() < kMinStep) {
    return {Kind::not_shown,
            fmt::format("plain loads take {:.0f} ticks from small sets and {:.0f} from large ones, "
                        "so the staircase does not show the cache",
                        plain->inside, plain->beyond)};
  }
  const double unseen = std::max(past->ticks(), 0.0) + 1;  // whole ticks
  return {Kind::passed_by,
          fmt::format("the streams' loads take {:.0f} ticks from small sets and {:.0f} from large "
                      "ones; plain loads {:.0f} and {:.0f}",
                      past->inside, past->beyond, plain->inside, plain->beyond),
          std::min(1.0, unseen / plain->ticks())};
}

TestVerdict judge_litmus(const ArrayCacheEvidence& evidence) {
  if (!evidence.litmus) return {Kind::not_shown, "no litmus: " + evidence.no_litmus};
  const Visibility& seen = *evidence.litmus;
  const double lines = static_cast<double>(seen.lines) * seen.rounds;
  if (seen.stale > 0) {
    return {Kind::answers,
            fmt::format("{} of {:.0f} lines that another shader array had written were stale for "
                        "the streams' loads, so a cache before the L2 answered them",
                        seen.stale, lines)};
  }
  if (seen.stale_plain == 0) {
    return {Kind::not_shown,
            fmt::format("none of {:.0f} lines was stale even for plain loads, so the litmus proves "
                        "nothing",
                        lines),
            none_of(lines)};
  }
  return {Kind::passed_by,
          fmt::format("none of {:.0f} lines that another shader array had written was stale for "
                      "the streams' loads, {} were for plain ones",
                      lines, seen.stale_plain),
          none_of(lines)};
}

// Slower lists show nothing: fewer channels of the L2 may answer a short one.
TestVerdict judge_rates(const ArrayCacheEvidence& evidence) {
  if (!evidence.rates) return {Kind::not_shown, "no rates: " + evidence.no_rates};
  const ListRates& rates = *evidence.rates;
  const std::string seen = fmt::format(
      "the streams' loads bring {:.0f} GB/s from a list of {} KiB and {:.0f} GB/s from {} KiB",
      rates.of_short * 1e-9, kShortList / kKib, rates.of_long * 1e-9, kLongList / kKib);
  if (rates.of_short <= (1 + kMaxFaster) * rates.of_long) return {Kind::not_shown, seen};
  return {Kind::answers, seen + ", so a cache before the L2 answers them"};
}

// How many compute units read at a time. HIP counts none on RDNA, where a place is a pair of them;
// as many as any card has where there are no places either.
int units_of(const HostFacts& facts, const ArrayCacheEvidence& evidence) {
  constexpr int kMaxUnits = 128;
  if (facts.compute_units > 0) return facts.compute_units;
  return evidence.litmus ? 2 * evidence.litmus->places : kMaxUnits;
}

json to_json(const std::vector<StairPoint>& points) {
  json rows = json::array();
  for (const StairPoint& point : points) {
    rows.push_back({{"bytes", point.bytes}, {"ticks", point.ticks}});
  }
  return rows;
}

}  // namespace

bool has_array_caches(std::string_view target) {
  return target.starts_with("gfx10") || target.starts_with("gfx11");
}

json to_json(const ArrayCacheEvidence& evidence) {
  json found{{"past", to_json(evidence.past)},
             {"plain", to_json(evidence.plain)},
             {"no_stairs", evidence.no_stairs},
             {"no_litmus", evidence.no_litmus},
             {"no_rates", evidence.no_rates}};
  if (const auto& seen = evidence.litmus) {
    found["litmus"] = {{"lines", seen->lines},
                       {"rounds", seen->rounds},
                       {"stale", seen->stale},
                       {"stale_plain", seen->stale_plain}};
  }
  if (const auto& rates = evidence.rates) {
    found["rates"] = {{"short_bytes", kShortList},
                      {"short_bytes_per_s", rates->of_short},
                      {"long_bytes", kLongList},
                      {"long_bytes_per_s", rates->of_long}};
  }
  const ArrayCacheVerdict verdict = judge_array_caches(evidence);
  found["verdict"] = to_string(verdict.kind);
  found["reason"] = verdict.reason;
  found["max_hits"] = verdict.max_hits;
  return found;
}

Result<ArrayCacheEvidence> find_array_cache_evidence(ComputeHost& host) {
  ArrayCacheEvidence evidence;
  auto litmus = test_visibility(host);
  if (litmus) {
    evidence.litmus = *std::move(litmus);
  } else if (litmus.error().code == ErrorCode::cancelled) {
    return tl::unexpected(litmus.error());
  } else {
    evidence.no_litmus = litmus.error().text();
  }
  for (const bool past : {true, false}) {
    auto stairs = measure_stairs(host, kSets, past);
    if (stairs) {
      (past ? evidence.past : evidence.plain) = *std::move(stairs);
    } else if (stairs.error().code == ErrorCode::cancelled) {
      return tl::unexpected(stairs.error());
    } else {
      evidence.no_stairs = stairs.error().text();
    }
  }
  auto rates = measure_list_rates(host, units_of(host.facts(), evidence), kShortList, kLongList);
  if (rates) {
    evidence.rates = *rates;
  } else if (rates.error().code == ErrorCode::cancelled) {
    return tl::unexpected(rates.error());
  } else {
    evidence.no_rates = rates.error().text();
  }
  return evidence;
}

std::string_view to_string(ArrayCacheVerdict::Kind kind) {
  switch (kind) {
    case Kind::passed_by: return "passed_by";
    case Kind::answers: return "answers";
    case Kind::past_l2: return "past_l2";
    case Kind::not_shown: return "not_shown";
  }
  return "unknown";
}

ArrayCacheVerdict judge_array_caches(const ArrayCacheEvidence& evidence) {
  const TestVerdict litmus = judge_litmus(evidence);
  const TestVerdict stairs = judge_stairs(evidence);
  const TestVerdict rates = judge_rates(evidence);
  for (const TestVerdict& one : {litmus, stairs, rates}) {
    if (one.kind == Kind::answers || one.kind == Kind::past_l2) return {one.kind, one.reason, 1};
  }
  const std::string reason = litmus.reason + "; " + stairs.reason + "; " + rates.reason;
  double hits = 1;
  for (const TestVerdict& one : {litmus, stairs}) {
    if (one.kind == Kind::passed_by) hits = std::min(hits, one.max_hits);
  }
  // Neither test shows a cache, even for plain loads, of which none found a stale line.
  if (stairs.absent && evidence.litmus && evidence.litmus->stale_plain == 0) {
    hits = litmus.max_hits;
  }
  if (hits < 1) return {Kind::passed_by, reason, hits};
  return {Kind::not_shown, reason, 1};
}

}  // namespace ww::microbench
