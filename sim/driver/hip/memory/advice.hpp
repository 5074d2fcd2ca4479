// What a program said of its managed memory, page by page. It changes nothing here; calls tell it.
#pragma once

#include <cstdint>

namespace ww::sim::driver::hip {

// The memory was freed. Needs the lock.
void forget_advice(std::uint64_t address, std::uint64_t bytes);

}  // namespace ww::sim::driver::hip
