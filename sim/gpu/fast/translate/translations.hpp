// Host code in place of straight-line runs that were executed often: vector instructions are
// translated, with the registers of 16 or 8 lanes in those of the host from one instruction to the
// next, and so is address arithmetic on registers whose lanes follow one another. All else, runs
// that were executed seldom, and hosts with neither AVX-512 nor AVX2 are left to the interpreter,
// execute_straight(). What a run does to its wave is the same to the bit.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "fast/translate/form_code.hpp"
#include "fast/translate/host_vectors.hpp"
#include "machine/isa/micro_op.hpp"

namespace ww::sim::gpu::exec {

struct Wave;

class Translations {
 public:
  // Translates code that outlives it. `least_uses`: how often a run is interpreted first.
  // `vectors`: those that this host has (has_vectors()).
  Translations(const std::vector<MicroOp>& code, std::uint32_t least_uses, HostVectors vectors);
  ~Translations();
  Translations(const Translations&) = delete;
  Translations& operator=(const Translations&) = delete;

  // Executes the run of `count` instructions that begins at the dword, as execute_straight() does;
  // several threads may call it at once.
  std::uint64_t execute(Wave& wave, std::uint32_t dword, std::uint32_t count);

  // Functions made so far.
  [[nodiscard]] std::uint64_t made() const { return made_.load(std::memory_order_relaxed); }

 private:
  struct Part;
  struct Run;
  struct Maker;
  std::uint64_t execute_parts(Wave& wave, const Run& run);
  std::uint64_t execute_and_divide(Wave& wave, std::uint32_t dword, std::uint32_t count);
  std::uint64_t execute_on_forms(Wave& wave, Part& part);
  void make(Part& part, FloatMode mode, bool masked);
  translate::HostForms make_forms(Part& part);
  // Counts a use; whether it is the one at which code is made.
  bool is_due(std::atomic<std::uint32_t>& uses) const;

  const std::vector<MicroOp>& code_;
  const std::uint32_t least_uses_;
  const HostVectors vectors_;
  struct Place {
    std::atomic<std::uint32_t> uses{};
    std::atomic<const Run*> run[4]{};  // by the wave's mode: run_index()
  };
  std::unique_ptr<Place[]> place_;  // by dword
  std::mutex mutex_;                // of what follows
  std::unique_ptr<Maker> maker_;
  std::vector<std::unique_ptr<Run>> runs_;
  std::atomic<std::uint64_t> made_{};
};

}  // namespace ww::sim::gpu::exec
