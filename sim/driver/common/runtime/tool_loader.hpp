// Loads profilers' libraries into programs as AMD's rocprofiler-register does for its runtimes, so
// that what counts a program on a card can be tried on the virtual GPU.
//
// A library is wanted where ROCP_TOOL_LIBRARIES or ROCPROFILER_REGISTER_LIBRARY is set,
// ROCPROFILER_REGISTER_FORCE_LOAD is 1, or the program shows the symbol rocprofiler_configure; and
// ROCPROFILER_REGISTER_ENABLED is not 0. Then librocprofiler-sdk.so, or
// ROCPROFILER_REGISTER_LIBRARY, is opened and gets the table of common/runtime/tool_table.h.
// (Source: rocprofiler_register.cpp of ROCm 7.0.) Where it cannot be opened, AMD's library ends the
// program; this one says so and goes on.
#pragma once

namespace ww::sim::driver {

// Notes that the program uses the device. What is wanted is loaded once the lock is released. Needs
// the lock.
void want_tools();

// Notes the launches since the last call, which a loaded library hears of once the lock is
// released. Needs the lock.
void note_launches();

}  // namespace ww::sim::driver
