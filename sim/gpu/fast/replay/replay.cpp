#include "fast/replay/replay.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

namespace ww::sim::gpu::exec {
namespace {
// Records are kept until their tags take kTagBytes (equal states share them), but a few always.
constexpr std::size_t kTagBytes = std::size_t{512} << 20U;
constexpr std::size_t kFewestRecords = 256;
constexpr std::size_t kMaxRecords = 8192;  // what they hold besides the tags is small
constexpr std::size_t kMaxKeys = 1U << 16U;
// The tags of the L2 are the same again after some rounds of a program's loop. A key that is not
// replayed by then has other contents of memory each time.
constexpr std::uint32_t kRecordsInARow = 6;
// A record takes two copies of the L2's tags and their hashes: at most a tenth of the time in which
// this many wave instructions for each of its lines are executed.
constexpr std::uint64_t kInstructionsPerLine = 8;

std::string kernel_of(const std::string& key) {
  return key.substr(0, 2 * sizeof(ReplayBook::Number));
}
}  // namespace

std::shared_ptr<const UniformUse> uniform_use(const MemoryCounters& memory,
                                              const L2Snapshot& before, const L2Snapshot& after,
                                              std::vector<std::uint8_t> lines) {
  if (lines.empty()) return nullptr;
  UniformUse use{.outcome = L2Outcome::hits, .lines = std::move(lines)};
  if (memory.misses != 0) {
    // If as many lines were brought as are there in the end, and none was there before, each was
    // brought once, and none has left again. A line that was written might not be brought.
    const std::uint64_t used =
        std::accumulate(use.lines.begin(), use.lines.end(), std::uint64_t{0});
    if (memory.memory_read_halves != 2 * used || memory.memory_writes != 0 ||
        memory.writes + memory.atomics != 0) {
      return nullptr;
    }
    use.outcome = L2Outcome::misses;
    if (tags_after(use.outcome, before, after, use.lines) == nullptr) return nullptr;
  }
  return std::make_shared<const UniformUse>(std::move(use));
}

std::shared_ptr<const MemoryChanges> memory_changes(DeviceMemory& memory) {
  const auto addresses = memory.version().changed_lines();
  if (addresses.empty()) return nullptr;
  MemoryChanges changes{{}, memory.version().value()};
  changes.lines.reserve(addresses.size());
  for (const std::uint64_t address : addresses) {
    std::memcpy(changes.lines.emplace_back(MemoryChanges::Line{address, {}}).bytes.data(),
                memory.host(address), ContentVersion::kLine);
  }
  return std::make_shared<const MemoryChanges>(std::move(changes));
}

std::uint64_t sum_of(const DeviceMemory& memory, const std::vector<std::uint64_t>& pages) {
  std::uint64_t sum = 0;
  for (const std::uint64_t page : pages) {
    sum += ContentVersion::sum(page, memory.host(page), UsedPages::kLinesOfPage);
  }
  return sum;
}

ReplayBook::ReplayBook(std::uint64_t lines) : long_launch_(kInstructionsPerLine * lines) {}

ReplayBook::Worth ReplayBook::worth_of_a_record(const std::string& key) {
  if (came_.size() == kMaxKeys) came_.clear();
  Executions& executions = came_[std::hash<std::string>{}(key)];
  const std::uint32_t before = executions.count++;
  if (before < executions.next_record) {
    return long_kernels_.contains(kernel_of(key)) ? Worth::if_long : Worth::none;
  }
  executions.next_record = before < kRecordsInARow ? before + 1 : before + before / 2;
  return Worth::always;
}

void ReplayBook::replayed(const std::string& key) {
  came_[std::hash<std::string>{}(key)] = {.count = 1};
}

bool ReplayBook::executed(const std::string& key, std::uint64_t instructions) {
  const bool was_long = instructions >= long_launch_;
  if (was_long) {
    long_kernels_.insert(kernel_of(key));
  } else {
    long_kernels_.erase(kernel_of(key));
  }
  return was_long;
}

bool ReplayBook::may_find(const std::string& key, std::uint64_t memory_version) const {
  const auto found = records_.find(key);
  return found != records_.end() &&
         std::ranges::any_of(found->second, [memory_version](const LaunchRecord& record) {
           return record.memory_version == memory_version;
         });
}

const LaunchRecord* ReplayBook::find(const std::string& key, std::uint64_t memory_version,
                                     const L2Snapshot& l2_before, std::uint64_t behind) {
  const auto found = records_.find(key);
  if (found == records_.end()) return nullptr;
  const auto may_be = [&](const LaunchRecord& record) {
    return record.memory_version == memory_version && record.behind.value_or(behind) == behind;
  };
  for (const LaunchRecord& record : found->second) {
    if (may_be(record) && record.l2_before == l2_before.hash) return &record;
  }
  for (const LaunchRecord& record : found->second) {
    if (!may_be(record) || record.uniform == nullptr) continue;
    if (auto after = tags_after(record.uniform->outcome, l2_before, *record.l2_after,
                                record.uniform->lines)) {
      LaunchRecord here = record;
      here.l2_before = l2_before.hash;
      here.l2_after = share(std::move(after));
      return &add(key, std::move(here));
    }
  }
  return nullptr;
}

const LaunchRecord& ReplayBook::add(const std::string& key, LaunchRecord record) {
  std::vector<LaunchRecord>& records = records_[key];
  // Drops records for other contents of memory, which rarely fit again.
  const auto before = records.size();
  std::erase_if(records, [&record](const LaunchRecord& old) {
    return old.memory_version != record.memory_version;
  });
  for (std::size_t gone = before - records.size(); gone != 0; --gone) {
    for (auto place = order_.begin(); place != order_.end(); ++place) {
      if (*place == key) {
        order_.erase(place);
        break;
      }
    }
  }
  records.push_back(std::move(record));
  order_.push_back(key);
  while (order_.size() > kMaxRecords ||
         (order_.size() > kFewestRecords && tag_bytes() > kTagBytes)) {
    forget_oldest();
  }
  return records.back();
}

std::size_t ReplayBook::tag_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [hash, snapshot] : snapshots_) {
    if (const auto known = snapshot.lock()) bytes += known->bytes();
  }
  return bytes;
}

void ReplayBook::forget_oldest() {
  const std::string oldest = order_.front();
  order_.pop_front();
  std::vector<LaunchRecord>& victim = records_[oldest];
  if (!victim.empty()) victim.erase(victim.begin());
  if (victim.empty()) records_.erase(oldest);
}

std::shared_ptr<const L2Snapshot> ReplayBook::share(std::shared_ptr<const L2Snapshot> snapshot) {
  std::erase_if(snapshots_, [](const auto& entry) { return entry.second.expired(); });
  auto& place = snapshots_[snapshot->hash];
  if (auto known = place.lock()) return known;
  place = snapshot;
  return snapshot;
}

ReplayBook::Number ReplayBook::program_of(const std::string& key) {
  Number number = 0;
  std::memcpy(&number, key.data(), sizeof number);
  return number;
}

void ReplayBook::forget_program(Number program) {
  const auto belongs = [program](const std::string& key) { return program_of(key) == program; };
  std::erase_if(records_, [&](const auto& entry) { return belongs(entry.first); });
  std::erase_if(order_, belongs);
  std::erase_if(long_kernels_, belongs);
}

}  // namespace ww::sim::gpu::exec
