// Launches that were executed before, to be replayed when nothing that they could see has changed.
//
// A launch is determined by its key (program, kernel, arguments, grid, LDS), by the contents of
// memory and by the L2's tags. It is recorded when it changed few lines of memory and did not read
// the clock; replaying it changes the same lines and moves the L2 to the recorded end state. Where
// all of its accesses hit, or each line it uses was brought once, the order in which the L2 used
// its lines before does not matter: it is replayed from every state that allows the same.
//
// To record a short launch takes longer than to execute it: most keys never come again, and others
// come again and again with other contents of memory. Each record of a key that was not replayed
// makes the next one wait for more launches.
//
// The state behind the L2 (an Infinity Cache) cannot be restored either: a launch that went there
// is recorded only where it left that as it was, and found only where it is so again.
//
// On a chip of several dies a launch is recorded only where it left all caches as they were.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "machine/caches/l2_tags.hpp"
#include "machine/compute_unit/device_memory.hpp"
#include "machine/counters/counters.hpp"
#include "machine/memory/i_hierarchy.hpp"
#include "ww/sim/gpu/activity.hpp"

namespace ww::sim::gpu::exec {

// The L2's outcome for the lines that a launch used, where it was the same for all of them.
struct UniformUse {
  L2Outcome outcome{};
  std::vector<std::uint8_t> lines;  // of each set: L2Tags::lines_used()
};

// Returns null where it hit some lines and missed others, or brought one twice, or wrote one back.
[[nodiscard]] std::shared_ptr<const UniformUse> uniform_use(const MemoryCounters& memory,
                                                            const L2Snapshot& before,
                                                            const L2Snapshot& after,
                                                            std::vector<std::uint8_t> lines);

// Lines of memory as a launch left them.
struct MemoryChanges {
  struct Line {
    std::uint64_t address{};
    std::array<std::byte, ContentVersion::kLine> bytes{};
  };
  std::vector<Line> lines;
  std::uint64_t version_after{};
};

// Returns the changes of the launch that has just ended, if not too many; null otherwise.
[[nodiscard]] std::shared_ptr<const MemoryChanges> memory_changes(DeviceMemory& memory);

// Contents of the pages whose bytes a launch used, when it began.
struct UsedContents {
  std::vector<std::uint64_t> pages;  // addresses
  std::uint64_t sum{};               // of their lines: ContentVersion::sum()
};

[[nodiscard]] std::uint64_t sum_of(const DeviceMemory& memory,
                                   const std::vector<std::uint64_t>& pages);

struct LaunchRecord {
  std::uint64_t memory_version{};
  std::uint64_t l2_before{};  // its hash
  // Hash of the state behind the L2; nothing where the launch did not go there.
  std::optional<std::uint64_t> behind;
  std::shared_ptr<const L2Snapshot> l2_after;
  // Null where the order of earlier uses may matter.
  std::shared_ptr<const UniformUse> uniform;
  std::shared_ptr<const MemoryChanges> changes;  // null: memory is as it was
  std::shared_ptr<const UsedContents> used;      // null: the host writes nothing unsaid
  std::shared_ptr<const CounterValues> counters;
  std::shared_ptr<const LaunchActivity> activity;
};

class ReplayBook {
 public:
  // A key begins with the numbers of program and kernel.
  using Number = std::uint32_t;
  [[nodiscard]] static Number program_of(const std::string& key);

  // `lines`: that the L2 has.
  explicit ReplayBook(std::uint64_t lines);
  // Whether the launch, which has to be executed, is worth a record: one whose key came before is,
  // unless it was recorded in vain and not enough launches have come since; one of a kernel whose
  // last launch was long is if it is long itself. A key may be taken for another one, or be
  // forgotten.
  enum class Worth : std::uint8_t { none, if_long, always };
  [[nodiscard]] Worth worth_of_a_record(const std::string& key);
  // The launch's record was used.
  void replayed(const std::string& key);
  // Returns whether that was a long launch.
  bool executed(const std::string& key, std::uint64_t instructions);
  // False where no state of the L2 would do.
  [[nodiscard]] bool may_find(const std::string& key, std::uint64_t memory_version) const;
  // The record that fits, or nullptr. `behind`: hash of what lies behind the L2. Valid until the
  // next add() or find().
  [[nodiscard]] const LaunchRecord* find(const std::string& key, std::uint64_t memory_version,
                                         const L2Snapshot& l2_before, std::uint64_t behind);
  const LaunchRecord& add(const std::string& key, LaunchRecord record);
  // Returns one snapshot object for equal states.
  std::shared_ptr<const L2Snapshot> share(std::shared_ptr<const L2Snapshot> snapshot);
  void forget_program(Number program);

 private:
  [[nodiscard]] std::size_t tag_bytes() const;  // of all states that are known
  void forget_oldest();

  std::unordered_map<std::string, std::vector<LaunchRecord>> records_;
  std::deque<std::string> order_;  // keys as records were added, to forget the oldest
  std::unordered_map<std::uint64_t, std::weak_ptr<const L2Snapshot>> snapshots_;
  // Launches of a key that had to be executed since one was replayed.
  struct Executions {
    std::uint32_t count{};
    std::uint32_t next_record{1};  // the count with which one is recorded
  };
  std::unordered_map<std::size_t, Executions> came_;  // by the hash of the key
  std::unordered_set<std::string> long_kernels_;      // beginnings of keys
  std::uint64_t long_launch_;                         // wave instructions
};

}  // namespace ww::sim::gpu::exec
