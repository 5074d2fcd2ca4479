#include "stub_card.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>

#include "testing/board_step.hpp"
#include "testing/stub_config.hpp"

namespace ww::microbench::testing {
namespace {

using measure::testing::BoardStep;
using measure::testing::stub_config;

constexpr unsigned kSlices = 16;
constexpr double kShownClockHz = 1755e6;  // of a card without a clock of its own

// Returns a value between -1 and 1, uniformly, the same for the same number.
double scattered(std::uint64_t number) {
  number = (number + 1) * 0x9E3779B97F4A7C15ULL;
  number ^= number >> 31;
  number *= 0xD6E8FEB86659FD93ULL;
  number ^= number >> 32;
  return static_cast<double>(number >> 11) * 0x1.0p-52 - 1;
}

// Slices of a card without sides, by parities of address bits; within a side, which bit 12 is of,
// they are distinguished by bits that the side does not depend on.
unsigned slice_of(std::uint64_t address) {
  const auto parity = [address](std::uint64_t mask) {
    return static_cast<unsigned>(std::popcount(address & mask)) & 1;
  };
  return stub_cuda::side_of_line(address) * 8 + parity(0x48480) * 4 + parity(0x12100) * 2 +
         parity(0x84a00);
}

// Place between the chip's ends: -1 to 1.
double along_the_chip(unsigned part, unsigned parts) {
  return parts < 2 ? 0 : 2.0 * part / (parts - 1) - 1;
}

}  // namespace

StubCard StubCard::from_config() {
  StubCard card;
  const auto take = [](const char* key, double& value, double scale = 1) {
    value = scale * stub_config().number(key, value / scale);
  };
  const auto& config = stub_config();
  card.sms = config.count("sms", card.sms);
  card.gpcs = config.count("gpcs", card.gpcs);
  card.has_sides = config.number("has_sides", 1) != 0;
  take("smear_ticks", card.smear_ticks);
  take("jitter_ticks", card.jitter_ticks);
  take("near_ticks", card.near_ticks);
  take("far_ticks", card.far_ticks);
  take("near_reduction_ticks", card.near_reduction_ticks);
  take("far_reduction_ticks", card.far_reduction_ticks);
  take("idle_w", card.idle_w);
  take("active_w", card.active_w);
  take("waiting_w", card.waiting_w);
  constexpr double kPico = 1e-12;
  take("pj_per_instruction", card.joules_per_instruction, kPico);
  take("pj_per_bit", card.joules_per_bit, kPico);
  take("pj_per_one", card.joules_per_one, kPico);
  take("pj_per_crossing_bit", card.joules_per_crossing_bit, kPico);
  take("pj_per_crossing_one", card.joules_per_crossing_one, kPico);
  card.l1_bytes = config.count("l1_bytes", 0);
  card.l2_bytes = config.count("l2_bytes", static_cast<unsigned>(card.l2_bytes));
  take("l1_ticks", card.l1_ticks);
  take("memory_ticks", card.memory_ticks);
  take("store_ticks", card.store_ticks);
  take("pj_per_register_bit", card.joules_per_register_bit, kPico);
  take("pj_per_l1_bit", card.joules_per_l1_bit, kPico);
  take("pj_per_l2_bit", card.joules_per_l2_bit, kPico);
  take("pj_per_memory_bit", card.joules_per_memory_bit, kPico);
  take("clock_hz", card.clock_hz);
  take("clock_fall_per_w", card.clock_fall_per_w);
  take("voltage_share", card.voltage_share);
  take("load_line_per_w", card.load_line_per_w);
  take("ambient_c", card.ambient_c);
  take("k_per_w", card.k_per_w);
  take("heat_s", card.heat_s);
  take("leak_w_per_k", card.leak_w_per_k);
  card.lanes = config.count("lanes", card.lanes);
  card.loops = config.count("loops", card.loops);
  take("timeout_s", card.timeout_s);
  card.failing_launch = config.count("failing_launch", 0);
  card.failure = config.code("failure", card.failure);
  return card;
}

double StubCard::far_share(unsigned sm, std::uint64_t address) const {
  const unsigned gpc = gpc_of(sm);
  if (has_sides) {
    const unsigned side = 2 * gpc < gpcs ? 0 : 1;
    return side == stub_cuda::side_of_line(address) ? 0 : 1;
  }
  return 0.5 - 0.5 * along_the_chip(gpc, gpcs) * along_the_chip(slice_of(address), kSlices);
}

double StubCard::ticks(unsigned sm, std::uint64_t address) const {
  const double way = near_ticks + far_share(sm, address) * (far_ticks - near_ticks);
  // No two ways through a chip are equal: up to 15 ticks more, fixed for the SM and the line.
  const auto pair = static_cast<double>((address / 128 * 7 + sm * 5) % 16);
  if (smear_ticks == 0) return way + pair;
  const double smear = scattered(1000 + gpc_of(sm)) + 0.5 * scattered(2000 + sm) +
                       scattered(3000 + slice_of(address));
  return way + pair / 4 + smear_ticks * smear;
}

double StubCard::reduction_ticks(unsigned sm, std::uint64_t address) const {
  return near_reduction_ticks +
         far_share(sm, address) * (far_reduction_ticks - near_reduction_ticks);
}

void StubBoard::start(std::int64_t now_ns) {
  busy_until_ns_ = rested_ns_ = now_ns;
}

void StubBoard::show(std::int64_t time_ns, double watts, double clock_hz) const {
  using Show = void (*)(unsigned, const BoardStep*);
  static const auto show = reinterpret_cast<Show>(dlsym(RTLD_DEFAULT, "ww_chip_clock_board"));
  // Rounds to tenths, so that the same state is one step.
  const double celsius = std::round(10 * (card_.ambient_c + warm_k_)) / 10;
  const BoardStep step{time_ns, watts, celsius, clock_hz > 0 ? clock_hz : kShownClockHz};
  show(bus_, &step);
}

double StubBoard::leak_w() const {
  // Rounds to steps, so that a queue without gaps draws one power for a while.
  constexpr double kMinW = 0.01;
  return std::round(card_.leak_w_per_k * warm_k_ / kMinW) * kMinW;
}

double StubBoard::voltage(double watts) const {
  return 1 - card_.load_line_per_w * watts;
}

double StubBoard::rest_w(double load_w) const {
  const double at_full_voltage = card_.idle_w + leak_w();
  double rest = at_full_voltage;
  for (int i = 0; i < 5; ++i) rest = at_full_voltage * std::pow(voltage(load_w + rest), 2);
  return rest;
}

void StubBoard::heat(double watts_over_idle, double seconds) {
  const double settled = card_.k_per_w * watts_over_idle;
  warm_k_ = settled + (warm_k_ - settled) * std::exp(-seconds / card_.heat_s);
}

void StubBoard::rest_until(std::int64_t time_ns) {
  constexpr std::int64_t kStepNs = 50'000'000;
  rested_ns_ = std::max(rested_ns_, busy_until_ns_);
  while (card_.leak_w_per_k > 0 && rested_ns_ + kStepNs <= time_ns) {
    heat(0, static_cast<double>(kStepNs) * 1e-9);
    rested_ns_ += kStepNs;
    show(rested_ns_, rest_w(0), card_.clock_hz);
  }
}

double StubBoard::queue(const StubLaunch& launch, std::int64_t now_ns) {
  const std::int64_t begin = std::max(now_ns, busy_until_ns_);
  rest_until(begin);
  double clock = 1;
  double power = 0;
  double seconds = 0;
  // Power sets the clock, and the clock the power.
  for (int i = 0; i < 20; ++i) {
    const double volts =
        (1 - card_.voltage_share * (1 - clock)) * voltage(power + card_.idle_w + leak_w());
    const double square = volts * volts;
    seconds = launch.busy_s / clock + launch.slept_s;
    const double asleep = launch.slept_s / seconds;
    power = card_.active_w * square * clock + card_.waiting_w * asleep +
            launch.joules * square / seconds;
    clock = std::max(0.5, 1 - card_.clock_fall_per_w * power);
  }
  show(begin, power + rest_w(power), card_.clock_hz * clock);
  heat(power, seconds);
  busy_until_ns_ = begin + std::llround(seconds * 1e9);
  rested_ns_ = busy_until_ns_;
  show(busy_until_ns_, rest_w(0), card_.clock_hz);
  return seconds;
}

}  // namespace ww::microbench::testing
