#include "launch/store_tape.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "compute_unit/line_update.hpp"
#include "launch/alike_waves.hpp"

namespace ww::sim::gpu::exec {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{128} << 20;  // of all tapes that are kept

// Whether these lanes of a store write all bytes of the line. Of a wave of 32 they are some of an
// operation's 64.
bool is_whole(const MemoryOperation& operation, std::uint32_t line, std::uint64_t lanes) {
  if (whole_line(operation, line, lanes) != nullptr) return true;
  if (!operation.contiguous || lanes == 0) return false;
  const int first = std::countr_zero(lanes);
  const int count = std::countr_one(lanes >> first);
  if (first + count + std::countl_zero(lanes) != kLanes) return false;
  const std::uint64_t begin =
      operation.base + static_cast<std::uint64_t>(first) * operation.element_bytes;
  const std::uint64_t end = begin + static_cast<std::uint64_t>(count) * operation.element_bytes;
  return begin <= line_address(line) && line_address(line) + kLineBytes <= end;
}

// No store of a line comes behind another one: each finds in memory what it wrote.
bool are_apart(const std::vector<StoreTape::Store>& stores) {
  constexpr unsigned kBitsOfLines = 8;
  std::vector<std::uint64_t> runs;
  runs.reserve(stores.size());
  for (const StoreTape::Store& store : stores) {
    runs.push_back(std::uint64_t{store.line} << kBitsOfLines | store.lines);
  }
  std::ranges::sort(runs);
  std::uint64_t end = 0;
  for (const std::uint64_t run : runs) {
    const std::uint64_t line = run >> kBitsOfLines;
    if (line < end) return false;
    end = line + (run & ((1U << kBitsOfLines) - 1));
  }
  return true;
}

// Whether a line is one of the launch's arguments or of its waves' private memory, whose contents
// nobody follows.
bool is_own(const LaunchState& launch, std::uint32_t line) {
  const std::uint64_t address = line_address(line);
  return launch.is_argument(address) || address - launch.scratch < launch.scratch_bytes;
}

bool any_is_own(const std::vector<StoreTape::Store>& stores, const LaunchState& launch) {
  return std::ranges::any_of(stores, [&launch](const StoreTape::Store& store) {
    for (std::uint32_t line = store.line; line < store.line + store.lines; ++line) {
      if (is_own(launch, line)) return true;
    }
    return false;
  });
}

// Sums the tape's lines; nothing where some of them are in no allocation any more.
std::optional<std::uint64_t> sum_of_lines(const StoreTape& tape, const DeviceMemory& memory) {
  std::uint64_t sum = 0;
  for (const StoreTape::Store& store : tape.stores) {
    const std::uint64_t address = line_address(store.line);
    if (!memory.contains(address, store.lines * kLineBytes)) return std::nullopt;
    sum += ContentVersion::sum(address, memory.host(address), store.lines);
  }
  return sum;
}

}  // namespace

bool stores_whole_lines(const Request& request) {
  const std::uint32_t last = request.line + request.lines - 1;
  return request.kind == Request::Kind::write && !request.pair &&
         is_whole(*request.operation, request.line, request.lanes) &&
         is_whole(*request.operation, last, request.lanes);
}

bool may_be_kept(const std::vector<StoreTape::Store>& stores, const LaunchState& launch) {
  return are_apart(stores) && !any_is_own(stores, launch);
}

void StoreRecorder::begin(bool recording, AlikeWaves* waves) {
  tape_ = recording ? std::make_shared<StoreTape>() : nullptr;
  waves_ = waves;
  origins_.clear();
  std::ranges::fill(seen_, 0);
  passed_ = 0;
  under_way_ = false;
}

