#include "packet_store.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <vector>

#include "bits.hpp"

namespace ww::sim::net {
namespace {

TEST(Ones, CountsAsTheLibraryDoes) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t word = random() & random();
    ASSERT_EQ(ones(word), std::popcount(word));
  }
  EXPECT_EQ(ones(0), 0);
  EXPECT_EQ(ones(~std::uint64_t{0}), 64);
}

// Payloads of every length, over flits that are and are not whole words.
TEST(PacketStore, DrivesAFlitOntoWiresAndCountsTheBitsThatChange) {
  std::mt19937 random(5);
  const auto bytes = [&](std::size_t count) {
    std::vector<std::byte> some(count);
    for (std::byte& one : some) one = static_cast<std::byte>(random());
    return some;
  };
  for (const std::size_t flit :
       {std::size_t{1}, std::size_t{8}, std::size_t{12}, std::size_t{32}}) {
    for (std::size_t length = 0; length < 80; ++length) {
      PacketStore store(2, 1);
      const std::vector<std::byte> payload = bytes(length);
      const NodeId to = 1;
      Packet packet;
      packet.destinations = {&to, 1};
      packet.payload = payload;
      const PacketRecord& record = store[store.enqueue(packet, to)];
      std::vector<std::byte> wires = bytes(flit);
      for (int index = 0; index < 4; ++index) {
        std::vector<std::byte> sent(flit);
        store.copy_flit(record, index, flit, sent.data());
        std::uint64_t changes = 0;
        for (std::size_t at = 0; at < flit; ++at) {
          changes += static_cast<std::uint64_t>(
              std::popcount(std::to_integer<unsigned>(wires[at] ^ sent[at])));
        }
        EXPECT_EQ(transitions(wires.data(), sent.data(), flit), changes);
        EXPECT_EQ(store.drive(record, index, wires), changes) << flit << ' ' << length;
        EXPECT_EQ(wires, sent);
      }
    }
  }
}

}  // namespace
}  // namespace ww::sim::net
