// Describes a card of the stub libcuda: the ways through its chip, its clock, power and heat.
// Without a config (measure's stub_config.hpp) it is the card of stub_cuda.hpp. Keys and units are
// the members' names; energies there are in pJ, as a card's data sheet has them.
#pragma once

#include <cstdint>

#include "stub_cuda.hpp"

namespace ww::microbench::testing {

struct StubCard {
  static StubCard from_config();

  unsigned sms{stub_cuda::sms};
  unsigned gpcs{2};       // SMs go round them by twos, as on cards
  bool has_sides{true};   // else latency has no two levels, see far_share()
  double smear_ticks{};   // of an awaited access: GPC, SM and slice each add up to this
  double jitter_ticks{};  // of one access, at random
  double near_ticks{stub_cuda::near_ticks};  // of an awaited access
  double far_ticks{stub_cuda::far_ticks};
  double near_reduction_ticks{stub_cuda::near_reduction_ticks};
  double far_reduction_ticks{stub_cuda::far_reduction_ticks};

  double idle_w{stub_cuda::idle_w};
  double active_w{stub_cuda::active_w};  // while a kernel runs
  double waiting_w{};                    // more while all its threads sleep
  double joules_per_instruction{stub_cuda::joules_per_instruction};
  double joules_per_bit{stub_cuda::joules_per_bit};
  double joules_per_one{stub_cuda::joules_per_one};
  double joules_per_crossing_bit{stub_cuda::joules_per_crossing_bit};
  double joules_per_crossing_one{stub_cuda::joules_per_crossing_one};

  // A hierarchy of memory (stub_levels.hpp), where the L1 has a size. An energy is of a random bit,
  // and zeros cost half of it; crossing bits cost alike. A bit of a deeper level passes those
  // before it.
  std::uint64_t l1_bytes{};  // of an SM; 0: loads and stores cost nothing beside their instruction
  std::uint64_t l2_bytes{4U << 20};
  double l1_ticks{35};       // of a load that the L1 answers; near_ticks, far_ticks are the L2's
  double memory_ticks{450};  // beside these
  double store_ticks{8};
  double joules_per_register_bit{};  // that lanes ask for
  double joules_per_l1_bit{};        // of the sectors of 32 B in which these lie
  double joules_per_l2_bit{};
  double joules_per_memory_bit{};

  double clock_hz{};          // 0: threads run one after the other, in stub_cuda's slow ticks
  double clock_fall_per_w{};  // relative, of power over idle
  double voltage_share{};     // relative fall of voltage for one of the clock
  double load_line_per_w{};   // relative fall of voltage for a watt of the board
  double ambient_c{47};
  double k_per_w{};   // of power over idle, when all is warm
  double heat_s{20};  // time constant of that
  double leak_w_per_k{};

  // Lanes and loops that are executed, and stand for the rest, of kernels in which all do the same
  // (cross, furnace). No loops: all.
  unsigned lanes{32};
  unsigned loops{};
  double timeout_s{};         // a launch that lasts longer fails when it is waited for; 0: none
  unsigned failing_launch{};  // the number of the one that fails when it is waited for; 0: none
  int failure{719};           // what it fails with

  [[nodiscard]] unsigned gpc_of(unsigned sm) const { return sm / 2 % gpcs; }
  // 0 for an access that stays near, 1 for one that crosses all of the chip.
  [[nodiscard]] double far_share(unsigned sm, std::uint64_t address) const;
  // Length of an awaited access, without jitter.
  [[nodiscard]] double ticks(unsigned sm, std::uint64_t address) const;
  [[nodiscard]] double reduction_ticks(unsigned sm, std::uint64_t address) const;
};

// A launch at the full clock.
struct StubLaunch {
  double busy_s{};  // of issue and memory
  double slept_s{};
  double joules{};  // by what it does, at the full voltage
};

// The board that a card sits on, in chip time. Times do not fall.
class StubBoard {
 public:
  StubBoard(const StubCard& card, unsigned bus) : card_(card), bus_(bus) {}
  // Starts the card at the chip clock's attachment.
  void start(std::int64_t now_ns);
  // Appends a launch to the queue; gives how long it lasts [s].
  double queue(const StubLaunch& launch, std::int64_t now_ns);
  // The board cools until then, where its queue is empty.
  void rest_until(std::int64_t time_ns);
  [[nodiscard]] std::int64_t busy_until_ns() const { return busy_until_ns_; }

 private:
  void show(std::int64_t time_ns, double watts, double clock_hz) const;
  // Power at rest, at the voltage that a load leaves.
  [[nodiscard]] double rest_w(double load_w) const;
  [[nodiscard]] double voltage(double watts) const;
  void heat(double watts_over_idle, double seconds);
  [[nodiscard]] double leak_w() const;

  const StubCard& card_;
  unsigned bus_;
  double warm_k_{};
  std::int64_t busy_until_ns_{};
  std::int64_t rested_ns_{};
};

}  // namespace ww::microbench::testing
