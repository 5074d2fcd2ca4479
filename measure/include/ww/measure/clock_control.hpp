// Fixes a GPU's core clock, and restores it however the program ends.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/i_sensor.hpp"

namespace ww::measure {

// Control of one GPU's core clock. The destructor restores the clock. Threading: one caller at a
// time.
class ClockControl {
 public:
  virtual ~ClockControl() = default;
  // States that can be fixed, slowest first. The voltage is 0 if the driver does not report it.
  [[nodiscard]] virtual const std::vector<DvfsState>& states() const = 0;
  // The state that was selected, or -1 while the driver chooses.
  [[nodiscard]] virtual int current() const = 0;
  // Errors: out_of_range, permission_denied (with the remedy), device_error.
  virtual Status select(int state) = 0;
  // Restores the setting from before the first select(). Does nothing if nothing was selected.
  virtual Status restore() = 0;
};

// The action that restores a clock. It is kept in a file while clocks are changed, so that another
// process can perform it.
struct RestoreAction {
  enum class Kind {
    write_file,         // writes `text` into the kernel's file `target`
    nvml_reset_clocks,  // of the GPU at PCI address `target`
  };
  Kind kind{};
  std::string target;
  std::string text;
};

// A process of its own that restores the clocks after this process was killed or crashed. If the
// guardian is killed as well, the next program that calls restore_leftovers() restores them.
class ClockGuardian {
 public:
  // Forks; call it before threads of this process use the vendor's library. Errors: io_error.
  static Result<std::unique_ptr<ClockGuardian>> start();
  // If the clock was not restored, the guardian tries it for up to ten seconds, because a driver
  // that resets the card refuses meanwhile. What then stays fixed is logged as a warning.
  ~ClockGuardian();
  ClockGuardian(const ClockGuardian&) = delete;
  ClockGuardian& operator=(const ClockGuardian&) = delete;

  // Call it before the first change of a clock. Error io_error: do not change the clock then.
  Status arm(const RestoreAction& action);
  // Call it after the clock was restored.
  void disarm();

 private:
  ClockGuardian(int pipe, int process, std::string file)
      : pipe_(pipe), process_(process), file_(std::move(file)) {}
  int pipe_;
  int process_;
  std::string file_;
};

// Restores the clocks that ended processes left changed. Returns one line for each,
// "0000:03:00.0: ...". It looks only at files of this user ($WIREWATT_STATE_DIR, else /run/wirewatt
// for root, $XDG_RUNTIME_DIR/wirewatt, /tmp/wirewatt-UID).
std::vector<std::string> restore_leftovers();

}  // namespace ww::measure
