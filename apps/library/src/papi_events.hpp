// The library's figures as PAPI's software-defined events, which PAPI and the tools over it read:
// sde:::wirewatt::L1_L2_ENERGY_NJ. Those of a virtual chip are sde:::wirewatt_virtual::..., because
// they are no measurement.
#pragma once

#include "wirewatt/wirewatt.h"

namespace ww::papi {

// Registers the events, once in a process, where PAPI is loaded. Its library of such events
// (libsde) is loaded if the program has PAPI without it; PAPI looks for it when it is initialised.
void publish(bool is_virtual);

// Adds a stretch that has ended. Energies are sums over all sessions; powers are those of the last
// stretch. A figure without a value adds to the count of those that are missing, and nothing else.
void add(const wirewatt_reading& reading);

}  // namespace ww::papi
