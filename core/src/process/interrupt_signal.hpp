#pragma once

namespace ww {

// The signal that came first (ww/core/interrupt.hpp), or that asked this process to end while a
// program ran in its foreground; 0 where none came.
[[nodiscard]] int interrupt_signal();

// Notes a signal that came while a program ran in the foreground. The program has got it, so that
// interrupted() stays false and what the program left can still be read.
void note_foreground_signal(int signal);

}  // namespace ww
