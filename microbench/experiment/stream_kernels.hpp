// The microbenchmarks on one device: kernels built, patched and loaded, buffers filled, launches.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "experiment/plan.hpp"
#include "host/pinning.hpp"
#include "ww/core/campaign_store.hpp"
#include "ww/core/result.hpp"
#include "ww/kernels/patterns.hpp"

namespace ww::microbench {

// Names a streaming launch; loop count and throttle follow from the rate (PlanInputs::Tuning).
struct Stream {
  int engine{};
  int quadrant{};
  kernels::Pattern pattern{kernels::Pattern::random};
  Rate rate{Rate::saturated};
  auto operator<=>(const Stream&) const = default;
};

// Who worked, by the wavefronts' own log.
struct WaveReport {
  std::vector<StoredWaves> working;  // hardware ids on the wanted engine
  std::uint64_t working_waves{};
  int working_cus{};
};

class StreamKernels {
 public:
  // Builds, patches (unless `patch` is false) and loads. `seed` draws the random data. The device
  // must outlive the bench. Errors of host and pinning.
  static Result<std::unique_ptr<StreamKernels>> create(Device& device, const Pinning& pinning,
                                                       bool patch, std::uint64_t seed,
                                                       kernels::Wait wait = kernels::Wait::sleep);

  // Sets the arguments of the streaming kernel that differ from the last call's.
  Status select(const Stream& stream, std::uint32_t loops, std::uint32_t throttle);
  Status launch_stream() { return stream_kernel_->launch(stream_groups_, group_size); }
  // One launch alone, timed by the device's events [s].
  Result<double> time_stream() { return stream_kernel_->time_launch(stream_groups_, group_size); }
  Result<double> time_furnace(std::uint32_t loops);
  // Devices without counters of each launch: whether working wavefronts count themselves in the
  // launches that follow, and how many did since the last call (waits for the queue).
  Status count_waves(bool on);
  Result<double> counted_waves();
  Status launch_furnace(std::uint32_t loops);
  // Puts the L2 into one and the same state, whatever ran before.
  Status launch_sweep() { return sweep_kernel_->launch(1, wave_size); }

  // Reads what a stream's wavefronts logged since the bench was made (each stream has its own log).
  // Errors bad_data: the binary is not patched (wavefronts report work-group numbers), wavefronts
  // that did not report, places off the chip.
  [[nodiscard]] Result<WaveReport> read_log(const Stream& stream) const;

  // Bytes of lists that `waves` working wavefronts read in one launch, beside their payload.
  [[nodiscard]] double list_bytes(double waves) const;
  // Bytes of the places that all wavefronts of a launch log: a line each. Launches by lists are
  // short, so that they would be half a percent of the payload.
  [[nodiscard]] double log_bytes() const;
  // Payload bytes that one working wavefront loads in one launch.
  [[nodiscard]] static double bytes_per_wave(std::uint32_t loops);
  // Most bytes a second that the quadrant's channels can send at a clock.
  [[nodiscard]] double peak_bytes_per_second(int quadrant, double clock_hz) const;
  // Hash of the loaded streaming binary.
  [[nodiscard]] const std::string& stream_hash() const { return stream_hash_; }

  // Copies a known number of bytes once; gives bytes read plus written. Error bad_data when the
  // copy is not what it should be.
  Result<double> run_known_bytes();

  static constexpr std::size_t group_size = 256;
  static constexpr std::size_t wave_size = 64;
  static constexpr unsigned unroll = 4;
  static constexpr std::size_t groups_per_cu = 4;

 private:
  StreamKernels(Device& device, const Pinning& pinning) : device_(device), pinning_(pinning) {}
  [[nodiscard]] std::size_t waves() const { return stream_groups_ * (group_size / wave_size); }
  [[nodiscard]] std::size_t log_index(const Stream& stream) const;
  // Argument that names the quadrant's lines: its channels, or where its list begins.
  [[nodiscard]] Result<std::uint64_t> lines_argument(const Stream& stream) const;
  Result<DeviceBuffer*> data(kernels::Pattern pattern);
  // Devices with homes: the lists of all patterns and quadrants, and each pattern's data.
  Status make_lists();
  [[nodiscard]] std::size_t list_entries() const;
  [[nodiscard]] std::size_t run_bytes() const;
  Status set_furnace(std::uint32_t loops);

  Device& device_;
  const Pinning& pinning_;
  std::uint64_t seed_{};
  std::size_t stream_groups_{};
  unsigned stripes_{};
  std::string stream_hash_;
  std::string known_bytes_text_;
  // Kernels are destroyed before the buffers that their arguments name.
  std::map<kernels::Pattern, std::unique_ptr<DeviceBuffer>> data_;
  std::unique_ptr<DeviceBuffer> log_;
  std::unique_ptr<DeviceBuffer> output_;
  std::unique_ptr<DeviceBuffer> working_;  // counted wavefronts; null where counters count
  std::unique_ptr<DeviceBuffer> lists_;    // [pattern][quadrant][entry]; null without homes
  std::unique_ptr<DeviceBuffer> sweep_data_;
  std::unique_ptr<LoadedKernel> sweep_kernel_;
  std::unique_ptr<LoadedKernel> stream_kernel_;
  std::unique_ptr<LoadedKernel> furnace_kernel_;
  struct Selected {
    Stream stream;
    std::uint32_t loops{}, throttle{};
  };
  std::optional<Selected> selected_;
  std::optional<std::uint32_t> furnace_loops_;
};

}  // namespace ww::microbench
