// Keeps a program's advice on managed memory, by page. It changes nothing here; calls report it.
#pragma once

#include <cstdint>

namespace ww::sim::driver::hip {

// The memory was freed. Needs the lock.
void forget_advice(std::uint64_t address, std::uint64_t bytes);

}  // namespace ww::sim::driver::hip
