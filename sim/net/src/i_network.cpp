#include "ww/sim/net/i_network.hpp"

namespace ww::sim::net {

Status Network::advance(const Plan& plan, std::vector<Delivery>& delivered) {
  Packet packet;
  packet.flits = plan.flits;
  packet.tag = plan.tag;
  auto next = plan.packets.begin();
  for (std::uint64_t cycle = now().value(); cycle < plan.end.value(); ++cycle) {
    for (; next != plan.packets.end() && next->created == cycle; ++next) {
      packet.source = next->source;
      packet.destinations = {&next->destination, 1};
      packet.created = Cycles{cycle};
      WW_TRY(inject(packet));
    }
    tick();
    delivered.insert(delivered.end(), deliveries().begin(), deliveries().end());
  }
  return {};
}

}  // namespace ww::sim::net
