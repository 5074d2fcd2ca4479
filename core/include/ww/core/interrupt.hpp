// Ctrl-C that leaves no half-written results: long work checks between steps whether to stop.
#pragma once

namespace ww {

// Installs handlers for SIGINT and SIGTERM that only set a flag. A signal half a second later or
// more kills at once. Signals that come sooner are one request: `timeout` and batch systems send
// one to the process and one to its group.
void catch_interrupts();
[[nodiscard]] bool interrupted();

}  // namespace ww
