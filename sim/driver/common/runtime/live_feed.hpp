// Feeds a watcher beside the program (WIREWATT_LIVE, a file): the
// newest sensor readings and the counters of every dispatch,
// appended as each ends. Lines of words, the form in docs/files.md.
#pragma once

#include "ww/sim/gpu/virtual_gpu.hpp"

namespace ww::sim::driver {

[[nodiscard]] bool watched();

// Appends what is new since the last call; nothing without the variable, or in a process forked
// from the one that began. A file that cannot be written is reported once on stderr.
void feed_watcher(const gpu::VirtualGpu& gpu);

}  // namespace ww::sim::driver
