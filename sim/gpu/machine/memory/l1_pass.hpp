// The way of one memory instruction through the L1: which lines it touches, what the L1 has of
// them, and requests for the rest.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "machine/compute_unit/compute_unit.hpp"
#include "machine/compute_unit/line_update.hpp"
#include "machine/compute_unit/memory_operation.hpp"
#include "machine/isa/lane_table.hpp"

namespace ww::sim::gpu::exec {

class L1Pass {
 public:
  L1Pass(Wave& wave, const MemoryFields& fields, MemoryOperation& operation)
      : wave_(wave), cu_(*wave.cu), fields_(fields), operation_(operation) {
    start_ = std::max(wave.now, cu_.l1_free);
    // RDNA 2 has a bit of its own for it (DLC); on RDNA 3 that is a hint for memory's cache.
    past_gl1_ = cu_.launch().isa == Isa::gfx1030 ? fields_.dlc : fields_.glc;
  }

  void run() {
    if (cu_.trace) [[unlikely]]
      cu_.trace->issued(wave_, operation_);
    if (operation_.contiguous) {
      contiguous();
    } else {
      scattered();
    }
    account();
  }

  // Runs a load of a word a lane by all lanes, to which the row of lines from `line` on belongs:
  // false, and nothing is done, where the L1 has some of it. Without a trace.
  [[gnu::always_inline]] bool run_row(std::uint32_t line) {
    if (!access_row(line)) return false;
    account();
    return true;
  }

 private:
  [[gnu::always_inline]] void account() {
    // One line, or 64 bytes towards the registers, a cycle.
    const auto words = static_cast<std::int64_t>(element_words(operation_));
    const std::int64_t least = operation_.image ? operation_.bytes->image->cycles : 4 * words;
    cu_.l1_free = start_ + std::max(lines_, least);
    cu_.activity.l1_accesses += static_cast<std::uint64_t>(lines_);
    cu_.counters.l1_accesses += static_cast<std::uint64_t>(lines_ - joined_);
  }

  void contiguous() {
    const std::uint64_t bytes = operation_.element_bytes;
    const std::uint64_t exec = operation_.exec;
    const auto first = static_cast<unsigned>(std::countr_zero(exec));
    const auto last = 64U - static_cast<unsigned>(std::countl_zero(exec));
    const std::uint64_t begin = operation_.base + first * bytes - kDeviceBase;
    const std::uint64_t end = operation_.base + last * bytes - kDeviceBase;
    const bool dense = exec == ~std::uint64_t{0};
    if (cu_.asks_for_pairs) [[unlikely]] {
      if (dense && operation_.kind == MemoryKind::load && fields_.glc &&
          begin % (2 * kLineBytes) == 0 && end % (2 * kLineBytes) == 0) {
        const auto first_line = static_cast<std::uint32_t>(begin / kLineBytes);
        const auto last_line = static_cast<std::uint32_t>((end - 1) / kLineBytes);
        for (std::uint32_t line = first_line; line <= last_line; ++line) cu_.l1.invalidate(line);
        around_l1(first_line, last_line);
        return;
      }
    } else if (dense && operation_.kind == MemoryKind::load && fields_.glc && cu_.l1.empty() &&
               !cu_.coherent) {
      around_l1(static_cast<std::uint32_t>(begin / kLineBytes),
                static_cast<std::uint32_t>((end - 1) / kLineBytes));
      return;
    }
    const std::uint64_t last_line = (end - 1) / kLineBytes;
    const bool rows = dense && cu_.takes_rows() && operation_.kind <= MemoryKind::store &&
                      (operation_.kind == MemoryKind::load || begin % kLineBytes == 0);
    for (std::uint64_t line = begin / kLineBytes; line <= last_line; ++line) {
      if (rows && line % L1Cache::kRow == 0 && line + L1Cache::kRow - 1 <= last_line &&
          access_row(static_cast<std::uint32_t>(line))) {
        line += L1Cache::kRow - 1;
        continue;
      }
      std::uint64_t lanes_here = 0;
      if (!dense) {
        // Lanes whose element lies at least partly in this line.
        const std::uint64_t from = line * kLineBytes + kDeviceBase;
        const std::uint64_t low = from <= operation_.base ? 0 : (from - operation_.base) / bytes;
        const std::uint64_t high =
            std::min<std::uint64_t>(64, (from + kLineBytes - operation_.base + bytes - 1) / bytes);
        const std::uint64_t below_high =
            high >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << high) - 1;
        lanes_here = exec & below_high & ~((std::uint64_t{1} << low) - 1);
        if (lanes_here == 0) continue;
        if (operation_.kind == MemoryKind::load) lanes_here = 0;
      }
      access(static_cast<std::uint32_t>(line), lanes_here);
    }
  }

