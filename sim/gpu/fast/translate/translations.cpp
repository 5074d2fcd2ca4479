#include "fast/translate/translations.hpp"

#include "fast/forms/lane_forms.hpp"
#include "fast/forms/straight_line.hpp"
#include "fast/translate/host_code.hpp"
#include "fast/translate/stretch.hpp"
#include "machine/isa/wave.hpp"

namespace ww::sim::gpu::exec {

using translate::HostForms;
using translate::HostFunction;
using translate::Stretch;
using translate::Translation;

namespace {

std::size_t run_index(FloatMode mode) {
  return (mode.flush ? 1U : 0U) | (mode.ieee ? 2U : 0U);
}

}  // namespace

struct Translations::Part {
  Stretch stretch;
  // [some lanes are disabled]; null: not made yet, or impossible
  std::atomic<HostFunction> function[2]{};
  std::atomic<HostForms> forms{};  // of a stretch on forms
  std::atomic<std::uint32_t> uses[2]{};
};

struct Translations::Run {
  std::unique_ptr<Part[]> part;
  std::size_t parts{};
};

struct Translations::Maker {
  explicit Maker(HostVectors vectors) : code(vectors) {}
  translate::HostCode code;
};

Translations::Translations(const std::vector<MicroOp>& code, std::uint32_t least_uses,
                           HostVectors vectors)
    : code_(code),
      least_uses_(least_uses),
      vectors_(vectors),
      place_(std::make_unique<Place[]>(code.size())) {}

Translations::~Translations() = default;

std::uint64_t Translations::execute(Wave& wave, std::uint32_t dword, std::uint32_t count) {
  Place& place = place_[dword];
  const std::size_t index = run_index(wave.float_mode());
  const Run* const run = place.run[index].load(std::memory_order_acquire);
  // Translated code clamps a NaN to 0, as nearly all waves do.
  if (!wave.clamps_nan()) return execute_straight(wave, &code_[dword], count);
  if (run != nullptr) return execute_parts(wave, *run);
  if (place.uses.fetch_add(1, std::memory_order_relaxed) < least_uses_) {
    return execute_straight(wave, &code_[dword], count);
  }
  return execute_and_divide(wave, dword, count);
}

// Instructions that go by forms this time go by forms from then on.
std::uint64_t Translations::execute_and_divide(Wave& wave, std::uint32_t dword,
                                               std::uint32_t count) {
  const FloatMode mode = wave.float_mode();
  std::uint64_t lane_operations = 0;
  std::vector<bool> by_form;
  for (const MicroOp* op = &code_[dword]; by_form.size() < count; op += op->dwords) {
    by_form.push_back(op->form != nullptr && wave.exec() == ~std::uint64_t{0} &&
                      (op->reads & ~wave.formed) == 0);
    lane_operations += execute_straight(wave, op, 1);
  }
  const std::lock_guard lock(mutex_);
  std::atomic<const Run*>& place = place_[dword].run[run_index(mode)];
  if (place.load(std::memory_order_relaxed) != nullptr) return lane_operations;
  const std::vector<Stretch> stretches = translate::divide(&code_[dword], by_form, mode.flush);
  auto run = std::make_unique<Run>();
  run->parts = stretches.size();
  run->part = std::make_unique<Part[]>(stretches.size());
  for (std::size_t i = 0; i < stretches.size(); ++i) run->part[i].stretch = stretches[i];
  place.store(run.get(), std::memory_order_release);
  runs_.push_back(std::move(run));
  return lane_operations;
}

void Translations::make(Part& part, FloatMode mode, bool masked) {
  // The interpreter is as fast with one instruction on whole registers.
  if (vectors_ == HostVectors::avx2 && !masked && part.stretch.count == 1) return;
  const std::lock_guard lock(mutex_);
  std::atomic<HostFunction>& function = part.function[masked ? 1 : 0];
  if (function.load(std::memory_order_relaxed) != nullptr) return;
  if (!maker_) maker_ = std::make_unique<Maker>(vectors_);
  const HostFunction made = maker_->code.make(part.stretch.first, part.stretch.count, mode, masked);
  if (made != nullptr) made_.fetch_add(1, std::memory_order_relaxed);
  function.store(made, std::memory_order_release);
}

HostForms Translations::make_forms(Part& part) {
  const std::lock_guard lock(mutex_);
  HostForms function = part.forms.load(std::memory_order_relaxed);
  if (function != nullptr) return function;
  if (!maker_) maker_ = std::make_unique<Maker>(vectors_);
  function = maker_->code.make_forms(part.stretch.first, part.stretch.count);
  if (function != nullptr) made_.fetch_add(1, std::memory_order_relaxed);
  part.forms.store(function, std::memory_order_release);
  return function;
}

bool Translations::is_due(std::atomic<std::uint32_t>& uses) const {
  return uses.load(std::memory_order_relaxed) <= least_uses_ &&
         uses.fetch_add(1, std::memory_order_relaxed) == least_uses_;
}

inline std::uint64_t Translations::execute_on_forms(Wave& wave, Part& part) {
  const Stretch& stretch = part.stretch;
  HostForms function = nullptr;
  if (wave.exec() == ~std::uint64_t{0} && (stretch.reads & ~wave.formed) == 0) {
    function = part.forms.load(std::memory_order_acquire);
    if (function == nullptr && is_due(part.uses[0])) function = make_forms(part);
  }
  if (function == nullptr) return execute_straight(wave, stretch.first, stretch.count);
  const std::uint32_t done = function(&wave);
  std::uint64_t written = stretch.writes;
  const MicroOp* rest = stretch.first;
  if (done != stretch.count) {
    written = 0;
    for (std::uint32_t i = 0; i < done; ++i, rest += rest->dwords) written |= rest->writes;
  }
  wave.formed |= written;
  wave.unwritten |= written;
  std::uint64_t lane_operations = std::uint64_t{done} * kLanes;
  if (done != stretch.count) lane_operations += execute_straight(wave, rest, stretch.count - done);
  return lane_operations;
}

std::uint64_t Translations::execute_parts(Wave& wave, const Run& run) {
  std::uint64_t lane_operations = 0;
  const FloatMode mode = wave.float_mode();
  for (std::size_t i = 0; i < run.parts; ++i) {
    Part& part = run.part[i];
    const Stretch& stretch = part.stretch;
    if (stretch.translation == Translation::forms) {
      lane_operations += execute_on_forms(wave, part);
      continue;
    }
    const std::uint64_t exec = wave.exec();
    const bool masked = exec != ~std::uint64_t{0};
    HostFunction function = nullptr;
    if (stretch.translation == Translation::lanes) {
      auto& place = part.function[masked ? 1 : 0];
      function = place.load(std::memory_order_acquire);
      if (function == nullptr && is_due(part.uses[masked ? 1 : 0])) {
        make(part, mode, masked);
        function = place.load(std::memory_order_acquire);
      }
    }
    if (function == nullptr) {
      lane_operations += execute_straight(wave, stretch.first, stretch.count);
      continue;
    }
    if ((wave.formed & (stretch.reads | stretch.writes)) != 0) {
      if (const auto needed = wave.unwritten & stretch.reads; needed != 0) {
        write_lanes(wave, needed);
      }
      overwrite(wave, stretch.writes, !masked);
    }
    function(wave.v, wave.sr);
    lane_operations += stretch.count * enabled_lanes(exec);
  }
  return lane_operations;
}

}  // namespace ww::sim::gpu::exec
