#include "fast/forms/load_addresses.hpp"

#include <gtest/gtest.h>

#include "machine/isa/wave.hpp"

namespace ww::sim::gpu::exec::load_addresses_test {
namespace {

MicroOp arithmetic() {
  MicroOp op;
  op.unit = Unit::valu;
  op.straight = true;
  return op;
}

MicroOp load(std::uint16_t address, std::uint16_t to, std::uint8_t bytes = 4) {
  MicroOp op;
  op.unit = Unit::vmem;
  op.memory = MemoryFields{};
  op.memory.lane_addresses = true;
  op.memory.element_bytes = bytes;
  op.memory.address = address;
  op.destination = to;
  return op;
}

MicroOp waitcnt() {
  MicroOp op;
  op.opcode = Opcode::s_waitcnt;
  return op;
}

// Dwords of the loads behind the run that begins at dword 0.
std::vector<std::uint32_t> linked(std::vector<MicroOp> code) {
  StraightLines lines = find_straight_lines(code, std::vector<RegisterSet>(code.size()));
  link_loads(code, lines);
  std::vector<std::uint32_t> loads;
  for (std::uint32_t at = lines.run[0].load; at != 0; at = code[at].memory.next_load) {
    loads.push_back(at);
    EXPECT_EQ(code[at].memory.place, loads.size());
  }
  return loads;
}

using Dwords = std::vector<std::uint32_t>;

TEST(LoadAddresses, AreFoundBehindArithmeticAndAcrossWaits) {
  EXPECT_EQ(linked({arithmetic(), arithmetic(), load(4, 4), waitcnt(), load(6, 5), waitcnt()}),
            (Dwords{2, 4}));
}

TEST(LoadAddresses, AreNotThoseThatALoadBeforeWrites) {
  EXPECT_EQ(linked({arithmetic(), load(4, 6, 8), load(7, 9), load(2, 3)}), (Dwords{1}));
}

TEST(LoadAddresses, AreNotThoseBehindMoreArithmeticOrAStore) {
  MicroOp store = load(2, 3);
  store.memory.kind = MemoryKind::store;
  EXPECT_EQ(linked({arithmetic(), load(4, 4), store, load(6, 5)}), (Dwords{1}));
  EXPECT_EQ(linked({arithmetic(), load(4, 4), arithmetic(), load(6, 5)}), (Dwords{1}));
  EXPECT_EQ(linked({arithmetic(), store, load(6, 5)}), Dwords{});
}

TEST(LoadAddresses, AreNoMoreThanAWaveKeeps) {
  std::vector<MicroOp> code{arithmetic()};
  for (std::uint16_t i = 0; i < 20; ++i) code.push_back(load(100, i));
  EXPECT_EQ(linked(code).size(), kLoadsAhead);
}

}  // namespace
}  // namespace ww::sim::gpu::exec::load_addresses_test
