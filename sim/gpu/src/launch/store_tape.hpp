// Stores of a launch that comes again: what its waves do is known, and only what lies behind the
// L1s is gone through once more.
//
// ReplayBook (replay.hpp) knows a launch by the state of the caches that it finds. The second
// launch of a kernel most often finds another one than the first did, and is executed, too. For
// some kernels that changes nothing but where their stores go: their waves load nothing, read
// nothing but their arguments, and wait for no store. Benchmarks of a chip's arithmetic are such
// kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compute_unit/compute_unit.hpp"
#include "launch/replay.hpp"
#include "ww/sim/gpu/activity.hpp"

namespace ww::sim::gpu::exec {

// Describes what the compute units did in a launch, without the hierarchy behind their L1s.
struct WorkOfCus {
  std::int64_t last_end{};       // cycle at which the last wave ended
  std::uint64_t instructions{};  // of all waves
  bool clock_read{};
  CuCounters counters;  // of all
  std::vector<CuActivity> activities;
};

struct StoreTape {
  // A run of whole lines, as a Request has it.
  struct Store {
    std::uint32_t line{};
    std::int32_t departure{};  // cycles after the beginning of the quantum that sent it
    std::uint16_t cu{};
    std::uint8_t lines{};
    bool past_gl1{};
  };
  // A quantum at whose end something may have arrived.
  struct Quantum {
    std::int64_t begin{};
    std::uint64_t passed{};  // quanta since the last one of these, at whose ends nothing did
    std::uint32_t stores{};  // that were sent in it
  };
  std::vector<Store> stores;  // as they were sent
  std::vector<Quantum> quanta;
  std::uint64_t lines{};  // of all stores
  WorkOfCus work;

  [[nodiscard]] std::size_t bytes() const {
    return stores.capacity() * sizeof(Store) + quanta.capacity() * sizeof(Quantum) +
           work.activities.capacity() * sizeof(CuActivity);
  }
};

class AlikeWaves;

// Whether a request is a store that a tape may have: of whole lines, on its own.
[[nodiscard]] bool stores_whole_lines(const Request& request);
// Whether a tape of these stores may be kept: none is to a line of another one, or to what the
// launch itself reads or keeps privately.
[[nodiscard]] bool may_be_kept(const std::vector<StoreTape::Store>& stores,
                               const LaunchState& launch);
// Instructions for each stored line from which on a tape is worth it: to look at a line's contents
// takes a tenth of the time in which as many are executed, or less.
inline constexpr std::uint64_t kInstructionsPerStoredLine = 64;
inline constexpr std::size_t kMaxStores = std::size_t{4} << 20;

// Writes a tape while a launch is executed, as long as the launch is one of that kind.
class StoreRecorder {
 public:
  // Whose store it is: the number of its wave, and which of that wave's.
  struct Origin {
    std::uint64_t wave{};
    unsigned run{};
  };

  explicit StoreRecorder(std::size_t cus) : seen_(cus) {}

  // `recording`: false: nothing is kept. `waves`: takes what is stored, too; null: nobody does.
  void begin(bool recording, AlikeWaves* waves = nullptr);
  [[nodiscard]] bool is_recording() const { return tape_ != nullptr; }
  // The compute units ran through the quantum that began then; its commit comes next.
  void sent(std::int64_t begin, std::span<const std::size_t> engaged,
            std::span<const std::unique_ptr<ComputeUnit>> cus);
  void committed(std::span<const std::size_t> engaged,
                 std::span<const std::unique_ptr<ComputeUnit>> cus);
  // Adds `quanta` quanta at whose ends nothing could arrive.
  void passed(std::uint64_t quanta) { passed_ += quanta; }
  // Origins of the stores of the last tape that was begun with AlikeWaves, in its order.
  [[nodiscard]] const std::vector<Origin>& origins() const { return origins_; }
  // Null where the launch was of another kind, had too many stores, or did too little for them.
  [[nodiscard]] std::shared_ptr<const StoreTape> end(
      std::span<const std::unique_ptr<ComputeUnit>> cus, const LaunchState& launch,
      const WorkOfCus& work);

 private:
  [[nodiscard]] bool take(std::int64_t begin, std::uint16_t cu, const Request& request);
  [[nodiscard]] bool take_bytes(const ComputeUnit& cu, const Request& request);

  std::shared_ptr<StoreTape> tape_;  // null: not recording, or not any more
  std::vector<std::size_t> seen_;    // by compute unit: requests that are on the tape, or done
  std::uint64_t passed_{};
  bool under_way_{};  // a store that departs in a later quantum
  AlikeWaves* waves_{};
  std::vector<Origin> origins_;  // of the tape's stores, with `waves_`
};

// The tapes that are kept, by the keys of their launches. A tape fits where memory holds what its
// launch stored: in the same state of memory, and in others if its lines are found to be the same.
class StoreTapes {
 public:
  // Keeps the tape of a launch that has just ended.
  void keep(const std::string& key, const DeviceMemory& memory,
            std::shared_ptr<const StoreTape> tape);
  // Null where there is none that fits. `unsaid`: the host may have written memory without a new
  // version of it.
  [[nodiscard]] std::shared_ptr<const StoreTape> find(const std::string& key,
                                                      const DeviceMemory& memory, bool unsaid);
  void forget_program(ReplayBook::Number program);

 private:
  struct Kept {
    std::string key;
    std::shared_ptr<const StoreTape> tape;
    std::uint64_t sum{};  // of the lines' contents
    std::uint64_t memory_version{};
  };
  std::deque<Kept> kept_;  // as they were added
};

}  // namespace ww::sim::gpu::exec
