#pragma once

namespace ww {

// The signal that came first (ww/core/interrupt.hpp); 0 where none came.
[[nodiscard]] int interrupt_signal();

}  // namespace ww
