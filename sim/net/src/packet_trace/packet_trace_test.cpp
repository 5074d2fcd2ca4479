// Packet traces: what is recorded is replayed, and files that make no sense are refused by line.
#include "ww/sim/net/packet_trace.hpp"
#include "ww/core/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <sstream>

#include "ww/core/split_mix.hpp"
#include "ww/sim/net/factory.hpp"

namespace ww::sim::net {
namespace {

using testing::HasSubstr;

NetworkConfig config_of(const std::string& name) {
  NetworkConfig config = name == "dapper" ? dapper_network() : dapper_baseline();
  config.network = name;
  config.classes = 2;
  return config;
}

struct Closed {
  double mean_latency{};
  std::uint64_t cycles{};
};

// Cores ask memory nodes, which answer after some cycles; each core waits for some of its replies.
Closed run_closed_loop(Network& network) {
  constexpr NodeId kMemory[] = {1, 7, 8, 14};
  struct Answer {
    std::uint64_t cycle;
    NodeId from, to;
    std::uint64_t tag;
  };
  std::deque<Answer> answers;
  std::vector<int> outstanding(16);
  SplitMix random(7);
  std::uint64_t sent = 0;
  std::uint64_t answered = 0;
  std::uint64_t latency = 0;
  std::uint64_t packets = 0;
  constexpr std::uint64_t kRequests = 2000;
  const std::vector<std::byte> request(8, std::byte{0x5A});
  const std::vector<std::byte> reply(72, std::byte{0xC3});
  const auto send = [&](NodeId from, NodeId to, const std::vector<std::byte>& payload,
                        std::uint64_t tag, bool is_reply) {
    Packet packet;
    packet.source = from;
    packet.destinations = {&to, 1};
    const std::size_t flit = static_cast<std::size_t>(network.config().flit_bits) / 8;
    packet.flits = static_cast<std::uint16_t>((payload.size() + flit - 1) / flit);
    packet.message_class = is_reply ? 1 : 0;
    packet.kind = is_reply ? PacketKind::read_reply : PacketKind::read_request;
    packet.tag = tag;
    packet.created = network.now();
    packet.payload = payload;
    packet.approximable.first_byte = 8;
    const auto status = network.inject(packet);
    EXPECT_TRUE(status) << status.error().text();
  };
  while (answered < kRequests) {
    for (NodeId core = 0; core < 16 && sent < kRequests; ++core) {
      if (std::ranges::find(kMemory, core) != std::end(kMemory)) continue;
      if (outstanding[core] >= 4 || random.next() % 8 != 0) continue;
      ++outstanding[core];
      send(core, kMemory[random.next() % 4], request, sent++, false);
    }
    for (; !answers.empty() && answers.front().cycle <= network.now().value();
         answers.pop_front()) {
      send(answers.front().from, answers.front().to, reply, answers.front().tag, true);
    }
    network.tick();
    for (const Delivery& delivery : network.deliveries()) {
      latency += delivery.arrived.value() - delivery.created.value();
      ++packets;
      if (delivery.kind == PacketKind::read_request) {
        answers.push_back(
            {network.now().value() + 40, delivery.destination, delivery.source, delivery.tag});
      } else {
        --outstanding[delivery.destination];
        ++answered;
      }
    }
  }
  return {static_cast<double>(latency) / static_cast<double>(packets), network.now().value()};
}

struct Recorded {
  Closed closed;
  PacketTrace trace;
};
Recorded record(const std::string& name) {
  const auto folder = ScratchFolder::create("packets").value();
  const auto file = folder.path() / "recorded";
  Recorded recorded;
  {
    auto network = make_network(config_of(name));
    EXPECT_TRUE(network) << network.error().text();
    auto recording = record_packets(std::move(*network), file, "virtual:dapper");
    EXPECT_TRUE(recording) << recording.error().text();
    recorded.closed = run_closed_loop(**recording);
  }
  auto trace = read_packets(file);
  EXPECT_TRUE(trace) << trace.error().text();
  recorded.trace = std::move(*trace);
  return recorded;
}

RunResult replayed(const std::string& name, const PacketTrace& trace, bool open_loop) {
  const auto network = make_network(config_of(name));
  EXPECT_TRUE(network);
  const auto result = replay_packets(**network, trace, open_loop);
  EXPECT_TRUE(result) << result.error().text();
  return result ? *result : RunResult{};
}

TEST(PacketTrace, ReplaysOnItsOwnNetworkAsItWasRecorded) {
  for (const char* name : {"mesh", "dapper", "ideal"}) {
    const Recorded recorded = record(name);
    EXPECT_EQ(recorded.trace.packets.size(), 4000u) << name;
    const RunResult open = replayed(name, recorded.trace, true);
    EXPECT_EQ(open.packets, 4000u) << name;
    EXPECT_DOUBLE_EQ(open.avg_packet_latency, recorded.closed.mean_latency) << name;
    EXPECT_EQ(open.cycles.value(), recorded.closed.cycles) << name;
    const RunResult closed = replayed(name, recorded.trace, false);
    EXPECT_DOUBLE_EQ(closed.avg_packet_latency, recorded.closed.mean_latency) << name;
    EXPECT_EQ(closed.cycles.value(), recorded.closed.cycles) << name;
  }
}

// Only virtual GPUs wrote files before these named their producer.
TEST(PacketTrace, SaysWhichDeviceRecordedIt) {
  EXPECT_EQ(record("mesh").trace.producer, "virtual:dapper");
  EXPECT_TRUE(record("mesh").trace.is_virtual());
  const auto producer = [](const std::string& text) {
    std::istringstream in(text);
    return read_packets(in, "f").value();
  };
  EXPECT_TRUE(
      producer("wirewatt-packets 1 16 2 128\n0 0 1 0 data 1 - 0 exact 0 0 -\n").is_virtual());
  EXPECT_FALSE(producer("0 0 1 1\n").is_virtual());
}

TEST(PacketTrace, IsInItsFileOnceNothingIsUnderWay) {
  const auto folder = ScratchFolder::create("packets").value();
  const auto file = folder.path() / "flushed";
  auto network = make_network(config_of("mesh"));
  ASSERT_TRUE(network);
  const auto recording = record_packets(std::move(*network), file, "virtual:dapper");
  ASSERT_TRUE(recording);
  for (std::size_t sent = 1; sent <= 2; ++sent) {
    const NodeId to = 15;
    Packet packet;
    packet.destinations = {&to, 1};
    packet.created = (*recording)->now();
    ASSERT_TRUE((*recording)->inject(packet));
    while ((*recording)->packets_inside() > 0) (*recording)->tick();
    const auto trace = read_packets(file);  // while the network is still there
    ASSERT_TRUE(trace) << trace.error().text();
    EXPECT_EQ(trace->packets.size(), sent);
  }
}

TEST(PacketTrace, WaitsForWhatItsPacketsWaitedForUnlessTheLoopIsOpen) {
  const Recorded recorded = record("mesh");
  const RunResult open = replayed("dapper", recorded.trace, true);
  const RunResult closed = replayed("dapper", recorded.trace, false);
  EXPECT_EQ(open.packets, closed.packets);
  // Dapper's replies take longer: cores that wait for them are later with what follows.
  EXPECT_GT(closed.cycles.value(), open.cycles.value());
  EXPECT_GT(open.avg_packet_latency, recorded.closed.mean_latency);
}

// Timing mode numbers what is under way, and uses a number again once it was answered.
TEST(PacketTrace, ARequestWithAUsedTagWaitsForTheNewestArrivalAtItsNode) {
  const auto folder = ScratchFolder::create("packets").value();
  const auto file = folder.path() / "recorded";
  {
    auto network = record_packets(make_network(config_of("mesh")).value(), file, "virtual:dapper");
    ASSERT_TRUE(network) << network.error().text();
    const auto cross = [&](NodeId from, NodeId to, PacketKind kind, std::uint64_t tag) {
      Packet packet;
      packet.source = from;
      packet.destinations = {&to, 1};
      packet.message_class = is_reply(kind) ? 1 : 0;
      packet.kind = kind;
      packet.tag = tag;
      packet.created = (*network)->now();
      ASSERT_TRUE((*network)->inject(packet));
      while ((*network)->packets_inside() != 0) (*network)->tick();
    };
    for (const std::uint64_t tag : {5, 6, 5}) {
      cross(0, 1, PacketKind::read_request, tag);
      cross(1, 0, PacketKind::read_reply, tag);
    }
  }
  const auto trace = read_packets(file);
  ASSERT_TRUE(trace) << trace.error().text();
  ASSERT_EQ(trace->packets.size(), 6U);
  for (std::size_t i = 1; i < trace->packets.size(); ++i) {
    EXPECT_THAT(trace->packets[i].after, testing::ElementsAre(i - 1)) << i;
  }
}

// The file does not say which nodes have memory: whoever replies has it, on every network.
TEST(PacketTrace, CountsTheBuffersOfWhoeverReplies) {
  const Recorded recorded = record("mesh");
  EXPECT_EQ(replayed("mesh", recorded.trace, true).window.reply_buffer_flits, 2000u * 5);
  EXPECT_EQ(replayed("dapper", recorded.trace, true).window.reply_buffer_flits, 2000u * 9);
}

TEST(PacketTrace, CountsTheHopsOfRepliesOverCircuits) {
  const RunResult result = replayed("dapper", record("dapper").trace, true);
  EXPECT_GT(result.window.overlay.crossbar_flits, 2000u * 9);
  EXPECT_EQ(result.flit_hops, result.window.crossbar_flits + result.window.overlay.crossbar_flits);
}

TEST(PacketTrace, HasAsManyFlitsAsANetworkNeeds) {
  const Recorded recorded = record("mesh");
  NetworkConfig narrow = config_of("mesh");
  narrow.flit_bits = 64;
  const auto network = make_network(narrow);
  ASSERT_TRUE(network);
  const auto result = replay_packets(**network, recorded.trace, true);
  ASSERT_TRUE(result) << result.error().text();
  EXPECT_EQ(result->window.ejected_flits, 2000u * (1 + 9));
}

TEST(PacketTrace, ReadsTablesOfOtherSimulators) {
  std::istringstream table(
      "# cycle source destination flits\n"
      "0 0 5 2\n"
      "3\t1 5 1   # a comment\n"
      "\n"
      "9 5 0 4 0 6\r\n");
  const auto trace = read_packets(table, "table");
  ASSERT_TRUE(trace) << trace.error().text();
  ASSERT_EQ(trace->packets.size(), 3u);
  EXPECT_THAT(trace->packets[2].after, testing::ElementsAre(0u));
  EXPECT_EQ(trace->packets[2].gap, 6u);
  EXPECT_EQ(trace->packets[1].cycle, 3u);
  NetworkConfig config = dapper_baseline();
  config.classes = 1;
  const auto network = make_network(config);
  const auto run = replay_packets(**network, *trace, false);
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_EQ(run->packets, 3u);
  EXPECT_EQ(run->window.ejected_flits, 7u);
}

// Bytes of a trace in Netrace's format.
class NetraceFile {
 public:
  explicit NetraceFile(std::uint8_t nodes, float version = 1.0F, std::uint32_t regions = 0) {
    const std::string notes("made up\0", 8);
    add(0x484A5455U);
    add(version);
    bytes_ += std::string(30, 'n');
    add(nodes);
    bytes_ += '\0';
    add(std::uint64_t{100});
    add(std::uint64_t{3});
    add(static_cast<std::uint32_t>(notes.size()));
    add(regions);
    bytes_ += std::string(8, '\0') + notes + std::string(24 * std::size_t{regions}, 'r');
  }
  NetraceFile& packet(std::uint64_t cycle, std::uint32_t id, std::uint8_t type, std::uint8_t source,
                      std::uint8_t destination, const std::vector<std::uint32_t>& dependents = {}) {
    add(cycle);
    add(id);
    add(std::uint32_t{0xABCD40});
    for (const std::uint8_t byte : {type, source, destination, std::uint8_t{0x02},
                                    static_cast<std::uint8_t>(dependents.size())}) {
      add(byte);
    }
    for (const std::uint32_t dependent : dependents) add(dependent);
    return *this;
  }
  [[nodiscard]] Result<PacketTrace> read(std::size_t cut = 0) const {
    std::istringstream in(bytes_.substr(0, bytes_.size() - cut));
    return read_packets(in, "f");
  }

