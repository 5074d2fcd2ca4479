// Straight-line code: runs of instructions that change registers of their wave alone, whatever the
// time. A wave executes such a run at once, while its registers are at hand in the host's caches,
// and is then charged for it instruction by instruction, as if it had executed each when it issued.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "machine/isa/micro_op.hpp"
#include "ww/binpatch/isa/instruction.hpp"

namespace ww::sim::gpu::exec {

struct Wave;

// Registers by bit.
struct RegisterSet {
  std::array<std::uint64_t, 8> vector{};  // accumulation registers follow the others
  std::array<std::uint64_t, 3> scalar{};  // by hardware number

  void add_vector(unsigned first, unsigned count) { add(vector, first, count); }
  void add_scalar(unsigned first, unsigned count) { add(scalar, first, count); }
  void add(const RegisterSet& other) {
    for (std::size_t i = 0; i < vector.size(); ++i) vector[i] |= other.vector[i];
    for (std::size_t i = 0; i < scalar.size(); ++i) scalar[i] |= other.scalar[i];
  }
  [[nodiscard]] bool has_vector(unsigned first, unsigned count) const {
    return has(vector, first, count);
  }
  [[nodiscard]] bool has_scalar(unsigned first, unsigned count) const {
    return has(scalar, first, count);
  }

 private:
  template <std::size_t N>
  static void add(std::array<std::uint64_t, N>& set, unsigned first, unsigned count) {
    for (unsigned i = first; i < first + count && i < 64 * N; ++i) {
      set[i / 64] |= std::uint64_t{1} << (i % 64);
    }
  }
  template <std::size_t N>
  static bool has(const std::array<std::uint64_t, N>& set, unsigned first, unsigned count) {
    for (unsigned i = first; i < first + count && i < 64 * N; ++i) {
      if ((set[i / 64] >> (i % 64) & 1) != 0) return true;
    }
    return false;
  }
};

// The run that begins at a dword, as far as it goes.
struct StraightRun {
  RegisterSet registers;         // read or written
  std::uint32_t count{};         // instructions for the vector ALU
  std::uint32_t vectors{};       // of them for the vector ALU
  std::uint32_t approximated{};  // of these, those whose last bits may be others on a card
  std::uint32_t load{};  // dword of the first linked load behind it (load_addresses.hpp); 0: none
};

// The issue logic's part of an instruction; aligned so that a pointer steps by a shift.
struct alignas(4) IssueSlot {
  Unit unit{Unit::internal};
  std::uint8_t cycles{};
  std::uint8_t dwords{};
};

struct StraightLines {  // by dword
  std::vector<StraightRun> run;
  std::vector<IssueSlot> issue;
};

// Registers that a straight instruction reads and writes; conservative.
[[nodiscard]] RegisterSet registers_of(const binpatch::isa::Instruction& instruction,
                                       const MicroOp& op);
// `registers` by dword, as registers_of() gives them.
[[nodiscard]] StraightLines find_straight_lines(const std::vector<MicroOp>& code,
                                                const std::vector<RegisterSet>& registers);

// Executes `count` straight instructions; returns the lanes enabled in those of the vector ALU.
std::uint64_t execute_straight(Wave& wave, const MicroOp* op, std::uint32_t count);

// Whether an operation on its way will write a register of the set.
[[nodiscard]] bool awaits(const Wave& wave, const RegisterSet& registers);

}  // namespace ww::sim::gpu::exec
