#include "machine/memory/l1_policies.hpp"

#include "machine/memory/l1_kinds.hpp"

namespace ww::sim::gpu::exec {
namespace {

template <class Pass>
class PassPolicy : public L1Policy {
 public:
  void access(Wave& wave, const MemoryFields& fields, MemoryOperation& operation) const override {
    Pass(wave, fields, operation).run();
  }
  void begin_launch(L1Cache& l1) const override { l1.invalidate_all(); }
  void invalidate(L1Cache& l1) const override { l1.invalidate_all(); }
  [[nodiscard]] bool takes_rows() const override { return Pass::kTakesRows; }
};

// The directory keeps a coherent L1 true, over launches as well.
class CoherentPolicy final : public PassPolicy<CoherentPass> {
 public:
  void begin_launch(L1Cache& l1) const override { l1.keep_over_launch(); }
  void invalidate(L1Cache&) const override {}
};

}  // namespace

const L1Policy& l1_of_chip(const Architecture& architecture) {
  static const PassPolicy<WideRequestPass> wide_requests;
  return architecture.l1_line_bytes > architecture.line_bytes ? wide_requests : l1_of_lines();
}

const L1Policy& l1_of_lines() {
  static const PassPolicy<LinePass> lines;
  return lines;
}

const L1Policy& l1_of_wide_lines() {
  static const PassPolicy<WideLinePass> wide_lines;
  return wide_lines;
}

const L1Policy& coherent_l1() {
  static const CoherentPolicy coherent;
  return coherent;
}

}  // namespace ww::sim::gpu::exec
