// Memory of a process and of what it started.
#pragma once

#include <sys/types.h>

namespace ww::sweep {

// Returns the memory of a process and its descendants [MiB]; pages that they share count once. 0:
// no such process. Without descendants, or where the kernel reports no shares, resident pages.
[[nodiscard]] double memory_of_tree_mib(pid_t process);

}  // namespace ww::sweep