 private:
  template <class T>
  void add(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::string bytes_;
};

constexpr std::uint8_t kReadReq = 1;
constexpr std::uint8_t kReadResp = 2;
constexpr std::uint8_t kWriteback = 6;

TEST(PacketTrace, ReadsNetracesBinaryFormat) {
  NetraceFile file(16, 1.0F, 2);
  file.packet(3, 70, kReadReq, 0, 5, {71}).packet(8, 71, kReadResp, 5, 0, {99});
  file.packet(9, 72, kWriteback, 2, 7);
  const auto trace = file.read();
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_EQ(trace->nodes, 16u);
  EXPECT_EQ(trace->classes, 2);
  ASSERT_EQ(trace->packets.size(), 3u);
  const TracedPacket& reply = trace->packets[1];
  EXPECT_EQ(reply.cycle, 8u);
  EXPECT_EQ(reply.source, 5u);
  EXPECT_THAT(reply.destinations, testing::ElementsAre(NodeId{0}));
  EXPECT_EQ(reply.kind, PacketKind::read_reply);
  EXPECT_EQ(reply.message_class, 1);
  EXPECT_EQ(reply.bytes, 72);
  EXPECT_THAT(reply.after, testing::ElementsAre(0u));
  EXPECT_TRUE(trace->packets[2].after.empty());  // what waits for id 99 is not in this file
  EXPECT_EQ(trace->packets[2].kind, PacketKind::write_request);
  // Flits follow from bytes: 1 of 128 bits for a request, 5 for a header and a line.
  const auto network = make_network(config_of("mesh"));
  const auto run = replay_packets(**network, *trace, true);
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_EQ(run->packets, 3u);
  EXPECT_EQ(run->window.ejected_flits, 1u + 5u + 5u);
}

TEST(PacketTrace, OfNetraceWaitsForAllCausesAndForItsOwnCycle) {
  const auto last_cycle = [](std::uint64_t cycle, bool open_loop) {
    NetraceFile file(16);
    file.packet(0, 1, kReadReq, 0, 15, {3}).packet(40, 2, kReadReq, 1, 15, {3});
    file.packet(cycle, 3, kReadResp, 15, 0);
    const auto trace = file.read();
    EXPECT_TRUE(trace) << trace.error().text();
    const auto network = make_network(config_of("ideal"));
    const auto run = replay_packets(**network, *trace, open_loop);
    EXPECT_TRUE(run) << run.error().text();
    return run->cycles.value();
  };
  const std::uint64_t early = last_cycle(40, false);
  EXPECT_GT(early, last_cycle(40, true));   // the second request arrives later than in cycle 40
  EXPECT_EQ(last_cycle(41, false), early);  // and decides when the reply enters,
  EXPECT_EQ(last_cycle(500, false), last_cycle(500, true));  // unless the reply itself is later
}

TEST(PacketTrace, RefusesDamagedTracesOfNetraceByTheirPacket) {
  const auto refused = [](const NetraceFile& file, std::size_t cut = 0) {
    const auto trace = file.read(cut);
    return trace ? std::string("accepted") : trace.error().text();
  };
  const NetraceFile good = NetraceFile(16).packet(3, 70, kReadReq, 0, 5, {71});
  EXPECT_EQ(refused(good), "accepted");
  EXPECT_THAT(refused(good, 2), HasSubstr("packet 0"));   // within a dependent
  EXPECT_THAT(refused(good, 10), HasSubstr("complete"));  // within the record
  EXPECT_THAT(refused(good, 26), HasSubstr("header"));    // within the notes
  EXPECT_THAT(refused(NetraceFile(16, 2.0F)), HasSubstr("version 2"));
  EXPECT_THAT(refused(NetraceFile(16, 1.0F, 101)), HasSubstr("101 regions"));
  EXPECT_THAT(refused(NetraceFile(16).packet(0, 1, 7, 0, 1)), HasSubstr("type 7"));
  EXPECT_THAT(refused(NetraceFile(16).packet(0, 1, kReadReq, 0, 16)), HasSubstr("16 nodes"));
  EXPECT_THAT(refused(NetraceFile(16).packet(0, 1, 1, 0, 1).packet(1, 1, 1, 0, 1)),
              HasSubstr("packet 1"));
  EXPECT_THAT(refused(NetraceFile(16).packet(0, 1, 1, 0, 1).packet(1, 2, 1, 0, 1, {1})),
              HasSubstr("waits for it"));
  std::istringstream compressed("BZh91AY");
  EXPECT_THAT(read_packets(compressed, "f").error().text(), HasSubstr("bzip2"));
  std::istringstream other("Unknown");
  EXPECT_FALSE(read_packets(other, "f"));
}

TEST(PacketTrace, RefusesWhatMakesNoSenseByItsLine) {
  const auto refused = [](const std::string& text) {
    std::istringstream in(text);
    const auto trace = read_packets(in, "f");
    return trace ? std::string("accepted") : trace.error().text();
  };
  EXPECT_THAT(refused("0 0 5\n"), HasSubstr("f:1"));
  EXPECT_THAT(refused("0 0 5 0\n"), HasSubstr("flits"));
  EXPECT_THAT(refused("0 0 five 1\n"), HasSubstr("'five'"));
  EXPECT_THAT(refused("5 0 1 1\n4 0 1 1\n"), HasSubstr("f:2"));
  EXPECT_THAT(refused("0 0 1 1 0 3\n"), HasSubstr("earlier"));
  EXPECT_THAT(refused("0 0 1 1 - 0 7\n"), HasSubstr("too many"));
  const std::string head = "wirewatt-packets 1 16 2 128\n";
  const std::string good = "0 1 2,3 1 read_reply 2 - 0 float32 0.1 1 0aff\n";
  EXPECT_EQ(refused(head + good), "accepted");
  // The last packet's payload lacks a byte.
  EXPECT_THAT(refused(head + good + good.substr(0, good.size() - 3)),
              HasSubstr("f:3: the file ends"));
  EXPECT_EQ(refused("0 0 1 1"), "accepted");  // a table's last line
  EXPECT_THAT(refused(head + "0 16 2 0 data 1 - 0 exact 0 0 -\n"), HasSubstr("more than 15"));
  EXPECT_THAT(refused(head + "0 1 2 2 data 1 - 0 exact 0 0 -\n"), HasSubstr("class"));
  EXPECT_THAT(refused(head + "0 1 2 0 gossip 1 - 0 exact 0 0 -\n"), HasSubstr("gossip"));
  EXPECT_THAT(refused(head + "0 1 2 0 data 1 - 0 exact 2 0 -\n"), HasSubstr("fraction"));
  EXPECT_THAT(refused(head + "0 1 2 0 data 1 - 0 exact 0 0 0g\n"), HasSubstr("hexadecimal"));
  EXPECT_THAT(refused(head + "0 1 2 0 data 1 - 0 exact 0 9 00\n"), HasSubstr("behind"));
  EXPECT_THAT(refused("wirewatt-packets 1 0 2 128\n"), HasSubstr("nodes"));
  EXPECT_THAT(refused("wirewatt-packets 1 16 2 128 virtual:w9100 more\n"), HasSubstr("too many"));
}

TEST(PacketTrace, RefusesNetworksThatItDoesNotFit) {
  const auto network = make_network(config_of("mesh"));
  const auto refused = [&](const std::string& text) {
    std::istringstream in(text);
    const auto trace = read_packets(in, "f");
    EXPECT_TRUE(trace) << trace.error().text();
    const auto run = replay_packets(**network, *trace, false);
    return run ? std::string("accepted") : run.error().text();
  };
  EXPECT_THAT(refused("0 0 16 1\n"), HasSubstr("16 nodes"));
  EXPECT_THAT(refused("0 0 5 1\n9 6 0 1 0 3\n"), HasSubstr("never comes"));
}

}  // namespace
}  // namespace ww::sim::net
