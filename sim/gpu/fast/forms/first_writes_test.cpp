#include "fast/forms/first_writes.hpp"

#include <gtest/gtest.h>

#include "machine/testing/test_gpu.hpp"

namespace ww::sim::gpu::exec::first_writes_test {
namespace {

using Spans = std::vector<RegisterSpan>;

MicroOp vector(std::uint16_t to, std::uint16_t from, Destination result = Destination::vgpr) {
  MicroOp op;
  op.unit = Unit::valu;
  op.straight = true;
  op.plain = Plain::lanes;
  op.vector = VectorFields{};
  op.result = result;
  op.destination = to;
  op.kind[0] = Source::vgpr;
  op.source[0] = from;
  return op;
}

MicroOp memory(MemoryKind kind, std::uint16_t address, std::uint16_t data) {
  MicroOp op;
  op.unit = Unit::vmem;
  op.memory = MemoryFields{};
  op.memory.kind = kind;
  op.memory.element_bytes = 4;
  op.memory.address = address;
  op.destination = op.source[3] = data;
  return op;
}

MicroOp other(Opcode opcode) {
  MicroOp op;
  op.opcode = opcode;
  return op;
}

Spans found(const std::vector<MicroOp>& code, std::uint32_t vgprs) {
  return read_before_written(code.data(), static_cast<std::uint32_t>(code.size()), 0, 1, vgprs);
}

TEST(FirstWrites, ClearsNothingThatIsWrittenFirst) {
  EXPECT_EQ(found({vector(1, 0), vector(2, 1, Destination::vgpr_pair), vector(4, 3),
                   other(Opcode::s_endpgm)},
                  8),
            Spans{});
}

TEST(FirstWrites, ClearsWhatIsReadBeforeItIsWritten) {
  EXPECT_EQ(found({vector(1, 5), vector(2, 6), vector(5, 0), other(Opcode::s_endpgm)}, 8),
            (Spans{{5, 2}}));
}

TEST(FirstWrites, ClearsWhatIsNotWrittenBeforeAJump) {
  EXPECT_EQ(
      found({vector(2, 0), other(Opcode::s_branch), vector(3, 0), other(Opcode::s_endpgm)}, 6),
      (Spans{{1, 1}, {3, 3}}));
}

TEST(FirstWrites, TakesALoadForDoneOnlyBehindItsWait) {
  const MicroOp load = memory(MemoryKind::load, 0, 2);
  const MicroOp store = memory(MemoryKind::store, 0, 2);
  MicroOp all = other(Opcode::s_waitcnt);
  MicroOp some = all;
  some.immediate = 1;
  const MicroOp end = other(Opcode::s_endpgm);
  EXPECT_EQ(found({vector(1, 0), load, all, store, end}, 4), Spans{});
  EXPECT_EQ(found({vector(1, 0), load, some, store, end}, 4), (Spans{{2, 1}}));
  EXPECT_EQ(found({vector(1, 0), load, vector(2, 0), all, store, end}, 4), (Spans{{2, 1}}));
}

TEST(FirstWrites, StopsWhereLanesMayBeEnabledOrKept) {
  MicroOp exec = other(Opcode::s_mov_b64);
  exec.unit = Unit::salu;
  exec.straight = true;
  exec.destination = kExec;
  MicroOp modified = vector(1, 0);
  modified.plain = Plain::no;
  MicroOp half = memory(MemoryKind::load, 0, 1);
  half.memory.half = 1;
  MicroOp compare = vector(0, 0, Destination::mask);
  compare.plain = Plain::compare;
  compare.destination2 = kExec;
  for (const MicroOp& op : {exec, modified, half, compare}) {
    EXPECT_EQ(found({op, vector(1, 0), vector(2, 0), other(Opcode::s_endpgm)}, 3), (Spans{{1, 2}}));
  }
}

// Kernels that leave all of their registers dirty, then one that reads a register it never wrote:
// it finds zeros, whatever ran before.
TEST(FirstWrites, ARegisterThatNobodyWroteIsZero) {
  const auto dump = [](bool after_others) {
    sim::gpu::test::TestGpu gpu(sim::gpu::test::TrickOptions{{.threads = 1}, {.replay = false}});
    const auto data = gpu.buffer(std::vector<std::uint32_t>(1 << 14, 0xFFFFFFFFU));
    const auto out = gpu.buffer(1 << 16);
    if (after_others) gpu.launch("stream", 4096, 256, data, out, 8U, 64U);
    gpu.launch("unwritten", 4096, 256, out);
    return gpu.read<std::uint32_t>(out, 4096);
  };
  const auto fresh = dump(false);
  EXPECT_EQ(fresh, std::vector<std::uint32_t>(4096, 0));
  EXPECT_EQ(dump(true), fresh);
}

}  // namespace
}  // namespace ww::sim::gpu::exec::first_writes_test
