#include "stream.hpp"

#include <vector>

#include "draw.hpp"
#include "energy_ledger.hpp"
#include "truth.hpp"

namespace ww::sim::gpu {
namespace {

// Two random bits, two zeros, and so on: toggle rate 0.25.
constexpr std::uint64_t kHalfMask = 0x3333333333333333ULL;
constexpr std::uint64_t kAlternating = 0xAAAAAAAAAAAAAAAAULL;

constexpr std::uint64_t kEvenMask = 0x5555555555555555ULL;

// Rows of one chunk a channel in the working set.
constexpr int kStripes = 256;

// Lines of all ones or all zeros that change 64 times in 128, in random order. One random bit a
// line would do so only roughly: over 32,768 lines a share of half is good to 0.6% of itself. Each
// 64 lines change an odd number of times: had they an even one, every 64th line would be like the
// first, and a bus that rests at those would find nothing but zeros there.
struct UniformLines {
  bool ones{};
  bool many{};
  int left{};     // of the 64
  int changes{};  // of those left
  bool next(Draw& draw) {
    if (left == 0) {
      left = 64;
      changes = many ? 33 : 31;
      many = !many;
    }
    if (draw.integer(1, left) <= changes) {
      ones = !ones;
      --changes;
    }
    --left;
    return ones;
  }
};

// `line`: all ones, of a uniform line.
std::uint64_t pattern_word(StreamPattern pattern, bool line, Draw& draw) {
  switch (pattern) {
    case StreamPattern::zeros: return 0;
    case StreamPattern::ones: return ~0ULL;
    case StreamPattern::alternating: return kAlternating;
    case StreamPattern::half_random: return draw.bits() & kHalfMask;
    case StreamPattern::random: return draw.bits();
    case StreamPattern::density_25: return draw.bits() & draw.bits();
    case StreamPattern::density_75: return draw.bits() | draw.bits();
    case StreamPattern::pairs_equal: {
      const std::uint64_t bits = draw.bits() & kEvenMask;
      return bits | bits << 1;
    }
    case StreamPattern::pairs_opposite: {
      const std::uint64_t bits = draw.bits() & kEvenMask;
      return bits | (bits ^ kEvenMask) << 1;
    }
    case StreamPattern::uniform_lines: return line ? ~0ULL : 0ULL;
  }
  return 0;
}

}  // namespace

LaunchActivity stream(const Chip& chip, int engine, int quadrant, const StreamOptions& options) {
  const Architecture& architecture = chip.architecture();
  const Truth& truth = chip.truth();
  const auto& members = truth.geometry.quadrants[static_cast<std::size_t>(quadrant)];
  const auto cus = static_cast<std::int64_t>(architecture.cus_per_engine);
  const int arrays = architecture.arrays_per_engine();
  const ChannelLookup lookup(architecture.channel_map, architecture.l2_channels,
                             architecture.channel_interleave_bytes);
  const std::int64_t lines_per_chunk = architecture.channel_interleave_bytes / 64;
  const auto ledger = make_energy_ledger(chip);
  Draw draw(options.seed);
  Draw walk(options.seed + 1);
  Draw array_draw(options.seed + 2);
  int array = engine * arrays;
  std::int64_t stripe = 0;
  std::vector<UniformLines> uniform(members.size());
  ledger->begin_launch();
  for (std::int64_t beat = 0; beat < options.beats; ++beat) {
    // A wave's load takes all lines of a channel's chunk: they go to one CU, the next chunk's to
    // the next.
    const std::int64_t cu = beat / lines_per_chunk % cus;
    // Walks in an order of its own, as wavefronts that each take the stripes by another stride: a
    // sequence would toggle the address wires less.
    if (beat % lines_per_chunk == 0) {
      stripe = walk.integer(0, kStripes - 1);
      // Arrays of one engine share a slice in no order.
      if (arrays > 1) array = engine * arrays + array_draw.integer(0, arrays - 1);
    }
    for (std::size_t member = 0; member < members.size(); ++member) {
      const int channel = members[member];
      std::uint64_t line[8];
      const bool ones =
          options.pattern == StreamPattern::uniform_lines && uniform[member].next(draw);
      for (auto& word : line) {
        word = pattern_word(options.pattern, ones, draw);
      }
      CrossbarTransfer transfer;
      transfer.cycle = beat * options.cycles_per_beat;
      const std::uint64_t block =
          lookup.block(static_cast<std::uint64_t>(stripe), static_cast<std::uint32_t>(channel));
      transfer.address = block * static_cast<std::uint64_t>(architecture.channel_interleave_bytes) +
                         static_cast<std::uint64_t>(beat % lines_per_chunk * 64);
      transfer.engine = static_cast<std::uint16_t>(array);
      transfer.cu = static_cast<std::uint16_t>(cu);
      transfer.channel = static_cast<std::uint16_t>(channel);
      transfer.kind = TransferKind::read;
      transfer.bytes = 64;
      transfer.payload = reinterpret_cast<const std::byte*>(line);
      ledger->crossbar(transfer);
    }
  }
  const std::int64_t cycles = options.beats * options.cycles_per_beat;
  std::vector<CuActivity> cu_activity;
  std::vector<ChannelActivity> channel_activity;
  if (options.with_cores) {
    cu_activity.resize(static_cast<std::size_t>(architecture.cu_places()));
    channel_activity.resize(static_cast<std::size_t>(architecture.l2_channels));
    const auto lines = static_cast<std::uint64_t>(
        options.beats * static_cast<std::int64_t>(members.size()) / (arrays * cus));
    for (std::int64_t cu = 0; cu < arrays * cus; ++cu) {
      CuActivity& use = cu_activity[static_cast<std::size_t>(engine * arrays * cus + cu)];
      use.busy_cycles = static_cast<std::uint64_t>(cycles);
      use.resident_wave_cycles = static_cast<std::uint64_t>(cycles * architecture.simds_per_cu *
                                                            architecture.waves_per_simd);
      use.l1_accesses = lines;
      use.register_bytes = 64 * lines;
      use.memory_instructions = lines / 4;  // a wave's load of 256 bytes is four lines
      use.vector_instructions = lines / 2;
      use.vector_lane_operations = 64 * use.vector_instructions;
      use.scalar_instructions = lines / 4;
    }
    for (const int channel : members) {
      ChannelActivity& use = channel_activity[static_cast<std::size_t>(channel)];
      use.accesses = use.hits = static_cast<std::uint64_t>(options.beats);
    }
  }
  return ledger->end_launch(options.with_cores ? cycles : 0, cu_activity, channel_activity);
}

}  // namespace ww::sim::gpu
