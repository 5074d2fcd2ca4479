// Ends the process where a call into a driver does not come back: no thread can be taken out of
// one, and a launch that hangs would hang whoever waits for it.
#pragma once

namespace ww::microbench {

// How long a call into a driver may last: 300 s, or what $WIREWATT_DRIVER_DEADLINE_S says.
[[nodiscard]] unsigned driver_deadline_s();

// Stands around one call that waits for a device. If it is still there after the deadline, a
// message goes to stderr and the process ends with the exit code of a device's failure. What was
// finished before is in its files. Threading: one at a time in a process.
class CallDeadline {
 public:
  CallDeadline();
  ~CallDeadline();
  CallDeadline(const CallDeadline&) = delete;
  CallDeadline& operator=(const CallDeadline&) = delete;
};

}  // namespace ww::microbench
