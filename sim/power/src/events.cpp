#include "ww/sim/power/events.hpp"

namespace ww::sim::power {

NetworkEvents& operator+=(NetworkEvents& sum, const NetworkEvents& other) {
  sum.routers += other.routers;
  sum.links += other.links;
  sum.injected_flits += other.injected_flits;
  sum.ejected_flits += other.ejected_flits;
  sum.resent_flits += other.resent_flits;
  sum.buffer_writes += other.buffer_writes;
  sum.buffer_reads += other.buffer_reads;
  sum.crossbar_flits += other.crossbar_flits;
  sum.switch_grants += other.switch_grants;
  sum.vc_grants += other.vc_grants;
  sum.link_flits += other.link_flits;
  sum.link_toggles += other.link_toggles;
  sum.photonic += other.photonic;
  return sum;
}

NetworkEvents operator-(const NetworkEvents& later, const NetworkEvents& earlier) {
  NetworkEvents difference = later;
  difference.cycles -= earlier.cycles;
  difference.injected_flits -= earlier.injected_flits;
  difference.ejected_flits -= earlier.ejected_flits;
  difference.resent_flits -= earlier.resent_flits;
  difference.buffer_writes -= earlier.buffer_writes;
  difference.buffer_reads -= earlier.buffer_reads;
  difference.crossbar_flits -= earlier.crossbar_flits;
  difference.switch_grants -= earlier.switch_grants;
  difference.vc_grants -= earlier.vc_grants;
  difference.link_flits -= earlier.link_flits;
  difference.link_toggles -= earlier.link_toggles;
  difference.photonic = later.photonic - earlier.photonic;
  return difference;
}

}  // namespace ww::sim::power
