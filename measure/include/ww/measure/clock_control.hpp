// Fixing a GPU's core clock, and giving it back on every way out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/i_sensor.hpp"

namespace ww::measure {

// The destructor restores. Threading: one caller at a time.
class ClockControl {
 public:
  virtual ~ClockControl() = default;
  // States that can be fixed, slowest first; voltage 0 where the driver does not tell it.
  [[nodiscard]] virtual const std::vector<DvfsState>& states() const = 0;
  // The state that was selected, or -1 while the driver chooses.
  [[nodiscard]] virtual int current() const = 0;
  // Errors: out_of_range, permission_denied (with the remedy), device_error.
  virtual Status select(int state) = 0;
  // Back to what was set before the first select; nothing to do where nothing was selected.
  virtual Status restore() = 0;
};

// What gives a clock back. Kept in a file while clocks are changed, so that somebody else can do
// it.
struct RestoreAction {
  enum class Kind {
    write_file,         // `text` into the kernel's file `target`
    nvml_reset_clocks,  // of the GPU at PCI address `target`
  };
  Kind kind{};
  std::string target;
  std::string text;
};

// A process of its own that outlives this one, killed or crashed as it may be, and then gives the
// clocks back. Should it be killed as well, the next program that calls restore_leftovers() does.
class ClockGuardian {
 public:
  // Forks; call it before threads of this process use the vendor's library. Errors: io_error.
  static Result<std::unique_ptr<ClockGuardian>> start();
  ~ClockGuardian();
  ClockGuardian(const ClockGuardian&) = delete;
  ClockGuardian& operator=(const ClockGuardian&) = delete;

  // Before the first change of a clock. Errors: io_error; then do not change it.
  Status arm(const RestoreAction& action);
  // After the clock was given back.
  void disarm();

 private:
  ClockGuardian(int pipe, int process, std::string file)
      : pipe_(pipe), process_(process), file_(std::move(file)) {}
  int pipe_;
  int process_;
  std::string file_;
};

// Gives back the clocks that ended processes left changed; one line for each, "0000:03:00.0: ...".
// Files of this user alone are looked at ($WIREWATT_STATE_DIR, else /run/wirewatt for root,
// $XDG_RUNTIME_DIR/wirewatt, /tmp/wirewatt-UID).
std::vector<std::string> restore_leftovers();

}  // namespace ww::measure