void StoreRecorder::sent(std::int64_t begin, std::span<const std::size_t> engaged,
                         std::span<const std::unique_ptr<ComputeUnit>> cus) {
  if (tape_ == nullptr) return;
  const std::size_t before = tape_->stores.size();
  for (const std::size_t place : engaged) {
    const ComputeUnit& cu = *cus[place];
    const std::size_t count = cu.requests.size();
    for (std::size_t i = seen_[place]; i < count; ++i) {
      if (!take(begin, static_cast<std::uint16_t>(place), cu.requests[i]) ||
          (waves_ != nullptr && !take_bytes(cu, cu.requests[i]))) {
        tape_.reset();
        return;
      }
    }
    if (cu.saw_memory()) {
      tape_.reset();
      return;
    }
  }
  const auto stores = static_cast<std::uint32_t>(tape_->stores.size() - before);
  if (stores == 0 && !under_way_) {
    ++passed_;
    return;
  }
  tape_->quanta.push_back({begin, std::exchange(passed_, 0), stores});
}

bool StoreRecorder::take(std::int64_t begin, std::uint16_t cu, const Request& request) {
  if (!stores_whole_lines(request) || tape_->stores.size() == kMaxStores) return false;
  const std::int64_t departure = request.departure - begin;
  if (departure != static_cast<std::int32_t>(departure)) return false;
  tape_->lines += request.lines;
  tape_->stores.push_back(
      {request.line, static_cast<std::int32_t>(departure), cu, request.lines, request.past_gl1});
  return true;
}

bool StoreRecorder::take_bytes(const ComputeUnit& cu, const Request& request) {
  const std::uint64_t wave = cu.wave_number(request.wave_slot);
  origins_.push_back({wave, waves_->taken(wave)});
  return waves_->take(wave, request);
}

void StoreRecorder::committed(std::span<const std::size_t> engaged,
                              std::span<const std::unique_ptr<ComputeUnit>> cus) {
  if (tape_ == nullptr) return;
  under_way_ = false;
  for (const std::size_t place : engaged) {
    const ComputeUnit& cu = *cus[place];
    seen_[place] = cu.requests.size();
    under_way_ = under_way_ || cu.requests_done < cu.requests.size();
  }
}

std::shared_ptr<const StoreTape> StoreRecorder::end(
    std::span<const std::unique_ptr<ComputeUnit>> cus, const LaunchState& launch,
    const WorkOfCus& work) {
  const std::shared_ptr<StoreTape> tape = std::exchange(tape_, nullptr);
  if (tape == nullptr || work.clock_read) return nullptr;
  if (work.instructions < kInstructionsPerStoredLine * tape->lines) return nullptr;
  if (std::ranges::any_of(cus, [](const auto& cu) { return !cu->findings.findings().empty(); })) {
    return nullptr;
  }
  if (!may_be_kept(tape->stores, launch)) return nullptr;
  tape->work = work;
  tape->stores.shrink_to_fit();
  tape->quanta.shrink_to_fit();
  return tape;
}

void StoreTapes::keep(const std::string& key, const DeviceMemory& memory,
                      std::shared_ptr<const StoreTape> tape) {
  std::erase_if(kept_, [&key](const Kept& kept) { return kept.key == key; });
  const auto sum = sum_of_lines(*tape, memory);
  if (!sum) return;
  kept_.push_back({key, std::move(tape), *sum, memory.version().value()});
  std::size_t bytes = 0;
  for (const Kept& kept : kept_) bytes += kept.tape->bytes();
  while (bytes > kMaxBytes) {
    bytes -= kept_.front().tape->bytes();
    kept_.pop_front();
  }
}

std::shared_ptr<const StoreTape> StoreTapes::find(const std::string& key,
                                                  const DeviceMemory& memory, bool unsaid) {
  const auto found =
      std::ranges::find_if(kept_, [&key](const Kept& kept) { return kept.key == key; });
  if (found == kept_.end()) return nullptr;
  const std::uint64_t version = memory.version().value();
  if (unsaid || found->memory_version != version) {
    if (sum_of_lines(*found->tape, memory) != found->sum) return nullptr;
    found->memory_version = version;
  }
  return found->tape;
}

void StoreTapes::forget_program(ReplayBook::Number program) {
  std::erase_if(
      kept_, [program](const Kept& kept) { return ReplayBook::program_of(kept.key) == program; });
}

}  // namespace ww::sim::gpu::exec
