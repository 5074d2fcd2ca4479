// Records flits that leave a router in the cycle after they came, where nothing is arbitrated.
#pragma once

#include <cstdint>

#include "vc_router/ids.hpp"
#include "vc_router/router.hpp"

namespace ww::sim::net {

// The last flits that were decided to leave. Mostly that is one; then no mask is needed.
template <class R>
struct RouterDepartures {
  using Mask = typename R::Mask;

  std::int64_t cycle{-1};           // in which they leave
  typename R::StoredVc input_vc{};  // that the last one leaves
  typename R::StoredVc tail_vc{};   // output VC that it leaves through, if it is a tail
  bool several{};
  Mask other_inputs{};  // of those before it, where there are several
  Mask other_tails{};

  void begin(std::int64_t when, PortVc input, PortVc output, bool tail) {
    cycle = when;
    input_vc = input;
    tail_vc = output;
    tail_vc.clear_if(!tail);
    several = false;
  }
  void add(PortVc input, PortVc output, bool tail) {
    other_inputs = inputs();
    other_tails = tails();
    begin(cycle, input, output, tail);
    several = true;
  }
  // Input VCs that they leave, output VCs that tails leave through.
  [[nodiscard]] Mask inputs() const {
    return mask_of_bit<Mask>(PortVc(input_vc).number()) | only_if(several, other_inputs);
  }
  [[nodiscard]] Mask tails() const {
    const Mask last = tail_vc.is_none() ? Mask{} : mask_of_bit<Mask>(PortVc(tail_vc).number());
    return last | only_if(several, other_tails);
  }
  [[nodiscard]] bool inputs_have(PortVc vc) const {
    return (inputs() & mask_of_bit<Mask>(vc.number())) != 0;
  }
  [[nodiscard]] bool is_only(PortVc input) const { return !several && PortVc(input_vc) == input; }
  // Whether they may be in the way of a head that comes in the cycle in which they leave.
  [[nodiscard]] bool hinder(PortVc input, PortVc output) const {
    return several || PortVc(input_vc) == input || PortVc(tail_vc) == output;
  }
};

}  // namespace ww::sim::net
