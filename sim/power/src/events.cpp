#include "ww/sim/power/events.hpp"

namespace ww::sim::power {

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
  return difference;
}

}  // namespace ww::sim::power
