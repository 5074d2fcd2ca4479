#include "ww/sim/gpu/data_sheet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "ww/sim/gpu/architecture_keys.hpp"

namespace ww::sim::gpu {
namespace {

using SheetKey = TomlKey<Architecture>;

constexpr std::string_view kCycles = "core cycles";

// The emulator numbers lines of 64 bytes by 32 bits, and the last number stands for no line.
constexpr double kMaxMemory = 0x1p38 - 64;

constexpr SheetKey kTopKeys[] = {
    {"name", &Architecture::name, 0, 0, "", "Name of the chip, as `--device` takes it"},
    {"gfx_target", &Architecture::gfx_target, 0, 0, "", "Instruction set that it executes"},
};

constexpr SheetKey kArchitectureKeys[] = {
    {.name = "dies",
     .field = &Architecture::dies,
     .low = 1,
     .high = 8,
     .unit = "",
     .help = "Compute dies; engines, channels and L2 below are those of one die",
     .required = false},
    {.name = "cus_off_per_die",
     .field = &Architecture::cus_off_per_die,
     .low = 0,
     .high = 8,
     .unit = "",
     .help = "Compute units of a die that are switched off: the last ones of its last engines",
     .required = false},
    {.name = "devices",
     .field = &Architecture::devices,
     .low = 1,
     .high = 8,
     .unit = "",
     .help = "Devices that the package is to a program, each of as many dies",
     .required = false},
    {.name = "memory_domains",
     .field = &Architecture::memory_domains,
     .low = 1,
     .high = 4,
     .unit = "",
     .help = "Domains of memory, each at home with as many dies; a device's buffers lie in its own",
     .required = false},
    {"shader_engines", &Architecture::shader_engines, 1, 16, "", "Shader engines"},
    {"cus_per_engine", &Architecture::cus_per_engine, 1, 16, "", "Compute units of an engine"},
    {"simds_per_cu", &Architecture::simds_per_cu, 1, 4, "", "SIMDs of a compute unit"},
    {"waves_per_simd", &Architecture::waves_per_simd, 1, 16, "", "Waves that a SIMD keeps at once"},
    {"l2_channels", &Architecture::l2_channels, 1, 64, "", "Channels of the L2"},
    {"channel_interleave_bytes", &Architecture::channel_interleave_bytes, 64, 65536, "bytes",
     "Addresses in a row that go to one channel"},
    {"line_bytes", &Architecture::line_bytes, 64, 64, "bytes", "Line of both caches"},
    {.name = "l2_fetch_bytes",
     .field = &Architecture::l2_fetch_bytes,
     .low = 64,
     .high = 128,
     .unit = "bytes",
     .help =
         "What a miss of the L2 brings: one line, or 128 bytes, an aligned pair (functional mode)",
     .required = false},
    {.name = "l2_line_bytes",
     .field = &Architecture::l2_line_bytes,
     .low = 64,
     .high = 128,
     .unit = "bytes",
     .help = "What one tag of the L2 stands for: one line, or 128 bytes, an aligned pair, which "
             "takes and leaves its place as one (functional mode)",
     .required = false},
    {.name = "l1_line_bytes",
     .field = &Architecture::l1_line_bytes,
     .low = 64,
     .high = 128,
     .unit = "bytes",
     .help =
         "Line of the L1 and of its read requests: one line, or 128 bytes, an aligned pair; 128 "
         "needs `l2_fetch_bytes` of 128 (functional mode)",
     .required = false},
    {.name = "writes_back_at_end",
     .field = &Architecture::writes_back_at_end,
     .low = 0,
     .high = 1,
     .unit = "",
     .help = "1: a launch ends by writing the L2's dirty lines to memory (functional mode)",
     .required = false},
    {"l1_bytes", &Architecture::l1_bytes, 1024, 1 << 20, "bytes", "L1 of a compute unit"},
    {"l1_ways", &Architecture::l1_ways, 1, 64, "", "Ways of an L1 set"},
    {.name = "gl1_bytes",
     .field = &Architecture::gl1_bytes,
     .low = 0,
     .high = 1 << 24,
     .unit = "bytes",
     .help =
         "Read-only cache of a shader array between L1s and L2 (GL1); 0: none (functional mode)",
     .required = false},
    {.name = "gl1_ways",
     .field = &Architecture::gl1_ways,
     .low = 1,
     .high = 64,
     .unit = "",
     .help = "Ways of its sets",
     .required = false},
    {.name = "gl1_hit_cycles",
     .field = &Architecture::gl1_hit_cycles,
     .low = 0,
     .high = 10000,
     .unit = kCycles,
     .help = "Latency of its hit",
     .required = false},
    {.name = "gl1_bytes_per_clock",
     .field = &Architecture::gl1_bytes_per_clock,
     .low = 64,
     .high = 4096,
     .unit = "bytes",
     .help = "Peak of its hits, a core cycle",
     .required = false},
    {.name = "engine_off",
     .field = &Architecture::engine_off,
     .low = 0,
     .high = 8,
     .unit = "",
     .help =
         "RDNA: number that no wavefront reports as its engine's, as where one is fused off; 8: "
         "none is",
     .required = false},
    {.name = "gl1_ignores_bits",
     .field = &Architecture::gl1_ignores_bits,
     .low = 0,
     .high = 1,
     .unit = "",
     .help = "1: it also answers loads that ask to pass it by (functional mode)",
     .required = false},
    {"l2_bytes", &Architecture::l2_bytes, 65536, 1 << 30, "bytes", "L2, all channels together"},
    {"l2_ways", &Architecture::l2_ways, 1, 64, "", "Ways of an L2 set"},
    {.name = "l2_set_hash_bits",
     .field = &Architecture::l2_set_hash_bits,
     .low = 0,
     .high = 8,
     .unit = "",
     .help = "Highest bits of a set's number that are XORed with those of the address above it; "
             "needs a power of two of sets (functional mode)",
     .required = false},
    {"lds_bytes_per_cu", &Architecture::lds_bytes_per_cu, 1024, 1 << 20, "bytes",
     "Local memory of a compute unit"},
    {"memory_bytes", &Architecture::memory_bytes, 1 << 20, kMaxMemory, "bytes", "Device memory"},
    {"bytes_per_clock_per_channel", &Architecture::bytes_per_clock_per_channel, 16, 128, "bytes",
     "Peak of a channel towards the crossbar, a core cycle"},
    {"l1_hit_cycles", &Architecture::l1_hit_cycles, 1, 10000, kCycles, "Latency of an L1 hit"},
    {.name = "scalar_load_cycles",
     .field = &Architecture::scalar_load_cycles,
     .low = 1,
     .high = 10000,
     .unit = kCycles,
     .help = "Latency of a scalar load that hits; of each one without `scalar_cache_bytes`",
     .required = false},
    {.name = "scalar_cache_bytes",
     .field = &Architecture::scalar_cache_bytes,
     .low = 0,
     .high = 1 << 20,
     .unit = "bytes",
     .help = "Scalar data cache, lines of 64 bytes in four ways; 0: every scalar load hits "
             "(functional mode)",
     .required = false},
    {.name = "scalar_cache_cus",
     .field = &Architecture::scalar_cache_cus,
     .low = 1,
     .high = 8,
     .unit = "",
     .help = "Neighbouring compute units of an engine that share a scalar cache",
     .required = false},
    {.name = "scalar_miss_cycles",
     .field = &Architecture::scalar_miss_cycles,
     .low = 1,
     .high = 10000,
     .unit = kCycles,
     .help = "Latency of a scalar load that hits in the L2 at no distance; the crossbar adds its "
             "flight",
     .required = false},
    {.name = "local_memory_cycles",
     .field = &Architecture::local_memory_cycles,
     .low = 1,
     .high = 10000,
     .unit = kCycles,
     .help = "Latency of local memory, without bank conflicts",
     .required = false},
    {.name = "f64_rate_divisor",
     .field = &Architecture::f64_rate_divisor,
     .low = 1,
     .high = 32,
     .unit = "",
     .help = "How many times as long as one on floats a vector instruction on doubles takes; "
             "without it 4",
     .required = false},
    {"l2_hit_cycles", &Architecture::l2_hit_cycles, 1, 10000, kCycles,
     "Latency of an L2 hit at no distance; the crossbar adds its flight"},
    {"memory_cycles", &Architecture::memory_cycles, 1, 10000, kCycles,
     "Latency of memory beyond an L2 miss"},
    {.name = "late_reads",
     .field = &Architecture::late_reads,
     .low = 0,
     .high = 1,
     .unit = "",
     .help = "Share of memory's reads that come late, as beside a refresh (functional mode)",
     .required = false},
    {.name = "late_read_cycles",
     .field = &Architecture::late_read_cycles,
     .low = 0,
     .high = 100000,
     .unit = kCycles,
     .help = "By how much at most; evenly from none on",
     .required = false},
    {"memory_bytes_per_clock_per_channel", &Architecture::memory_bytes_per_clock_per_channel, 0.1,
     256, "bytes", "Peak of a memory channel, a core cycle"},
    {.name = "write_back_lines",
     .field = &Architecture::write_back_lines,
     .low = 0,
     .high = 65536,
     .unit = "",
     .help = "Lines that may wait for a memory channel before its L2 channel waits, too; 0: any "
             "number (functional mode)",
     .required = false},
    {.name = "infinity_cache_bytes",
     .field = &Architecture::infinity_cache_bytes,
     .low = 0,
     .high = 1 << 30,
     .unit = "bytes",
     .help = "Cache on the memory's side, all slices together; 0: none, on a chip of one die",
     .required = false},
    {.name = "infinity_cache_ways",
     .field = &Architecture::infinity_cache_ways,
     .low = 1,
     .high = 64,
     .unit = "",
     .help = "Ways of its sets",
     .required = false},
    {.name = "infinity_cache_cycles",
     .field = &Architecture::infinity_cache_cycles,
     .low = 0,
     .high = 10000,
     .unit = kCycles,
     .help = "Latency of its hit beyond an L2 miss, without hops",
     .required = false},
    {.name = "infinity_cache_bytes_per_clock_per_slice",
     .field = &Architecture::infinity_cache_bytes_per_clock_per_slice,
     .low = 0.1,
     .high = 256,
     .unit = "bytes",
     .help = "Peak of a slice, a core cycle",
     .required = false},
    {.name = "io_die_hop_cycles",
     .field = &Architecture::io_die_hop_cycles,
     .low = 0,
     .high = 10000,
     .unit = kCycles,
     .help = "From an I/O die to its neighbour and back",
     .required = false},
    {.name = "io_die_link_bytes_per_clock",
     .field = &Architecture::io_die_link_bytes_per_clock,
     .low = 1,
     .high = 65536,
     .unit = "bytes",
     .help = "Peak of the link to a neighbour, each way, a core cycle",
     .required = false},
    {.name = "xgmi_links",
     .field = &Architecture::xgmi_links,
     .low = 0,
     .high = 4,
     .unit = "",
     .help = "Links between the two dies of a package without I/O dies",
     .required = false},
    {.name = "xgmi_cycles",
     .field = &Architecture::xgmi_cycles,
     .low = 0,
     .high = 10000,
     .unit = kCycles,
     .help = "What a read of the other die's memory takes longer than one of its own",
     .required = false},
    {.name = "xgmi_bytes_per_clock_per_link",
     .field = &Architecture::xgmi_bytes_per_clock_per_link,
     .low = 1,
     .high = 1024,
     .unit = "bytes",
     .help = "Peak of such a link, each way, a core cycle",
     .required = false},
    {"launch_overhead_ns", &Architecture::launch_overhead_ns, 0, 10'000'000, "ns",
     "Time between two launches of one queue"},
};

constexpr TomlKey<DvfsState> kStateKeys[] = {
    {"voltage_v", &DvfsState::voltage_v, 0.4, 1.6, "V", "Nominal core voltage of the state"},
    {"clock_hz", &DvfsState::clock_hz, 1e8, 4e9, "Hz", "Core clock; states ascend in it"},
};

// A text as TOML writes it.
std::string toml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

// Lines "l2_ways = 16" that read back as they were. An optional key at its default has none.
template <class C>
std::string lines(std::span<const TomlKey<C>> rows, const C& from) {
  static const C defaults{};
  std::string text;
  for (const TomlKey<C>& row : rows) {
    std::visit(
        [&](auto member) {
          if constexpr (!std::is_same_v<decltype(member), std::monostate>) {
            const auto& value = from.*member;
            using Value = std::remove_cvref_t<decltype(value)>;
            if (!row.required && value == defaults.*member) return;
            if constexpr (std::is_same_v<Value, std::string>) {
              text += fmt::format("{} = {}\n", row.name, toml_quoted(value));
            } else if constexpr (std::is_floating_point_v<Value>) {
              text += fmt::format("{} = {:.17g}\n", row.name, value);
            } else if constexpr (std::is_arithmetic_v<Value>) {
              text += fmt::format("{} = {}\n", row.name, value);
            }
          }
        },
        row.field);
  }
  return text;
}

}  // namespace

void read_architecture(TomlReader& root, Architecture& architecture) {
  read_keys<Architecture>(root, kTopKeys, architecture);
  TomlReader table = root.table("architecture");
  read_keys<Architecture>(table, kArchitectureKeys, architecture);
  table.finish();
  for (TomlReader& state : root.tables("dvfs")) {
    read_keys<DvfsState>(state, kStateKeys, architecture.dvfs.emplace_back());
    state.finish();
  }
  const auto by_clock = [](const DvfsState& a, const DvfsState& b) {
    return a.clock_hz < b.clock_hz;
  };
  if (architecture.dvfs.empty()) {
    root.fail_at("dvfs", ErrorCode::out_of_range, "at least one state is needed");
  } else if (!std::is_sorted(architecture.dvfs.begin(), architecture.dvfs.end(), by_clock)) {
    root.fail_at("dvfs", ErrorCode::out_of_range, "states must ascend in clock");
  }
  const auto states = static_cast<std::int64_t>(architecture.dvfs.size());
  architecture.reference_state =
      static_cast<int>(root.integer("reference_state", 0, std::max<std::int64_t>(0, states - 1)));
}

std::vector<TomlKeyText> architecture_key_texts() {
  std::vector<TomlKeyText> texts;
  describe_keys<Architecture>("", kTopKeys, texts);
  texts.push_back({"", "reference_state", "0 to states - 1", "",
                   "State of `[[dvfs]]` at which constants are given, counted from 0", "", true});
  describe_keys<Architecture>("[architecture]", kArchitectureKeys, texts);
  describe_keys<DvfsState>("[[dvfs]]", kStateKeys, texts);
  return texts;
}

std::string to_toml(const DataSheet& sheet) {
  const Architecture& architecture = sheet.architecture;
  std::string text = fmt::format(
      "title = {}\n{}reference_state = {}\n\n[architecture]\n{}", toml_quoted(sheet.title),
      lines<Architecture>(kTopKeys, architecture), architecture.reference_state,
      lines<Architecture>(kArchitectureKeys, architecture));
  for (const DvfsState& state : architecture.dvfs) {
    text += "\n[[dvfs]]\n" + lines<DvfsState>(kStateKeys, state);
  }
  return text;
}

Result<DataSheet> parse_data_sheet(std::string_view toml, const std::string& origin) {
  WW_ASSIGN(document, parse_toml(toml, origin));
  TomlErrors errors(origin);
  TomlReader root(document, "", errors);
  DataSheet sheet;
  sheet.title = root.text("title");
  read_architecture(root, sheet.architecture);
  root.finish();
  if (errors.first()) {
    return tl::unexpected<Error>(*errors.first());
  }
  return sheet;
}

}  // namespace ww::sim::gpu
