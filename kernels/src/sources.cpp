#include "ww/kernels/sources.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>

#include "embedded.hpp"
#include "program_head.hpp"

namespace ww::kernels {
namespace {

const std::array<Source, 18>& table() {
  static const std::array<Source, 18> entries{{
      {"l2_stream", embedded_text("l2_stream.cl"), true},
      {"l2_sweep", embedded_text("l2_sweep.cl"), false},
      {"furnace", embedded_text("furnace.cl"), false},
      {"known_bytes", embedded_text("known_bytes.cl"), false},
      {"latency", embedded_text("latency.cl"), true},
      {"places", embedded_text("places.cl"), true},
      {"probe", embedded_text("probe.cl"), true},
      {"contend", embedded_text("contend.cl"), false},
      {"cross", embedded_text("cross.cl"), true},
      {"register_stream", embedded_text("register_stream.cl"), false},
      {"chase", embedded_text("chase.cl"), false},
      {"bandwidth", embedded_text("bandwidth.cl"), false},
      {"fabric_stream", embedded_text("fabric_stream.cl"), true},
      {"fabric_probe", embedded_text("fabric_probe.cl"), true},
      {"part_stream", embedded_text("part_stream.cl"), false},
      {"ladder", embedded_text("ladder.cl"), false},
      {"sleeps", embedded_text("sleeps.cl"), false},
      {"visible", embedded_text("visible.cl"), true},
  }};
  return entries;
}

Status check(const Macros& macros) {
  const auto reject = [](const char* name, unsigned value) {
    return fail(ErrorCode::invalid_argument, fmt::format("{} = {} makes no sense", name, value),
                "kernel macros");
  };
  const unsigned wave = macros.target.wave_size;
  if (wave == 0) return reject("WW_WAVE_SIZE", wave);
  if (macros.group_size == 0 || macros.group_size % wave != 0) {
    return reject("WW_GROUP_SIZE", macros.group_size);
  }
  if (macros.interleave_bytes < 16 || !std::has_single_bit(macros.interleave_bytes)) {
    return reject("WW_INTERLEAVE", macros.interleave_bytes);
  }
  // The working set is aligned to its size by masking.
  if (!std::has_single_bit(macros.channels) || macros.channels > 256) {
    return reject("WW_CHANNELS", macros.channels);
  }
  if (macros.target.clock_bits == 0 || macros.target.clock_bits > 32) {
    return reject("WW_CLOCK_MASK", macros.target.clock_bits);
  }
  // Every load of every stripe has its runs.
  if (macros.list != 0 && macros.list * macros.interleave_bytes != macros.stripes * wave * 16) {
    return reject("WW_LIST", macros.list);
  }
  // Eight bits a channel in a 64-bit argument; a load must not need a second stripe. Lists say
  // both.
  if (macros.list == 0 && (macros.quadrant_channels == 0 || macros.quadrant_channels > 8 ||
                           macros.quadrant_channels > macros.channels ||
                           macros.quadrant_channels * macros.interleave_bytes < wave * 16)) {
    return reject("WW_QUADRANT_CHANNELS", macros.quadrant_channels);
  }
  if (!std::has_single_bit(macros.stripes)) return reject("WW_STRIPES", macros.stripes);
  if (macros.unroll == 0 || macros.unroll > 16) return reject("WW_UNROLL", macros.unroll);
  return {};
}

// Macros that differ in spelling. WW_FETCH reads a word at its line's home, WW_LOAD past the L1.
std::string_view dialect_macros(Dialect dialect) {
  switch (dialect) {
    case Dialect::amd: return embedded_text("dialect.clh");
    case Dialect::nvidia:
      return "#define WW_PIN_CONSTRAINT \"+r\"\n"
             "#define WW_UNIFORM(x) (x)\n"
             "#define WW_WAIT() __asm__ volatile(\"nanosleep.u32 20;\" : : : \"memory\")\n"
             "#define WW_CLOCK(t) __asm__ volatile(\"mov.u64 %0, %%clock64;\" : \"=l\"(t) : : "
             "\"memory\")\n"
             "#define WW_HIDE(x) __asm__ volatile(\"\" : \"+r\"(x) : : \"memory\")\n"
             "#define WW_USE(x) __asm__ volatile(\"{ .shared .align 4 .b32 ww_used; "
             "st.volatile.shared.u32 [ww_used], %0; }\" : \"+r\"(x) : : \"memory\")\n"
             "#define WW_LOAD(p) (*(volatile __global const uint*)(p))\n"
             "#define WW_FETCH(p) atomic_or(p, 0u)\n";
    case Dialect::portable: break;
  }
  return "#define WW_UNIFORM(x) (x)\n"
         "#define WW_WAIT() (void)0\n"
         "#define WW_CLOCK(t) t = 0\n"
         "#define WW_USE(x) (void)(x)\n"
         "#define WW_HIDE(x) (void)(x)\n"
         "#define WW_LOAD(p) (*(volatile __global const uint*)(p))\n"
         "#define WW_FETCH(p) atomic_or(p, 0u)\n";
}

// A wait of n times WW_WAIT(). On NVIDIA one instruction, as ptx/shim.clh says.
// AMD's is in its dialect.
std::string_view long_wait_macro(Dialect dialect) {
  return dialect == Dialect::amd ? ""
         : dialect == Dialect::nvidia
             ? "#define WW_WAIT_LONG(n) for (uint ww_left = (n); ww_left != 0;) { "
               "const uint ww_now = ww_left < 50000u ? ww_left : 50000u; "
               "__asm__ volatile(\"nanosleep.u32 %0;\" : : \"r\"(20u * ww_now) : \"memory\"); "
               "ww_left -= ww_now; }\n"
             : "#define WW_WAIT_LONG(n) "
               "for (uint ww_left = (n); ww_left != 0; --ww_left) { WW_WAIT(); }\n";
}

}  // namespace

std::span<const Source> sources() {
  return table();
}

Result<Source> find_source(std::string_view name) {
  std::string known;
  for (const Source& source : table()) {
    if (source.name == name) return source;
    known += known.empty() ? "" : ", ";
    known += source.name;
  }
  return fail(ErrorCode::not_found, fmt::format("no kernel '{}'; there are {}", name, known));
}

Source class_source() {
  return {"classes", embedded_text("classes.cl"), false};
}

Result<std::string> program_text(const Source& source, const Macros& macros) {
  WW_TRY(check(macros));
  const PinTarget& target = macros.target;
  std::string text;
  const auto define = [&text](std::string_view name, unsigned value) {
    text += fmt::format("#define {} {}u\n", name, value);
  };
  define("WW_ENGINE_SHIFT", target.engine_shift);
  define("WW_ENGINE_MASK", target.engine_mask);
  define("WW_CU_SHIFT", target.cu_shift);
  define("WW_CU_MASK", target.cu_mask);
  define("WW_WAVE_SIZE", target.wave_size);
  define("WW_GROUP_SIZE", macros.group_size);
  define("WW_INTERLEAVE", macros.interleave_bytes);
  define("WW_CHANNELS", macros.channels);
  define("WW_QUADRANT_CHANNELS", macros.quadrant_channels);
  define("WW_STRIPES", macros.stripes);
  define("WW_UNROLL", macros.unroll);
  define("WW_CLOCK_MASK", static_cast<unsigned>((std::uint64_t{1} << target.clock_bits) - 1));
  if (macros.list != 0) define("WW_LIST", macros.list);
  if (macros.count_waves) define("WW_COUNT_WAVES", 1);
  text += dialect_macros(target.dialect);
  if (target.dialect == Dialect::amd) {
    text += embedded_text(macros.wait == Wait::sleep ? "sleep.clh" : "nops.clh");
  }
  text += long_wait_macro(target.dialect);
  text += embedded_text("pin.clh");
  text += source.text;
  return text;
}

std::vector<std::string> compiler_options(std::string_view text, std::string_view target) {
  const ProgramHead head = split_head(text);
  const auto size = head.values.find("WW_WAVE_SIZE");
  const bool wide = size != head.values.end() && size->second == "64";
  if (!wide || !has_both_wave_sizes(target)) return {};
  return {"-mwavefrontsize64"};
}

}  // namespace ww::kernels
