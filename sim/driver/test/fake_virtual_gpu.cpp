#include "fake_virtual_gpu.hpp"

#include <cstring>
#include <map>

#include "ww/sim/gpu/chip_catalog.hpp"

namespace ww::sim::gpu {

class ChipBuilder {
 public:
  static Chip chip(const ChipRequest& request) {
    Chip chip;
    chip.architecture_.name = request.chip;
    chip.architecture_.memory_bytes = std::int64_t{1} << 30;
    chip.architecture_.dvfs = {{0.9, 500e6}, {1.1687, 930e6}};
    chip.architecture_.reference_state = 1;
    chip.request_ = request;
    chip.public_floorplan_ = "name = \"fake\"\n";
    return chip;
  }
};

Result<Chip> Chip::load(const ChipRequest& request) {
  if (request.chip == "unknown") return fail(ErrorCode::not_found, "no chip of this name");
  return ChipBuilder::chip(request);
}

std::vector<BuiltinChip> builtin_chips() {
  return {{"one", "the first"}, {"two", "the second"}};
}

Result<std::string> chip_sheet(const ChipRequest& request) {
  if (request.chip == "unknown") return fail(ErrorCode::not_found, "no chip of this name");
  return request.chip + " " + std::to_string(request.seed) + " " +
         std::string(to_string(request.chip_class));
}

struct VirtualGpu::Impl {
  explicit Impl(Chip c) : chip(std::move(c)) {}
  Chip chip;
  std::map<std::uint64_t, std::vector<std::byte>> memory;
  std::uint64_t next_address{0x10000};
  std::int64_t now{1000};
  ProgramId next_program{1};
  int dvfs{1};
  std::vector<Dispatch> dispatches;

