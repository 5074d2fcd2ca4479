// Launches whose waves all do the same, at times that memory does not change: those of
// store_tape.hpp that all parts of the device execute equally. Parts are its shader engines, or its
// dies where a die's engines have not as many compute units each.
//
// If each part gets as many work-groups as any other, and all waves go the same way and send stores
// of the same kind, then all parts do the same at the same times. One of them is followed through
// time, the first one. The waves of the others are executed apart from time: each to its end, one
// after the other, while its registers are in the host's caches. What all of them stored then goes
// through the caches as from a StoreTape.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compute_unit/compute_unit.hpp"
#include "compute_unit/memory_operation.hpp"
#include "host/workers.hpp"
#include "launch/store_tape.hpp"

namespace ww::sim::gpu::exec {

// Records what the waves of a launch stored, by the number of the wave.
class AlikeWaves {
 public:
  // The runs of lines that a wave sends, learnt from one; false where it sends what no StoreTape
  // can have, or more than kMaxRuns.
  [[nodiscard]] bool learn(std::span<const Request> requests);
  [[nodiscard]] std::uint64_t runs_of_wave() const { return runs_.size(); }
  // Lines of 64 bytes that a wave stores, and what is kept of it.
  [[nodiscard]] std::uint64_t lines_of_wave() const { return lines_; }
  [[nodiscard]] std::uint64_t bytes_of_wave() const;
  // Makes room for that many waves; false where the host has no memory for it.
  [[nodiscard]] bool make_room(std::uint64_t waves);

  // A wave's next request; false where it is not for as many lines as that of the wave from which
  // the runs were learnt. Waves that go the same way and send as many lines take as long for it:
  // the L1 looks up a line a cycle. Threads may call it for different waves at once.
  [[nodiscard]] bool take(std::uint64_t wave, const Request& request);
  // How many of a wave's runs were taken.
  [[nodiscard]] unsigned taken(std::uint64_t wave) const { return taken_[wave]; }
  // Whether all of all waves' were.
  [[nodiscard]] bool have_all() const;

  [[nodiscard]] std::uint32_t line(std::uint64_t wave, unsigned run) const {
    return line_[wave * runs_.size() + run];
  }
  [[nodiscard]] std::byte* bytes(std::uint64_t wave, unsigned run) const {
    return bytes_.get() + wave * lines_ * kLineBytes + runs_[run].at;
  }

 private:
  static constexpr std::size_t kMaxRuns = 64;
  struct Run {
    std::uint8_t lines{};
    std::size_t at{};  // in the wave's bytes
  };

  std::vector<Run> runs_;
  std::uint64_t lines_{};
  std::vector<std::uint8_t> taken_;
  std::vector<std::uint32_t> line_;
  std::unique_ptr<std::byte[]> bytes_;
};

// Stands behind the L1s of the part that is followed: it answers what leaves them at once, as
// nobody waits for it, and says so when the waves turn out to differ. Has those members of a
// Hierarchy that the engine needs for its quanta.
class NothingBehind {
 public:
  static constexpr bool kMayBeShared = false;
  // `recorder`: of the part's stores. `are_alike`: becomes false where others find that the waves
  // are not.
  NothingBehind(const StoreRecorder& recorder, const std::atomic<bool>& are_alike)
      : recorder_(recorder), are_alike_(are_alike) {}

  [[nodiscard]] static bool shares_commits() { return false; }
  static void gather(ComputeUnit&, std::size_t, std::int64_t, std::int64_t) {}
  void commit(std::vector<std::unique_ptr<ComputeUnit>>& cus, std::span<const std::size_t> engaged,
              std::int64_t start, std::int64_t end, Workers& workers);
  [[nodiscard]] static bool pass_quanta(std::uint64_t, std::size_t) { return true; }
  [[nodiscard]] static std::int64_t next_event() { return kNever; }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  const StoreRecorder& recorder_;
  const std::atomic<bool>& are_alike_;
  std::optional<Error> error_;
};

}  // namespace ww::sim::gpu::exec
