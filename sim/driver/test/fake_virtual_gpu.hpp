// A virtual GPU for the API's tests: memory and time work, a launch calls a function of the test.
#pragma once

#include <functional>

#include "ww/sim/gpu/timing.hpp"
#include "ww/sim/gpu/virtual_gpu.hpp"

namespace ww::sim::driver::fake {

struct Launch {
  std::string kernel;
  gpu::Grid grid;
  std::vector<std::byte> kernarg;
  std::uint32_t dynamic_lds_bytes{};
};

struct Annotation {
  std::uint64_t address{};
  std::uint64_t bytes{};
  net::WordType type{};
  float threshold{};
};

struct State {
  std::vector<Launch> launches;
  // Runs instead of the kernel; an error fails the launch.
  std::function<Status(gpu::VirtualGpu&, const Launch&)> on_launch;
  std::vector<gpu::MemoryFinding> findings;  // of the last launch
  std::size_t live_allocations{};
  unsigned loaded_programs{};
  std::size_t host_writes{};
  std::vector<Annotation> annotations;
  gpu::TimingRequest timing;
  std::vector<ww_vgpu_sample> samples;  // what the sensor showed, by index
  std::vector<ww_vgpu_rail_sample> rail_samples;
};

// One chip a process, as in the driver.
State& state();

}  // namespace ww::sim::driver::fake
