// Ctrl-C that leaves no half-written results: long work checks between steps whether to stop.
#pragma once

namespace ww {

// Installs handlers for SIGINT and SIGTERM that only set a flag; a second signal kills at once.
void catch_interrupts();
[[nodiscard]] bool interrupted();

}  // namespace ww