  std::byte* find(std::uint64_t address, std::uint64_t bytes) {
    auto it = memory.upper_bound(address);
    if (it == memory.begin()) return nullptr;
    --it;
    const std::uint64_t offset = address - it->first;
    if (offset > it->second.size() || bytes > it->second.size() - offset) return nullptr;
    return it->second.data() + offset;
  }
};

VirtualGpu::VirtualGpu() = default;
VirtualGpu::~VirtualGpu() = default;

// NOLINTNEXTLINE(performance-unnecessary-value-param): as the class declares it
Result<std::unique_ptr<VirtualGpu>> VirtualGpu::create(Chip chip, Options) {
  std::unique_ptr<VirtualGpu> gpu(new VirtualGpu);
  gpu->impl_ = std::make_unique<Impl>(std::move(chip));
  return gpu;
}

const Chip& VirtualGpu::chip() const {
  return impl_->chip;
}

Result<std::uint64_t> VirtualGpu::allocate(std::uint64_t bytes, std::uint64_t) {
  const auto address = impl_->next_address;
  impl_->next_address += (bytes + 8191) / 4096 * 4096;
  impl_->memory[address].resize(bytes);
  ++driver::fake::state().live_allocations;
  return address;
}

void VirtualGpu::select_device(int) {}

Status VirtualGpu::move(std::uint64_t) {
  return {};
}

Status VirtualGpu::release(std::uint64_t address) {
  if (impl_->memory.erase(address) == 0) return fail(ErrorCode::out_of_range, "not allocated");
  --driver::fake::state().live_allocations;
  return {};
}

Status VirtualGpu::write(std::uint64_t address, std::span<const std::byte> data) {
  auto* place = impl_->find(address, data.size());
  if (place == nullptr) return fail(ErrorCode::out_of_range, "outside memory");
  std::memcpy(place, data.data(), data.size());
  return {};
}

Status VirtualGpu::read(std::uint64_t address, std::span<std::byte> data) const {
  const auto* place = impl_->find(address, data.size());
  if (place == nullptr) return fail(ErrorCode::out_of_range, "outside memory");
  std::memcpy(data.data(), place, data.size());
  return {};
}

Status VirtualGpu::fill(std::uint64_t address, std::uint64_t bytes,
                        std::span<const std::byte> pattern) {
  auto* place = impl_->find(address, bytes);
  if (place == nullptr) return fail(ErrorCode::out_of_range, "outside memory");
  for (std::uint64_t i = 0; i < bytes; ++i) place[i] = pattern[i % pattern.size()];
  return {};
}

Result<std::byte*> VirtualGpu::host_pointer(std::uint64_t address, std::uint64_t bytes) {
  auto* place = impl_->find(address, bytes);
  if (place == nullptr) return fail(ErrorCode::out_of_range, "outside memory");
  return place;
}

void VirtualGpu::host_wrote() {
  ++driver::fake::state().host_writes;
}

Status VirtualGpu::annotate(std::uint64_t address, std::uint64_t bytes, net::WordType type,
                            float threshold) {
  WW_ASSIGN(host, host_pointer(address, bytes));
  static_cast<void>(host);
  driver::fake::state().annotations.push_back({address, bytes, type, threshold});
  return {};
}
const TimingReport* VirtualGpu::timing_report() const {
  return nullptr;
}
std::string to_json_text(const TimingReport&) {
  return "{}";
}
Result<std::shared_ptr<const TimingConfig>> make_timing(const Architecture&,
                                                        const TimingRequest& request) {
  driver::fake::state().timing = request;
  return std::make_shared<const TimingConfig>();
}

Result<ProgramId> VirtualGpu::load(const binpatch::CodeObject&) {
  ++driver::fake::state().loaded_programs;
  return impl_->next_program++;
}

void VirtualGpu::unload(ProgramId) {
  --driver::fake::state().loaded_programs;
}

Result<LaunchResult> VirtualGpu::launch(ProgramId, const std::string& kernel, const Grid& grid,
                                        std::span<const std::byte> kernarg,
                                        std::uint32_t dynamic_lds_bytes) {
  auto& state = driver::fake::state();
  driver::fake::Launch launch{kernel, grid, {kernarg.begin(), kernarg.end()}, dynamic_lds_bytes};
  if (state.on_launch) WW_TRY(state.on_launch(*this, launch));
  state.launches.push_back(std::move(launch));
  const std::int64_t start = impl_->now + 10;
  impl_->now = start + 500;
  impl_->dispatches.push_back({kernel, start, impl_->now, false});
  return LaunchResult{impl_->dispatches.size() - 1, start, impl_->now, false};
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): declared so for the real one
void VirtualGpu::set_progress(std::function<void(const LaunchProgress&)>,
                              std::chrono::milliseconds) {}

const std::vector<MemoryFinding>& VirtualGpu::findings() const {
  return driver::fake::state().findings;
}

std::int64_t VirtualGpu::now_ns() const {
  return impl_->now;
}
void VirtualGpu::idle_until(std::int64_t time_ns) {
  impl_->now = std::max(impl_->now, time_ns);
}
void VirtualGpu::select_dvfs(int state) {
  impl_->dvfs = state;
}
int VirtualGpu::dvfs_state() const {
  return impl_->dvfs;
}
std::uint64_t VirtualGpu::samples_since(std::uint64_t first, std::span<ww_vgpu_sample> out) const {
  const auto& samples = driver::fake::state().samples;
  std::uint64_t count = 0;
  while (count < out.size() && first + count < samples.size()) {
    out[count] = samples[first + count];
    ++count;
  }
  return count;
}
std::span<const char* const> VirtualGpu::rail_names() const {
  static constexpr const char* kNames[] = {"socket_energy", "aid_energy"};
  return kNames;
}
std::uint64_t VirtualGpu::rails_since(std::uint64_t first,
                                      std::span<ww_vgpu_rail_sample> out) const {
  const auto& samples = driver::fake::state().rail_samples;
  std::uint64_t count = 0;
  while (count < out.size() && first + count < samples.size()) {
    out[count] = samples[first + count];
    ++count;
  }
  return count;
}
ww_vgpu_sensor_info VirtualGpu::sensor_info() const {
  ww_vgpu_sensor_info info{};
  info.period_ns = 1'000'000;
  return info;
}
const std::vector<std::string>& VirtualGpu::counter_names() const {
  static const std::vector<std::string> names{"SQ_WAVES", "TCC_HIT_sum"};
  return names;
}
std::uint64_t VirtualGpu::dispatch_count() const {
  return impl_->dispatches.size();
}
Result<VirtualGpu::Dispatch> VirtualGpu::dispatch(std::uint64_t id) const {
  if (id >= impl_->dispatches.size()) return fail(ErrorCode::out_of_range, "no such dispatch");
  return impl_->dispatches[id];
}
Status VirtualGpu::counters(std::uint64_t id, std::span<double> values) const {
  if (id >= impl_->dispatches.size()) return fail(ErrorCode::out_of_range, "no such dispatch");
  values[0] = 7;
  values[1] = 11;
  return {};
}
void VirtualGpu::repeat_launches(std::int64_t) {}
Result<LaunchActivity::Parts> VirtualGpu::sealed_energy_j(std::uint64_t id) const {
  if (id >= impl_->dispatches.size()) return fail(ErrorCode::out_of_range, "no such dispatch");
  return LaunchActivity::Parts{};
}
Result<LaunchActivity::Ways> VirtualGpu::sealed_ways_j(std::uint64_t id) const {
  if (id >= impl_->dispatches.size()) return fail(ErrorCode::out_of_range, "no such dispatch");
  return LaunchActivity::Ways{};
}

}  // namespace ww::sim::gpu

namespace ww::sim::driver::fake {

State& state() {
  static auto& state = *new State;
  return state;
}

}  // namespace ww::sim::driver::fake
