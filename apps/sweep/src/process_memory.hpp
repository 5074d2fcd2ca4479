// Memory of a process and of what it started.
#pragma once

#include <sys/types.h>

namespace ww::sweep {

// What a process and its descendants hold in memory [MiB]; pages that they share count once. 0: no
// such process. Without descendants, or where the kernel does not tell shares, resident pages.
[[nodiscard]] double memory_of_tree_mib(pid_t process);

}  // namespace ww::sweep
