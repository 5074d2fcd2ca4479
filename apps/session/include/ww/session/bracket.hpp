// Measures the energy between a begin and an end inside a running program: that of the device from
// its sensor, and that of its on-chip wires, by segment, from counters and a calibration.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ww/core/figure.hpp"
#include "ww/core/result.hpp"
#include "ww/model/interval.hpp"
#include "ww/model/wire_model.hpp"
#include "ww/session/kernel_energy.hpp"

namespace ww::session {

struct Joules {
  RowStatus status{RowStatus::unavailable};
  std::string reason;                     // why there is no figure, or a remark on it
  std::optional<model::Interval> energy;  // [J], 95%
};

struct Reading {
  double seconds{};  // the device's clock: the chip's own on a virtual device
  std::uint64_t dispatches{};
  Joules device;                   // the whole board or chip, as its sensor counts
  Joules interconnect;             // sum of the segments that have a figure
  std::array<Joules, 3> segments;  // by model::WireSegment
  KernelEnergies kernels;          // of the launches in between; empty if none is known
};

inline constexpr double kUnknownToggleRate = -1;

// A virtual chip rests for 30 readings before begin and after end, outside of the bracket: its
// clock stands still between launches, so that no reading would show the power at rest.
//
// On a real device a thread takes the sensor's readings between begin and end, so that a stretch
// may be of any length.
//
// Threading: one caller at a time. Finish the queue before begin and end.
class Bracket {
 public:
  // `device`: "virtual", the virtual GPU whose driver the OpenCL loader has brought into this
  // process; "gpu:N" or "pci:ADDRESS", a real one (measure/gpu_choice.hpp); empty: the virtual one
  // where its driver is loaded, else the first real one that this process may open. `model`:
  // model.json of a calibration, empty for the device's energy alone. A flagged model is refused,
  // or used with every figure's status misfit. Errors: not_found (no such device; the driver is not
  // loaded), invalid_argument (the model is of another architecture than the virtual chip), those
  // of choose_gpu(), of the sensor and of the model.
  static Result<std::unique_ptr<Bracket>> open(
      const std::string& device, const std::string& model,
      model::FlaggedModel flagged = model::FlaggedModel::refuse);
  virtual ~Bracket() = default;

  [[nodiscard]] virtual std::string device() const = 0;
  // Names what else the device's joules contain: the other die, other partitions, a processor.
  // Empty where the sensor measures the device alone.
  [[nodiscard]] virtual std::string measured_besides() const = 0;
  // The device whose sensor is read here and which reports the same joules; empty where the sensor
  // is this device's own.
  [[nodiscard]] virtual std::string sensor_of() const = 0;
  // Whether device or model is of a simulated chip, so that the joules of wires are no measurement.
  [[nodiscard]] virtual bool is_virtual() const = 0;

  // Error invalid_argument: begun already; errors of the device.
  virtual Status begin() = 0;
  // On real devices the program reports what it moved, from CUPTI, rocprofiler or arithmetic. It
  // goes before what CardCounts has of the card, where the program asked for that. `toggle_rate`
  // per payload bit, 0 to 1, or unknown_toggle_rate if the program does not know it: the interval
  // then spans what the data of applications do. Errors: invalid_argument (not begun; negative),
  // unsupported (a virtual device counts itself).
  virtual Status add_traffic(model::WireSegment segment, double bytes, double toggle_rate) = 0;
  // On real devices the program reports its launches, by the device's clock (steady_clock). Errors:
  // invalid_argument (not begun; a launch that ends before it begins, or that lies a second or more
  // outside of the stretch), unsupported (a virtual
  // device knows them).
  virtual Status add_launch(const std::string& kernel, std::int64_t start_ns,
                            std::int64_t end_ns) = 0;
  // How the power register responds, for devices without an energy counter. Without it, kernels
  // have no joules there, and the device's interval leaves out that the register lags.
  virtual void set_response(const measure::LaunchSensor& response) = 0;
  // Error invalid_argument: not begun; errors of the device.
  virtual Result<Reading> end() = 0;
};

}  // namespace ww::session
