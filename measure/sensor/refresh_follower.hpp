// Finds when an accumulator that rests between its refreshes is refreshed, by few polls.
//
// A poll finds a new value up to a whole poll after the refresh, which over a short run is an error
// of some percent: NVML refreshes its counter each 100 ms and is polled about as often. Two polls
// close before and behind the expected moment bound the refresh to their distance. No regularity is
// assumed of the readings: where the refresh comes at another moment, the polls show that, the
// distance grows, and the next ones are placed anew.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

namespace ww::measure {

class RefreshFollower {
 public:
  static constexpr std::int64_t kMinHalfNs = 1'000'000;  // a wake-up is late by about a tenth of it
  // More often than this a refresh is as near as the polls are, and nothing is to be found.
  static constexpr std::int64_t kShortestPeriodNs = 20'000'000;

  // Takes a poll's answer.
  void saw(std::int64_t time_ns, std::optional<std::int64_t> ticks) {
    moved_ = ticks && last_ticks_ && *ticks != *last_ticks_;
    if (moved_) found(time_ns);
    if (!ticks) return;
    last_ticks_ = ticks;
    last_ns_ = time_ns;
  }
  // Two refreshes were found, and their distance is worth it.
  [[nodiscard]] bool follows() const { return period_ns_ >= kShortestPeriodNs; }
  // Nothing more is to be learnt by polls close together.
  [[nodiscard]] bool settled() const { return period_ns_ > 0; }
  // A refresh lay between polls that came too far from each other to say when it was.
  [[nodiscard]] bool was_late() const { return late_; }
  [[nodiscard]] std::int64_t period_ns() const { return period_ns_; }

  // When the next poll is due, after one that came when it was due. `poll_ns`: the mean distance
  // of polls, of which a refresh takes two.
  [[nodiscard]] std::int64_t next_due(std::int64_t now_ns, std::int64_t poll_ns) {
    switch (stage_) {
      case Stage::before:
        // Others that lie between make every poll find a new value.
        if (moved_ &&
            steps_ == 1) {  // no earlier than it must be, after a refresh that was where it should
          learn(target_ns_ - half_ns_);
          missed();
          return plan(now_ns, poll_ns);
        }
        stage_ = Stage::behind;
        tries_ = 0;
        return target_ns_ + half_ns_;
      case Stage::behind:
        if (moved_) {
          ++edges_;
          if (tries_ > 0) {
            missed();
          } else {
            misses_ = 0;
            half_ns_ = std::max(kMinHalfNs, half_ns_ * 9 / 10);
          }
          return plan(now_ns, poll_ns);
        }
        if (++tries_ <= (steps_ == 1 ? kMaxTries : kMaxTriesAfterOthers)) {
          return now_ns + 2 * half_ns_;
        }
        if (steps_ > 1) learn(target_ns_ - half_ns_);  // it seems to have come before both
        missed();
        return plan(now_ns, poll_ns);
      case Stage::none: break;
    }
    return plan(now_ns, poll_ns);
  }

 private:
  enum class Stage { none, before, behind };
  static constexpr int kMaxTries = 8, kMaxTriesAfterOthers = 2;
  // Edges that are watched one after another, from which the period follows without a doubt.
  static constexpr int kFirstEdges = 10;
  static constexpr std::int64_t kMaxSpanHalves = 6;  // a wider one says little of the moment

  // One refresh beside its polls corrects the period; several in a row come at no regular times.
  void missed() {
    if (misses_++ == 0) return;
    half_ns_ = std::min(2 * half_ns_, std::max(period_ns_ / 8, kMinHalfNs));
  }

  void found(std::int64_t time_ns) {
    if (time_ns - last_ns_ > kMaxSpanHalves * half_ns_) {
      late_ = true;
      return;
    }
    learn(last_ns_ + (time_ns - last_ns_) / 2);
  }

  void learn(std::int64_t edge_ns) {
    edge_ns_ = edge_ns;
    if (first_ns_ == 0) {
      first_ns_ = edge_ns_;
    } else if (period_ns_ == 0) {
      period_ns_ = edge_ns_ - first_ns_;
    } else {
      // The longer the time since the first refresh, the better its parts are known.
      const auto periods =
          std::llround(static_cast<double>(edge_ns_ - first_ns_) / static_cast<double>(period_ns_));
      if (periods > 0) period_ns_ = (edge_ns_ - first_ns_) / periods;
    }
  }

  [[nodiscard]] std::int64_t plan(std::int64_t now_ns, std::int64_t poll_ns) {
    const auto wanted =
        edges_ < kFirstEdges
            ? 1
            : std::llround(2 * static_cast<double>(poll_ns) / static_cast<double>(period_ns_));
    const std::int64_t passed = (now_ns + half_ns_ - edge_ns_) / period_ns_;
    const std::int64_t periods = std::max<std::int64_t>(wanted, passed + 1);
    target_ns_ = edge_ns_ + periods * period_ns_;
    steps_ = (target_ns_ - last_ns_) / period_ns_ + 1;
    stage_ = Stage::before;
    return target_ns_ - half_ns_;
  }

  std::optional<std::int64_t> last_ticks_;
  std::int64_t last_ns_{};
  bool moved_{}, late_{};
  std::int64_t first_ns_{}, edge_ns_{}, period_ns_{};
  std::int64_t half_ns_{kMinHalfNs}, target_ns_{};
  Stage stage_{};
  std::int64_t steps_{};  // refreshes from the last poll to the one that is looked for
  int tries_{}, misses_{}, edges_{};
};

}  // namespace ww::measure
