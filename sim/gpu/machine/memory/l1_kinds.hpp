// The kinds of vector L1s. `Name`Pass is what a kind does with one instruction, as L1Pass says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "machine/memory/l1_pass.hpp"

namespace ww::sim::gpu::exec {

// Lines of 64 bytes that stores write through, as on GCN, CDNA and CDNA 2.
class LinePass : public L1Pass<LinePass> {
 public:
  using L1Pass::L1Pass;

  // Runs a load by all lanes of a word each, whose lines are the row from `line` on. Does nothing
  // and returns false where the L1 has some of them and access_row() cannot serve them. Only for
  // compute units that nobody watches.
  [[gnu::always_inline]] bool run_row(std::uint32_t line) {
    if (!access_row(line)) return false;
    account();
    return true;
  }

  static constexpr bool kTakesRows = true;

 private:
  friend L1Pass;

  [[gnu::always_inline]] bool access_row(std::uint32_t line) {
    const L1Cache::FoundRow found = cu_.l1.empty() ? L1Cache::FoundRow{} : cu_.l1.find_row(line);
    const std::int64_t departure = start_ + lines_;
    const bool kept = operation_.kind == MemoryKind::load && !fields_.glc;
    if (found.any) {
      // Nothing is done where some of the lines are here and others not, or on their way.
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
};

// Lines of two that come and go together: what L1s of 128-byte lines share.
template <class Kind>
class PairPass : public L1Pass<Kind> {
 public:
  using Base = L1Pass<Kind>;
  using Base::Base;

 protected:
  using Base::cu_;

  void invalidate(std::uint32_t line) {
    cu_.l1.invalidate(line);
    cu_.l1.invalidate(line ^ 1U);
  }
  void missed(std::uint32_t line, std::uint64_t lanes_here, std::int64_t departure,
              std::uint32_t slot) {
    Base::request(Request::Kind::read, line, lanes_here, departure, slot);
    ++cu_.counters.read_requests;  // which counts lines
    const std::uint32_t other = line ^ 1U;
    const bool there = cu_.l1.find(other) != L1Cache::kNone;
    cu_.requests.back().pair = true;
    cu_.requests.back().l1_slot[1] = there ? L1Cache::kNone : cu_.l1.allocate(other, departure);
  }
};

// Timing mode's lines of 128 bytes: a miss brings both halves.
class WideLinePass final : public PairPass<WideLinePass> {
 public:
  using PairPass::PairPass;

 private:
  friend L1Pass;
};

// Lines of 128 bytes that every request is for, as on RDNA 2, RDNA 3 and CDNA 3. The second half of
// the line that an instruction accessed last is no access of its own.
class WideRequestPass final : public PairPass<WideRequestPass> {
 public:
  using PairPass::PairPass;

  static constexpr bool kTakesWholeElements = false;  // order() needs them all

 private:
  friend L1Pass;

  bool goes_around(std::uint64_t begin, std::uint64_t end) {
    if (!fields_.glc || begin % (2 * kLineBytes) != 0 || end % (2 * kLineBytes) != 0) return false;
    for (std::uint64_t line = begin / kLineBytes; line < end / kLineBytes; ++line) {
      cu_.l1.invalidate(static_cast<std::uint32_t>(line));
    }
    return true;
  }
  // The halves of a line stand side by side.
  void order(std::uint32_t* line_of, std::uint64_t* lanes_of, std::size_t count) {
    for (std::size_t i = 0; i + 1 < count; ++i) {
      for (std::size_t j = i + 1; j < count; ++j) {
        if (line_of[j] != (line_of[i] ^ 1U)) continue;
        std::swap(line_of[++i], line_of[j]);
        std::swap(lanes_of[i], lanes_of[j]);
        break;
      }
    }
  }
  void load(std::uint32_t line, std::uint64_t lanes_here, std::int64_t departure) {
    const bool joins = line / 2 == pair_;
    if (fields_.glc && !joins) invalidate(line);  // asked for anew, both halves at once
    pair_ = line / 2;
    joined_ += joins ? 1 : 0;
    look_up(line, lanes_here, departure, !joins);
  }
  void store(std::uint32_t line, std::uint64_t lanes_here, std::int64_t departure) {
    L1Pass::store(line, lanes_here, departure);
    cu_.counters.wide_lines_written += line / 2 != pair_ ? 1 : 0;
    pair_ = line / 2;
  }

  std::uint32_t pair_{~0U};  // the line of 128 bytes that was accessed last
};

// Timing mode's coherent L1: it may own lines, whose stores stay in it until they are written back.
class CoherentPass final : public L1Pass<CoherentPass> {
 public:
  using L1Pass::L1Pass;

 private:
  friend L1Pass;

  bool goes_around(std::uint64_t, std::uint64_t) { return false; }
  void load(std::uint32_t line, std::uint64_t lanes_here, std::int64_t departure) {
    look_up(line, lanes_here, departure);
  }
  void missed(std::uint32_t line, std::uint64_t lanes_here, std::int64_t departure,
              std::uint32_t slot) {
    write_back(departure);
    read_request(line, lanes_here, departure, slot);
  }
  // A store to a line that the L1 owns stays in it. Any other asks the line's slice to make the L1
  // the owner, and brings its bytes along. The order of a core's accesses to a line is kept: loads
  // that come behind such a store join it, and what was on its way before does not stand for them.
  void store(std::uint32_t line, std::uint64_t lanes_here, std::int64_t departure) {
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
};

}  // namespace ww::sim::gpu::exec
