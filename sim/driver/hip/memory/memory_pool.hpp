// Counts the memory that pools gave.
#pragma once

#include <cstdint>

namespace ww::sim::driver::hip {

// Memory of the pool of that number was freed; it may be gone. Needs the lock.
void left_pool(std::uint32_t number, std::uint64_t bytes);

}  // namespace ww::sim::driver::hip