  // All lines from first to last, none of which the L1 can have: whole runs at once.
  void around_l1(std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t line = first; line <= last;) {
      const std::uint32_t run =
          std::min(cu_.lines_per_run - line % cu_.lines_per_run, last - line + 1);
      request(Request::Kind::read, line, 0, start_ + lines_, L1Cache::kNone);
      cu_.requests.back().lines = static_cast<std::uint8_t>(run);
      lines_ += run;
      line += run;
    }
    cu_.counters.read_requests += last - first + 1;
  }

  // Each element lies in one line: the lanes of a line are found at once, lines in the order of
  // their first lanes. False where one does not.
  bool whole_elements() {
    const LaneTable& table = lanes();
    alignas(64) std::uint32_t line_of[kLanes];
    if (!table.line_numbers(line_of, operation_.address(), kDeviceBase, operation_.element_bytes,
                            operation_.exec)) {
      return false;
    }
    for (std::uint64_t set = operation_.exec; set != 0;) {
      const std::uint32_t line = line_of[std::countr_zero(set)];
      const std::uint64_t lanes_here = table.equal_by_column(line_of, line, 0) & set;
      set ^= lanes_here;
      access(line, lanes_here);
    }
    return true;
  }

  void scattered() {
    if (!operation_.spread && !cu_.asks_for_pairs && whole_elements()) return;
    // Lines of an element: 16 bytes in rows of dwords, misaligned, are 5 pieces of two lines each;
    // a sample's texels lie within a line.
    constexpr std::size_t kMax = std::max<std::size_t>(TapSet::kMax, 10);
    std::uint32_t line_of[kMax * kLanes];
    std::uint64_t lanes_of[kMax * kLanes];
    std::size_t count = 0;
    std::size_t latest = 0;
    const auto add = [&](std::uint64_t line, unsigned lane) {
      if (count != 0 && line_of[latest] == line) {
        lanes_of[latest] |= std::uint64_t{1} << lane;
        return;
      }
      for (latest = 0; latest < count && line_of[latest] != line; ++latest) {
      }
      if (latest == count) {
        line_of[count] = static_cast<std::uint32_t>(line);
        lanes_of[count++] = 0;
      }
      lanes_of[latest] |= std::uint64_t{1} << lane;
    };
    for (std::uint64_t set = operation_.exec; set != 0; set &= set - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(set));
      if (operation_.spread && operation_.image) [[unlikely]] {
        const TapSet& taps = operation_.bytes->image->taps;
        for_taps(taps, lane, [&](std::size_t tap) {
          add((taps.address[tap][lane] - kDeviceBase) / kLineBytes, lane);
        });
        continue;
      }
      if (operation_.spread) [[unlikely]] {
        for_pieces(operation_, lane, [&](std::uint64_t, std::uint64_t at, std::uint64_t bytes) {
          add((at - kDeviceBase) / kLineBytes, lane);
          const std::uint64_t end = (at - kDeviceBase + bytes - 1) / kLineBytes;
          if (end != (at - kDeviceBase) / kLineBytes) add(end, lane);
        });
        continue;
      }
      const std::uint64_t offset = operation_.address()[lane] - kDeviceBase;
      add(offset / kLineBytes, lane);
      const std::uint64_t last = (offset + operation_.element_bytes - 1) / kLineBytes;
      if (last != offset / kLineBytes) add(last, lane);
    }
    for (std::size_t i = 0; cu_.asks_for_pairs && i + 1 < count; ++i) {  // partners side by side
      for (std::size_t j = i + 1; j < count; ++j) {
        if (line_of[j] != (line_of[i] ^ 1U)) continue;
        std::swap(line_of[++i], line_of[j]);
        std::swap(lanes_of[i], lanes_of[j]);
        break;
      }
    }
    for (std::size_t i = 0; i < count; ++i) access(line_of[i], lanes_of[i]);
  }

  // access() for all lines of a row, of which all lanes have all bytes; false, and nothing is done,
  // where the L1 has some of them and others not, or their data is on its way.
  [[gnu::always_inline]] bool access_row(std::uint32_t line) {
    const L1Cache::FoundRow found = cu_.l1.empty() ? L1Cache::FoundRow{} : cu_.l1.find_row(line);
    const std::int64_t departure = start_ + lines_;
    const bool kept = operation_.kind == MemoryKind::load && !fields_.glc;
    if (found.any) {
      if (!kept || found.slot == L1Cache::kNone || cu_.l1_data) return false;
      const std::int64_t ready = cu_.l1.row_ready(found.slot);
      if (ready == L1Cache::kPending) return false;
      cu_.l1.use_row(found.slot);
      cu_.activity.l1_hits += L1Cache::kRow;
      cu_.counters.l1_hits += L1Cache::kRow;
      load_lines(operation_, line, L1Cache::kRow, 0, cu_.memory());
      const std::int64_t last = departure + L1Cache::kRow - 1 + cu_.launch().l1_hit_cycles;
      operation_.completion = std::max(operation_.completion, std::max(last, ready));
    } else if (operation_.kind == MemoryKind::load) {
      request(Request::Kind::read, line, 0, departure, L1Cache::kNone);
      Request& added = cu_.requests.back();
      added.lines = L1Cache::kRow;
      added.fills_l1 = kept;
      if (kept) cu_.l1.allocate_row(line, departure, added.l1_slot);
      cu_.counters.read_requests += L1Cache::kRow;
    } else {
      request(Request::Kind::write, line, 0, departure, L1Cache::kNone);
      cu_.requests.back().lines = L1Cache::kRow;
      cu_.counters.write_requests += L1Cache::kRow;
    }
    lines_ += L1Cache::kRow;
    return true;
  }

  void access(std::uint32_t line, std::uint64_t lanes_here) {
    const std::int64_t departure = start_ + lines_++;
    switch (operation_.kind) {
      case MemoryKind::load:
        if (!fields_.glc || cu_.coherent) {
          load(line, lanes_here, departure);
          return;
        }
        if (cu_.asks_for_pairs) {  // asked for anew, both halves at once
          if (line / 2 != pair_) invalidate(line);
          load(line, lanes_here, departure);
          return;
        }
        invalidate(line);
        ++cu_.counters.read_requests;
        read_request(line, lanes_here, departure, L1Cache::kNone);
        return;
      case MemoryKind::store:
        if (cu_.coherent) [[unlikely]] {
          coherent_store(line, lanes_here, departure);
          return;
        }
        invalidate(line);
        ++cu_.counters.write_requests;
        if (cu_.asks_for_pairs) [[unlikely]] {
          cu_.counters.wide_lines_written += line / 2 != pair_ ? 1 : 0;
          pair_ = line / 2;
        }
        write_request(line, lanes_here, departure);
        return;
      default:
        invalidate(line);
        ++cu_.counters.atomic_requests;
        if (fields_.kind == MemoryKind::atomic_return) ++cu_.counters.atomic_returns;
        request(Request::Kind::atomic, line, lanes_here, departure, L1Cache::kNone);
        return;
    }
  }

  void invalidate(std::uint32_t line) {
    cu_.l1.invalidate(line);
    if (cu_.pairs_of_lines) cu_.l1.invalidate(line ^ 1U);
  }

  void load(std::uint32_t line, std::uint64_t lanes_here, std::int64_t departure) {
    // A line's other half that this instruction asked for just now is no access of its own.
    const bool joins = cu_.asks_for_pairs && line / 2 == pair_;
    if (cu_.asks_for_pairs) pair_ = line / 2;
    joined_ += joins ? 1 : 0;
    const auto [slot, hit] = cu_.l1.find_or_allocate(line, departure);
    if (!hit) {
      if (cu_.coherent) write_back(departure);
      ++cu_.counters.read_requests;
      if (cu_.pairs_of_lines) [[unlikely]] {
        read_pair(line, lanes_here, departure, slot);
      } else {
        read_request(line, lanes_here, departure, slot);
      }
      return;
    }
    ++cu_.activity.l1_hits;
    if (!joins) ++cu_.counters.l1_hits;
    const std::int64_t ready = cu_.l1.ready(slot);
    if (ready == L1Cache::kPending) {  // joins the request that is on its way
      request(Request::Kind::merge, line, lanes_here, departure, slot);
      return;
    }
    const std::byte* const kept = cu_.l1_data ? cu_.l1_data->line(slot) : nullptr;
    if (kept != nullptr) [[unlikely]] {
      load_delivered(operation_, line, lanes_here, cu_.memory(), kept);
    } else {
      load_lines(operation_, line, 1, lanes_here, cu_.memory());
    }
    operation_.completion =
        std::max(operation_.completion, std::max(departure + cu_.launch().l1_hit_cycles, ready));
  }

  // A store to a line that the L1 owns stays in it. Any other asks the line's slice to make the L1
  // the owner, and brings its bytes along. The order of a core's accesses to a line is kept: loads
  // that come behind such a store join it, and what was on its way before does not stand for them.
  void coherent_store(std::uint32_t line, std::uint64_t lanes_here, std::int64_t departure) {
    const std::uint32_t here = cu_.l1.find(line);
    if (here != L1Cache::kNone && cu_.l1.owned(here)) {
      store_line(operation_, line, lanes_here, cu_.memory());
      cu_.l1.store(here);
      if (cu_.l1_data) cu_.l1_data->as_memory(here);
      ++cu_.l1_stores;
      operation_.completion =
          std::max(operation_.completion, departure + cu_.launch().l1_hit_cycles);
      return;
    }
    cu_.l1.invalidate(line);
    const std::uint32_t slot = cu_.l1.allocate(line, departure);
    write_back(departure);
    ++cu_.counters.write_requests;
    request(Request::Kind::write, line, lanes_here, departure, slot);
  }

  // Sends the line away whose place was just taken, if it had stores.
  void write_back(std::int64_t departure) {
    const std::uint32_t victim = cu_.l1.take_victim();
    if (victim == L1Cache::kNone) return;
    Request& added = cu_.requests.emplace_back();
    added.departure = departure;
    added.line = victim;
    added.kind = Request::Kind::write_back;
    added.l1_slot[0] = L1Cache::kNone;
    run_ = 0;
  }

  void read_pair(std::uint32_t line, std::uint64_t lanes_here, std::int64_t departure,
                 std::uint32_t slot) {
    request(Request::Kind::read, line, lanes_here, departure, slot);
    ++cu_.counters.read_requests;  // which counts lines
    const std::uint32_t other = line ^ 1U;
    const bool there = cu_.l1.find(other) != L1Cache::kNone;
    cu_.requests.back().pair = true;
    cu_.requests.back().l1_slot[1] = there ? L1Cache::kNone : cu_.l1.allocate(other, departure);
  }

  // Joins the previous line's request where that is a run of the same block.
  void read_request(std::uint32_t line, std::uint64_t lanes_here, std::int64_t departure,
                    std::uint32_t slot) {
    const bool grows = lanes_here == 0 || covers_line(lanes_here);
    if (grows && run_ != 0 && line == run_end_ && line % cu_.lines_per_run != 0) {
      Request& last = cu_.requests.back();
      last.l1_slot[last.lines++] = slot;
      last.lanes |= lanes_here;
      ++run_end_;
      return;
    }
    request(Request::Kind::read, line, lanes_here, departure, slot);
    run_ = grows ? 1 : 0;
    run_end_ = line + 1;
  }
  // Four lanes in a row of 16 bytes each, all in one line: they are the line, for an element that
  // was not split and lies in no other.
  [[nodiscard]] bool covers_line(std::uint64_t lanes_here) const {
    if (operation_.element_bytes != 16 || operation_.spread) return false;
    const auto first = static_cast<unsigned>(std::countr_zero(lanes_here));
    return first % 4 == 0 && lanes_here == std::uint64_t{15} << first &&
           operation_.address()[first] % kLineBytes == 0;
  }
  // Adds a write of a line; whole lines alone travel together.
  void write_request(std::uint32_t line, std::uint64_t lanes_here, std::int64_t departure) {
    const bool whole = whole_line(operation_, line, lanes_here) != nullptr;
    if (whole && run_ != 0 && line == run_end_ && line % cu_.lines_per_run != 0) {
      ++cu_.requests.back().lines;
      ++run_end_;
      return;
    }
    request(Request::Kind::write, line, lanes_here, departure, L1Cache::kNone);
    run_ = whole ? 1 : 0;
    run_end_ = line + 1;
  }
  [[gnu::always_inline]] void request(Request::Kind kind, std::uint32_t line,
                                      std::uint64_t lanes_here, std::int64_t departure,
                                      std::uint32_t slot) {
    ++operation_.unresolved;
    Request& added = cu_.requests.emplace_back();
    added.departure = departure;
    added.operation = &operation_;
    added.lanes = lanes_here;
    added.line = line;
    added.kind = kind;
    added.fills_l1 = slot != L1Cache::kNone;
    added.past_gl1 = past_gl1_;
    added.l1_slot[0] = slot;
    run_ = 0;
  }

  Wave& wave_;
  ComputeUnit& cu_;
  const MemoryFields& fields_;
  MemoryOperation& operation_;
  bool past_gl1_{};
  std::int64_t start_{};
  std::int64_t lines_{};
  std::int64_t joined_{};    // of these, second halves of lines of 128 bytes
  std::uint32_t pair_{~0U};  // the pair that was accessed last, where lines are pairs
  int run_{};                // whether the last request can grow
  std::uint32_t run_end_{};  // the line that it would take next
};

}  // namespace ww::sim::gpu::exec
