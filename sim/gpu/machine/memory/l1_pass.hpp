// The way of one memory instruction through an L1: which lines it touches, what the L1 has of them,
// and requests for the rest. Here is what all L1s do: they write through, keep nothing on writes,
// and ask for a line at a time. The kinds in l1_kinds.hpp derive from it and hide what they do in
// another way.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "machine/compute_unit/compute_unit.hpp"
#include "machine/compute_unit/line_update.hpp"
#include "machine/compute_unit/memory_operation.hpp"
#include "machine/isa/lane_table.hpp"

namespace ww::sim::gpu::exec {

template <class Kind>
class L1Pass {
 public:
  L1Pass(Wave& wave, const MemoryFields& fields, MemoryOperation& operation)
      : wave_(wave), cu_(*wave.cu), fields_(fields), operation_(operation) {
    start_ = std::max(wave.now, cu_.l1_free);
  }

  void run() {
    if (cu_.watched().memory) [[unlikely]] {
      for (CuObserver* const observer : cu_.observers()) observer->issued(wave_, operation_);
    }
    if (operation_.contiguous) {
      contiguous();
    } else {
      scattered();
    }
    account();
  }

  // Whether a row of lines may go as one request.
  static constexpr bool kTakesRows = false;
  // Whether whole_elements() may find the lines of a scattered operation.
  static constexpr bool kTakesWholeElements = true;

 protected:
  // --- what kinds of L1s do in their own way ---
  // Whether all lines of a dense load from byte `begin` to `end` go around the L1, which has none
  // of them.
  bool goes_around(std::uint64_t, std::uint64_t) { return fields_.glc && cu_.l1.empty(); }
  // As access() for all lines of a row, of which all lanes have all bytes; false, and nothing is
  // done, where that is not possible.
  bool access_row(std::uint32_t) { return false; }
  // Orders the lines of a scattered operation.
  void order(std::uint32_t*, std::uint64_t*, std::size_t) {}
  void load(std::uint32_t line, std::uint64_t lanes_here, std::int64_t departure) {
    if (!fields_.glc) {
      look_up(line, lanes_here, departure);
      return;
    }
    kind().invalidate(line);
    ++cu_.counters.read_requests;
    read_request(line, lanes_here, departure, L1Cache::kNone);
  }
  void store(std::uint32_t line, std::uint64_t lanes_here, std::int64_t departure) {
    kind().invalidate(line);
    ++cu_.counters.write_requests;
    write_request(line, lanes_here, departure);
  }
  void invalidate(std::uint32_t line) { cu_.l1.invalidate(line); }
  // The line was not in the L1, and has this slot now.
  void missed(std::uint32_t line, std::uint64_t lanes_here, std::int64_t departure,
              std::uint32_t slot) {
    read_request(line, lanes_here, departure, slot);
  }

  // --- what they have in common ---
  [[nodiscard]] Kind& kind() { return static_cast<Kind&>(*this); }

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
    if (dense && operation_.kind == MemoryKind::load && kind().goes_around(begin, end)) {
      around_l1(static_cast<std::uint32_t>(begin / kLineBytes),
                static_cast<std::uint32_t>((end - 1) / kLineBytes));
      return;
    }
    const std::uint64_t last_line = (end - 1) / kLineBytes;
    const bool rows = dense && cu_.takes_rows() && operation_.kind <= MemoryKind::store &&
                      (operation_.kind == MemoryKind::load || begin % kLineBytes == 0);
    for (std::uint64_t line = begin / kLineBytes; line <= last_line; ++line) {
      if (rows && line % L1Cache::kRow == 0 && line + L1Cache::kRow - 1 <= last_line &&
          kind().access_row(static_cast<std::uint32_t>(line))) {
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
    if (Kind::kTakesWholeElements && !operation_.spread && whole_elements()) return;
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
    kind().order(line_of, lanes_of, count);
    for (std::size_t i = 0; i < count; ++i) access(line_of[i], lanes_of[i]);
  }

  void access(std::uint32_t line, std::uint64_t lanes_here) {
    const std::int64_t departure = start_ + lines_++;
    switch (operation_.kind) {
      case MemoryKind::load: kind().load(line, lanes_here, departure); return;
      case MemoryKind::store: kind().store(line, lanes_here, departure); return;
      default:
        kind().invalidate(line);
        ++cu_.counters.atomic_requests;
        if (fields_.kind == MemoryKind::atomic_return) ++cu_.counters.atomic_returns;
        request(Request::Kind::atomic, line, lanes_here, departure, L1Cache::kNone);
        return;
    }
  }

  // Loads what the L1 has of the line, or is about to have; else it gets the line. `counts`:
  // whether this is an access of its own.
  void look_up(std::uint32_t line, std::uint64_t lanes_here, std::int64_t departure,
               bool counts = true) {
    const auto [slot, hit] = cu_.l1.find_or_allocate(line, departure);
    if (!hit) {
      ++cu_.counters.read_requests;
      kind().missed(line, lanes_here, departure, slot);
      return;
    }
    ++cu_.activity.l1_hits;
    if (counts) ++cu_.counters.l1_hits;
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
    added.past_gl1 = fields_.past_gl1;
    added.l1_slot[0] = slot;
    run_ = 0;
  }

  Wave& wave_;
  ComputeUnit& cu_;
  const MemoryFields& fields_;
  MemoryOperation& operation_;
  std::int64_t start_{};
  std::int64_t lines_{};
  std::int64_t joined_{};    // of these, those that are no access of their own
  int run_{};                // whether the last request can grow
  std::uint32_t run_end_{};  // the line that it would take next
};

}  // namespace ww::sim::gpu::exec
