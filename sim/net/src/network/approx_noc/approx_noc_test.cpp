// Approx-NoC: error ranges, patterns and dictionaries by hand, and packets over the mesh.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "network/approx_noc/config.hpp"
#include "network/approx_noc/dictionary.hpp"
#include "network/approx_noc/error_range.hpp"
#include "network/approx_noc/frequent_patterns.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/random.hpp"

namespace ww::sim::net {
namespace {

std::uint32_t bits_of(float value) {
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  return word;
}

TEST(ErrorRange, IsARightShiftOfTheValue) {
  // 10%: shift by 3. 1000 >> 3 = 125, 6 low bits; 15 and 20%: shift by 2, 250, 7 low bits.
  EXPECT_EQ(free_bits({WordType::int32, 0.10}, 1000), 0x3FU);
  EXPECT_EQ(free_bits({WordType::int32, 0.15}, 1000), 0x7FU);
  EXPECT_EQ(free_bits({WordType::int32, 0.20}, 1000), 0x7FU);
  EXPECT_EQ(free_bits({WordType::int32, 0.10}, 0u - 1000u), 0x3FU);
  EXPECT_EQ(free_bits({WordType::int32, 0.10}, 7), 0U);
  EXPECT_EQ(free_bits({WordType::int32, 0.0}, 1000), 0U);
  EXPECT_EQ(free_bits({WordType::exact, 0.1}, 1000), 0U);
}

TEST(ErrorRange, TheShiftLetsWordsBeOffByMoreThanTheThreshold) {
  // 1024 >> 2 = 256: 8 bits, up to 255 of 1024, at a threshold of 20%.
  EXPECT_EQ(free_bits({WordType::int32, 0.2}, 1024), 0xFFU);
  EXPECT_EQ(free_bits({WordType::int32, 0.2, true}, 1024), 0x7FU);  // 204.8
}

TEST(ErrorRange, OfFloatsIsTheMantissas) {
  EXPECT_EQ(free_bits({WordType::float32, 0.1}, bits_of(1.0F)), 0U);  // a mantissa of 0
  EXPECT_EQ(free_bits({WordType::float32, 0.1}, bits_of(1.5F)), (1U << 19) - 1);
  EXPECT_EQ(free_bits({WordType::float32, 0.1}, 0x7F800123U), 0U);  // NaN
  EXPECT_EQ(free_bits({WordType::float32, 0.1}, 0x00000123U), 0U);  // subnormal
}

TEST(ErrorRange, OfPixelsIsEachBytes) {
  EXPECT_EQ(free_bits({WordType::uint8, 0.1}, 0xC8FF0740U), 0x0F0F0007U);
  // The lower pixels are lost altogether if the word is one integer.
  EXPECT_EQ(free_bits({WordType::uint8, 0.1, false, true}, 0xC8C8C8C8U), (1U << 28) - 1);
}

TEST(FrequentPatterns, ExactWordsKeepTheirValue) {
  struct Row {
    std::uint32_t word;
    FrequentPattern pattern;
  };
  for (const Row& row :
       {Row{0, FrequentPattern::zeros}, Row{7, FrequentPattern::signed4},
        Row{0xFFFFFFF8, FrequentPattern::signed4}, Row{100, FrequentPattern::signed8},
        Row{0xFFFF8000, FrequentPattern::signed16}, Row{0xABCD0000, FrequentPattern::high_half},
        Row{0x00110022, FrequentPattern::two_signed8}, Row{0xABABABAB, FrequentPattern::same_bytes},
        Row{0x12345678, FrequentPattern::none}}) {
    const Match match = match_pattern(row.word, 0);
    EXPECT_EQ(match.pattern, row.pattern) << std::hex << row.word;
    EXPECT_EQ(match.value, row.word);
  }
}

TEST(FrequentPatterns, FreeBitsMakeWordsFit) {
  const Match half = match_pattern(0x3FC12345, 0xFFFF);
  EXPECT_EQ(half.pattern, FrequentPattern::high_half);
  EXPECT_EQ(half.value, 0x3FC10000U);
  const Match same = match_pattern(0x64646566, 0x00000707);
  EXPECT_EQ(same.pattern, FrequentPattern::same_bytes);
  EXPECT_EQ(same.value, 0x64646464U);
}

TEST(FrequentPatterns, ARunOfZerosIsOneCode) {
  BitWriter out;
  const std::vector<Match> zeros(9, Match{FrequentPattern::zeros, 0});
  write_patterns(zeros, out);
  EXPECT_EQ(out.bits(), 2U * 6);  // eight and one
  out.clear();
  const std::vector<Match> words{{FrequentPattern::none, 0x12345678},
                                 {FrequentPattern::signed8, 100}};
  write_patterns(words, out);
  EXPECT_EQ(out.bits(), 3U + 32 + 3 + 8);
}

TEST(Dictionary, AWordSeenTwiceIsTold) {
  DecoderDictionary decoder(2);
  EXPECT_FALSE(decoder.see(0xAAAA, 0));
  const auto update = decoder.see(0xAAAA, 0);
  ASSERT_TRUE(update);
  EXPECT_EQ(update->value, 0xAAAAU);
  EXPECT_FALSE(decoder.see(0xAAAA, 0));
  EncoderDictionary encoder(2);
  EXPECT_FALSE(encoder.find(0xAAAA, 0));
  encoder.set(update->index, update->value);
  EXPECT_EQ(encoder.find(0xAAAA, 0)->value, 0xAAAAU);
  EXPECT_FALSE(encoder.find(0xAAAB, 0));
  EXPECT_EQ(encoder.find(0xAAAB, 1)->value, 0xAAAAU);
}

TEST(Dictionary, SimilarWordsCountAsTheFirst) {
  DecoderDictionary decoder(2);
  EXPECT_FALSE(decoder.see(0xAAA1, 0xF));
  EXPECT_EQ(decoder.see(0xAAA2, 0xF)->value, 0xAAA1U);
}

TEST(Dictionary, TheLeastUsedGivesWay) {
  DecoderDictionary decoder(2);
  for (int i = 0; i < 5; ++i) decoder.see(1, 0);
  for (int i = 0; i < 2; ++i) decoder.see(2, 0);
  decoder.see(3, 0);  // wears 2 down
  decoder.see(3, 0);  // takes its place
  EXPECT_TRUE(decoder.see(3, 0));
  EXPECT_FALSE(decoder.see(1, 0));  // still there, and reported
}

// Lines from a controller to a core and requests back, one after another.
struct Exchange {
  std::vector<std::vector<std::byte>> arrived;
  std::vector<std::uint64_t> latencies;
  power::NetworkEvents events;
};
Exchange exchange(const NetworkConfig& config, const std::vector<std::vector<std::byte>>& lines,
                  const Approximable& how) {
  auto made = make_network(config);
  EXPECT_TRUE(made) << made.error().text();
  Network& net = **made;
  Exchange result;
  std::uint64_t tag = 0;
  const auto send = [&](NodeId from, NodeId to, std::uint16_t flits, std::uint8_t message_class,
                        std::span<const std::byte> payload) {
    Packet packet;
    packet.source = from;
    packet.destinations = {&to, 1};
    packet.flits = flits;
    packet.message_class = message_class;
    packet.payload = payload;
    packet.approximable = how;
    packet.created = net.now();
    packet.tag = tag++;
    EXPECT_TRUE(net.inject(packet));
    while (net.packets_inside() != 0) {
      net.tick();
      for (const Delivery& delivery : net.deliveries()) {
        if (delivery.message_class == 1) {
          result.arrived.emplace_back(delivery.payload.begin(), delivery.payload.end());
          result.latencies.push_back(delivery.arrived.value() - delivery.created.value());
          EXPECT_EQ(delivery.flits, flits);
        }
      }
    }
  };
  for (const auto& line : lines) {
    send(0, 9, 1, 0, std::span(line).first(8));
    send(9, 0, 5, 1, line);
  }
  EXPECT_TRUE(net.check_conservation());
  result.events = net.events();
  return result;
}

std::vector<std::vector<std::byte>> float_lines(int count) {
  Random random(5);
  std::vector<std::vector<std::byte>> lines;
  for (int i = 0; i < count; ++i) {
    std::vector<std::byte> line(8 + 64);
    for (std::size_t at = 8; at < line.size(); at += 4) {
      const float value = 1.5F + 0.01F * static_cast<float>(random.unit());
      std::memcpy(&line[at], &value, 4);
    }
    lines.push_back(line);
  }
  return lines;
}

double worst_error(const std::vector<std::vector<std::byte>>& sent, const Exchange& got) {
  double worst = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    for (std::size_t at = 8; at < sent[i].size(); at += 4) {
      float before = 0;
      float after = 0;
      std::memcpy(&before, &sent[i][at], 4);
      std::memcpy(&after, &got.arrived[i][at], 4);
      worst = std::max(worst, static_cast<double>(std::abs(after - before) / before));
    }
  }
  return worst;
}

TEST(ApproxNoc, ShortensPacketsAndKeepsWordsInTheirRange) {
  const auto lines = float_lines(40);
  for (const char* scheme : {"di", "fp"}) {
    NetworkConfig config = approx_noc_network();
    config.own<CompressionConfig>().scheme = scheme;
    const Exchange exact = exchange(config, lines, {WordType::float32, 0.0, 8});
    EXPECT_EQ(exact.arrived, lines) << scheme;
    EXPECT_EQ(exact.events.compression.changed_words, 0U);
    const Exchange approximate = exchange(config, lines, {WordType::float32, 0.1, 8});
    EXPECT_GT(approximate.events.compression.changed_words, 0U) << scheme;
    EXPECT_LT(approximate.events.compression.flits_after,
              approximate.events.compression.flits_before);
    EXPECT_LT(approximate.events.link_flits, exact.events.link_flits) << scheme;
    EXPECT_LT(worst_error(lines, approximate), 0.125) << scheme;
    EXPECT_EQ(approximate.events.injected_flits, approximate.events.ejected_flits);
  }
}

TEST(ApproxNoc, CompressesExactDataWithoutChangingIt) {
  std::vector<std::vector<std::byte>> lines(10, std::vector<std::byte>(8 + 64));
  const Exchange got = exchange(approx_noc_network(), lines, {WordType::exact, 0, 8});
  EXPECT_EQ(got.arrived, lines);
  EXPECT_GT(got.events.compression.compressed_words, 100U);
  EXPECT_EQ(got.events.compression.changed_words, 0U);
}

TEST(ApproxNoc, CompressorsCostTheirCycles) {
  // Random words compress to nothing: the flits are the same, the network interfaces are not free.
  Random random(9);
  std::vector<std::vector<std::byte>> lines(1, std::vector<std::byte>(8 + 64));
  for (std::size_t i = 8; i < lines[0].size(); ++i) {
    lines[0][i] = static_cast<std::byte>(random.below(256));
  }
  NetworkConfig plain = approx_noc_network();
  plain.network = "mesh";
  const Approximable how{WordType::exact, 0, 8};
  const std::uint64_t mesh = exchange(plain, lines, how).latencies.at(0);
  EXPECT_EQ(exchange(approx_noc_network(), lines, how).latencies.at(0), mesh + 3 + 2);
}

}  // namespace
}  // namespace ww::sim::net
