#include "ww/sim/gpu/virtual_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>

#include "machine/launch/virtual_gpu_impl.hpp"

namespace ww::sim::gpu {

namespace {

constexpr std::uint64_t kQueueBytes = 256;

DispatchShape dispatch_shape(const Grid& grid, const binpatch::KernelDescriptor& kernel,
                             std::uint32_t dynamic_lds_bytes, exec::Isa isa) {
  DispatchShape shape;
  shape.grid_size = std::uint64_t{grid.global[0]} * grid.global[1] * grid.global[2];
  shape.workgroup_size = grid.local[0] * grid.local[1] * grid.local[2];
  shape.lds_bytes = kernel.group_segment_fixed_size + dynamic_lds_bytes;
  shape.vgprs = allocated_vgprs(kernel, isa);
  shape.sgprs = ((kernel.compute_pgm_rsrc1 >> 6 & 15U) + 1) * 8;
  return shape;
}

template <class T>
void put(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The kernel's place in the program. Error not_found.
Result<std::size_t> kernel_of(const exec::Program& program, const std::string& name) {
  const auto found = program.find(name);
  if (!found) return fail(ErrorCode::not_found, "the program has no kernel " + name);
  return *found;
}

unsigned thread_count(const Options& options) {
  if (options.threads != 0) return options.threads;
  return std::clamp(std::thread::hardware_concurrency(), 1U, 2U);
}

// Adds the energy of timing mode's network to the launch, as the capacitance that takes as much at
// the reference voltage, in the middle of the die.
void add_network(LaunchActivity& activity, const power::EnergyReport& network,
                 const Architecture& architecture) {
  if (activity.capacitance_f.empty()) return;  // an observer that counts nothing
  const double volt =
      architecture.dvfs[static_cast<std::size_t>(architecture.reference_state)].voltage_v;
  const auto farad = [volt](Picojoule energy) {
    return energy.to<double>() * 1e-12 / (volt * volt);
  };
  const double total = farad(network.total());
  const double links = farad(network.link + network.bypass_link);
  activity.capacitance_f.back() += total;
  activity.parts_f.crossbar_wires += links;
  activity.parts_f.crossbar_arbiters += total - links;
}

std::uint64_t lines_of_l2(const Architecture& architecture) {
  return static_cast<std::uint64_t>(architecture.l2_bytes / architecture.line_bytes *
                                    architecture.dies);
}

}  // namespace

VirtualGpu::Impl::Impl(Chip chip_in, Options options_in,
                       std::unique_ptr<exec::DeviceMemory> memory_in,
                       std::unique_ptr<ActivityObserver> observer_in, const exec::Tricks& tricks_in,
                       std::optional<timing::System> system)
    : chip(std::move(chip_in)),
      options(std::move(options_in)),
      tricks(tricks_in),
      replaying(tricks.replay && options.trace == nullptr && !system),
      memory(std::move(memory_in)),
      observer(std::move(observer_in)),
      engine(chip, *memory, *observer,
             {.threads = thread_count(options),
              .tricks = tricks,
              .trace = options.trace,
              .cus_in_use = options.timing ? options.timing->cus_in_use : 0},
             hierarchy_for(std::move(system))),
      timeline(chip.power_side().make_timeline(chip, options.noise_seed)),
      replays(lines_of_l2(chip.architecture())) {
  memory->keep_released(options.checks.memory);
}

Result<const exec::Program*> VirtualGpu::Impl::find_program(ProgramId program) const {
  const auto found = programs.find(program);
  if (found == programs.end()) {
    return fail(ErrorCode::not_found, fmt::format("program {} is not loaded", program));
  }
  return found->second.get();
}

exec::Engine::MakeHierarchy VirtualGpu::Impl::hierarchy_for(std::optional<timing::System> system) {
  if (!system) return {};
  auto shared = std::make_shared<timing::System>(std::move(*system));
  return [this, shared](exec::DeferredObserver& deferred, exec::HostArena& arena) {
    auto made = std::make_unique<timing::TimedMemory>(chip, *memory, deferred, arena,
                                                      std::move(*shared), annotations);
    timed = made.get();
    return made;
  };
}

VirtualGpu::VirtualGpu() = default;
VirtualGpu::~VirtualGpu() {
  if (impl_) impl_->programs.clear();  // they give their memory back
}

Result<std::unique_ptr<VirtualGpu>> VirtualGpu::create(Chip chip, Options options) {
  return create(std::move(chip), std::move(options), nullptr);
}

Result<std::unique_ptr<VirtualGpu>> VirtualGpu::create(Chip chip, Options options,
                                                       std::unique_ptr<ActivityObserver> observer) {
  const exec::Tricks tricks = exec::Tricks::of(options.speed);
  return create(std::move(chip), std::move(options), tricks, std::move(observer));
}

Result<std::unique_ptr<VirtualGpu>> VirtualGpu::create(Chip chip, Options options,
                                                       const exec::Tricks& tricks,
                                                       std::unique_ptr<ActivityObserver> observer) {
  if (observer == nullptr) observer = chip.power_side().make_ledger(chip);
  const auto bytes = static_cast<std::uint64_t>(chip.architecture().memory_bytes);
  WW_ASSIGN(memory, exec::DeviceMemory::create(bytes, options.host_at_device_addresses,
                                               chip.architecture().memory_domains));
  std::optional<timing::System> system;
  if (options.timing) {
    WW_ASSIGN(made, timing::make_system(chip, *options.timing));
    system.emplace(std::move(made));
  }
  auto gpu = std::unique_ptr<VirtualGpu>(new VirtualGpu);
  try {
    gpu->impl_ = std::make_unique<Impl>(std::move(chip), std::move(options), std::move(memory),
                                        std::move(observer), tricks, std::move(system));
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::device_error, "no memory for the virtual GPU");
  }
  Impl& impl = *gpu->impl_;
  WW_ASSIGN(kernarg, impl.memory->allocate(kKernargBytes));
  WW_ASSIGN(packet, impl.memory->allocate(exec::kPacketBytes));
  WW_ASSIGN(queue, impl.memory->allocate(kQueueBytes));
  impl.kernarg_address = kernarg;
  impl.packet_address = packet;
  impl.queue_address = queue;
  // amd_queue_t: upper halves of the flat apertures.
  const std::uint32_t apertures[2] = {kFlatLdsApertureHigh, kFlatPrivateApertureHigh};
  std::memcpy(impl.memory->host(queue + 0x40), apertures, sizeof apertures);
  return gpu;
}

const Chip& VirtualGpu::chip() const {
  return impl_->chip;
}

// --- memory ---

Result<std::uint64_t> VirtualGpu::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  return impl_->memory->allocate(bytes, impl_->domain(), alignment);
}

Result<std::uint64_t> VirtualGpu::reserve(std::uint64_t bytes, std::uint64_t alignment,
                                          std::uint64_t wanted) {
  return impl_->memory->reserve(bytes, std::max(alignment, exec::kPageBytes), wanted);
}

Status VirtualGpu::release_reserved(std::uint64_t address) {
  return impl_->memory->release_reserved(address);
}

Status VirtualGpu::map(std::uint64_t address, std::uint64_t bytes, int file) {
  return impl_->memory->map(address, bytes, file, impl_->domain());
}

Status VirtualGpu::unmap(std::uint64_t address, std::uint64_t bytes) {
  impl_->annotations.forget(address, bytes);
  return impl_->memory->unmap(address, bytes);
}

void VirtualGpu::permit(std::uint64_t address, std::uint64_t bytes, bool permitted) {
  impl_->memory->permit(address, bytes, permitted);
}

void VirtualGpu::select_device(int device) {
  impl_->device = device;
}

int VirtualGpu::selected_device() const {
  return impl_->device;
}

Status VirtualGpu::move(std::uint64_t address) {
  const Architecture& architecture = chip().architecture();
  if (architecture.memory_domains == 1) return {};
  return impl_->memory->move(address, architecture.domain_of_device(impl_->device));
}

Status VirtualGpu::release(std::uint64_t address) {
  const std::uint64_t bytes = impl_->memory->neighbour(address).bytes;
  WW_TRY(impl_->memory->release(address));
  impl_->annotations.forget(address, bytes);
  return {};
}

Status VirtualGpu::annotate(std::uint64_t address, std::uint64_t bytes, net::WordType type,
                            float threshold) {
  WW_ASSIGN(host, host_pointer(address, bytes));
  static_cast<void>(host);
  // A line that other data share must not change.
  const std::uint64_t end = address + bytes;
  const std::uint64_t shared =
      end % exec::kLineBytes != 0 && impl_->memory->contains(end, 1) ? end % exec::kLineBytes : 0;
  if (bytes > shared) impl_->annotations.set(address, bytes - shared, {type, threshold});
  return {};
}

const TimingReport* VirtualGpu::timing_report() const {
  return impl_->timed == nullptr ? nullptr : &impl_->timed->report();
}

Status VirtualGpu::write(std::uint64_t address, std::span<const std::byte> data) {
  if (data.empty()) return {};
  WW_ASSIGN(host, host_pointer(address, data.size()));
  static_cast<void>(host);
  impl_->memory->replace(address, data.data(), data.size());
  return {};
}

Status VirtualGpu::read(std::uint64_t address, std::span<std::byte> data) const {
  if (data.empty()) return {};
  if (!impl_->memory->contains(address, data.size())) {
    return fail(
        ErrorCode::out_of_range,
        fmt::format("{} bytes at {:#x} are not inside one allocation", data.size(), address));
  }
  impl_->memory->read(address, data);
  return {};
}

Status VirtualGpu::fill(std::uint64_t address, std::uint64_t bytes,
                        std::span<const std::byte> pattern) {
  if (bytes == 0) return {};
  if (pattern.empty() || bytes % pattern.size() != 0) {
    return fail(ErrorCode::invalid_argument, "a fill must be a multiple of its pattern");
  }
  WW_TRY(host_pointer(address, bytes));
  impl_->memory->fill(address, bytes, pattern);
  return {};
}

Result<std::byte*> VirtualGpu::host_pointer(std::uint64_t address, std::uint64_t bytes) {
  if (!impl_->memory->contains(address, bytes)) {
    return fail(ErrorCode::out_of_range,
                fmt::format("{} bytes at {:#x} are not inside one allocation", bytes, address));
  }
  return impl_->memory->host(address);
}

void VirtualGpu::host_wrote() {
  impl_->memory->touch();
}

void VirtualGpu::host_may_write() {
  impl_->host_may_write = true;
}

void VirtualGpu::set_stack_limit(std::uint32_t bytes) {
  impl_->stack_limit = bytes;
}

bool VirtualGpu::is_device_address(std::uint64_t address) const {
  return address >= kDeviceBase && address < impl_->memory->limit();
}

bool VirtualGpu::host_at_device_addresses() const {
  return impl_->memory->at_device_addresses();
}

// --- programs ---

Result<ProgramId> VirtualGpu::load(const binpatch::CodeObject& object) {
  const Architecture& architecture = chip().architecture();
  WW_ASSIGN(program,
            exec::Program::load(object, architecture.gfx_target, *impl_->memory,
                                impl_->tricks.translate_after, architecture.f64_rate_divisor));
  const ProgramId id = impl_->next_program++;
  impl_->programs[id] = std::move(program);
  return id;
}

void VirtualGpu::unload(ProgramId program) {
  impl_->programs.erase(program);
  impl_->replays.forget_program(program);
}

Result<std::uint64_t> VirtualGpu::device_address(ProgramId program, std::uint64_t address) const {
  WW_ASSIGN(found, impl_->find_program(program));
  return found->device_address(address);
}

Result<std::uint32_t> VirtualGpu::groups_per_cu(ProgramId program_id, const std::string& kernel,
                                                const std::array<std::uint32_t, 3>& local,
                                                std::uint32_t dynamic_lds_bytes) {
  WW_ASSIGN(program, impl_->find_program(program_id));
  WW_ASSIGN(index, kernel_of(*program, kernel));
  const Grid one_group{3, local, local};
  WW_TRY(check_grid(one_group));
  WW_ASSIGN(state, impl_->prepare(*program, index, one_group, {}, dynamic_lds_bytes));
  const Architecture& architecture = chip().architecture();
  const auto waves = static_cast<std::uint32_t>(architecture.simds_per_cu * state.waves_per_simd);
  std::uint32_t groups = waves / state.waves_per_group;
  if (state.lds_allocated != 0) {
    groups = std::min(
        groups, static_cast<std::uint32_t>(architecture.lds_bytes_per_cu) / state.lds_allocated);
  }
  return groups;
}

// --- launches ---

Result<LaunchResult> VirtualGpu::launch(ProgramId program_id, const std::string& kernel_name,
                                        const Grid& grid, std::span<const std::byte> kernarg,
                                        std::uint32_t dynamic_lds_bytes) {
  Impl& impl = *impl_;
  WW_ASSIGN(found, impl.find_program(program_id));
  const exec::Program& program = *found;
  WW_ASSIGN(kernel_index, kernel_of(program, kernel_name));
  impl.write_key(program_id, kernel_index, grid, kernarg, dynamic_lds_bytes);
  impl.findings.clear();
  DispatchRecord dispatch{};
  if (!impl.find_replay(dispatch)) {
    WW_TRY(impl.execute(program, kernel_index, grid, kernarg, dynamic_lds_bytes, dispatch));
  }
  dispatch.kernel = impl.kernel_number(kernel_name);
  const binpatch::Kernel& kernel = program.kernels()[kernel_index];
  DispatchShape shape = dispatch_shape(grid, kernel.descriptor, dynamic_lds_bytes, program.isa());
  shape.scratch_bytes = impl.private_bytes(kernel);
  dispatch.shape = impl.shape_number(shape);
  return impl.schedule(std::move(dispatch));
}

void VirtualGpu::Impl::write_key(ProgramId program, std::size_t kernel, const Grid& grid,
                                 std::span<const std::byte> kernarg,
                                 std::uint32_t dynamic_lds_bytes) {
  key.clear();
  put(key, exec::ReplayBook::Number{program});
  put(key, static_cast<exec::ReplayBook::Number>(kernel));
  put(key, device);
  put(key, grid.dimensions);
  put(key, grid.global);
  put(key, grid.local);
  put(key, grid.cooperative);
  put(key, grid.cu_mask.size());
  for (const std::uint32_t word : grid.cu_mask) put(key, word);
  put(key, dynamic_lds_bytes);
  put(key, stack_limit);
  key.append(reinterpret_cast<const char*>(kernarg.data()), kernarg.size());
}

bool VirtualGpu::Impl::find_replay(DispatchRecord& dispatch) {
  if (!replaying || !replays.may_find(key, memory->version().value())) {
    return false;
  }
  if (l2_state == nullptr) {
    l2_state = replays.share(engine.state());
  }
  const exec::LaunchRecord* record =
      replays.find(key, memory->version().value(), *l2_state, engine.behind_hash());
  if (record == nullptr) {
    return false;
  }
  if (host_may_write && !finds_its_contents(*record)) {
    memory->touch();  // no record for these contents fits any more
    return false;
  }
  replays.replayed(key);
  dispatch.counters = record->counters;
  dispatch.replayed = true;
  activity = record->activity;
  l2_behind = l2_behind || l2_state != record->l2_after;
  l2_state = record->l2_after;
  if (record->changes != nullptr) {
    for (const auto& [address, bytes] : record->changes->lines) {
      std::memcpy(memory->host(address), bytes.data(), bytes.size());
    }
    memory->version().set(record->changes->version_after);
  }
  return true;
}

bool VirtualGpu::Impl::finds_its_contents(const exec::LaunchRecord& record) const {
  return record.used != nullptr && exec::sum_of(*memory, record.used->pages) == record.used->sum;
}

// All changes of the launch that has ended are followed, and are on pages that it used. If the
// pages differ in anything else from before, the host wrote them meanwhile, and the launch may have
// seen the one or the other.
std::shared_ptr<const exec::UsedContents> VirtualGpu::Impl::used_contents(
    std::uint64_t version_before) const {
  // Data that the device itself writes for every launch is in the key, or gone when it ends.
  const auto is_own = [this](std::uint64_t page) {
    const auto inside = [page](std::uint64_t address, std::uint64_t bytes) {
      return page - address < bytes;
    };
    return inside(kernarg_address, kKernargBytes) || inside(packet_address, exec::kPacketBytes) ||
           inside(scratch_address, scratch_bytes);
  };
  exec::UsedContents used;
  for (const exec::UsedPages::Page& page : memory->used_pages().pages()) {
    const std::uint64_t address = kDeviceBase + std::uint64_t{page.number} * exec::kPageBytes;
    if (is_own(address)) continue;
    used.pages.push_back(address);
    used.sum += page.sum;
  }
  const std::uint64_t changes = memory->version().value() - version_before;
  if (exec::sum_of(*memory, used.pages) != used.sum + changes) return nullptr;
  return std::make_shared<const exec::UsedContents>(std::move(used));
}

Status VirtualGpu::Impl::execute(const exec::Program& program, std::size_t kernel, const Grid& grid,
                                 std::span<const std::byte> kernarg,
                                 std::uint32_t dynamic_lds_bytes, DispatchRecord& dispatch) {
  WW_TRY(check_grid(grid));
  WW_ASSIGN(state, prepare(program, kernel, grid, kernarg, dynamic_lds_bytes));
  if (!kernarg.empty()) {
    std::memcpy(memory->host(kernarg_address), kernarg.data(), kernarg.size());
  }
  if (const auto at = program.queue_argument(kernel); at && *at + 8 <= kernarg.size()) {
    std::memcpy(memory->host(kernarg_address + *at), &queue_address, sizeof queue_address);
  }
  write_packet(state, grid, program.kernels()[kernel], program);
  if (l2_behind) {
    engine.l2().restore(*l2_state);
    l2_behind = false;
  }
  std::shared_ptr<const exec::L2Snapshot> l2_before = std::move(l2_state);
  l2_state = nullptr;
  using Worth = exec::ReplayBook::Worth;
  const Worth worth = replaying ? replays.worth_of_a_record(key) : Worth::none;
  const bool recording = worth != Worth::none;
  const bool one_die = chip.architecture().dies == 1;
  if (recording && l2_before == nullptr && !one_die) l2_before = replays.share(engine.state());
  engine.l2().keep_begin(recording && l2_before == nullptr);
  const std::uint64_t behind = recording ? engine.behind_hash() : 0;
  const std::uint64_t version = memory->version().value();
  memory->version().begin_launch(recording);
  memory->used_pages().begin_launch(recording && host_may_write, memory->pages());
  WW_ASSIGN(executed, execute(state));
  const bool was_long = replaying && replays.executed(key, executed.instructions);
  dispatch.counters = std::make_shared<const exec::CounterValues>(executed.counters);
  if (timed != nullptr) {
    add_network(executed.activity, timed->report().dispatches.back().stats.energy,
                chip.architecture());
  }
  activity = std::make_shared<const LaunchActivity>(std::move(executed.activity));
  const bool keeping = worth == Worth::always || (worth == Worth::if_long && was_long);
  if (keeping && !executed.clock_read && findings.empty() && !memory->version().lost()) {
    if (l2_before == nullptr) {
      l2_before = replays.share(engine.l2().snapshot_at_begin());
    }
    l2_state = replays.share(engine.state());
    // The caches of several dies cannot be restored: what is replayed there left them as they were.
    if (!one_die && l2_before != l2_state) return {};
    if (engine.behind_hash() != behind) return {};
    auto uniform = one_die ? exec::uniform_use(executed.memory, *l2_before, *l2_state,
                                               engine.l2().lines_used())
                           : nullptr;
    std::shared_ptr<const exec::UsedContents> used;
    if (host_may_write) {
      used = used_contents(version);
      if (used == nullptr) return {};
    }
    const bool went_behind =
        executed.memory.memory_read_halves + executed.memory.memory_writes != 0;
    replays.add(key, {version, l2_before->hash, went_behind ? std::optional(behind) : std::nullopt,
                      l2_state, std::move(uniform), exec::memory_changes(*memory), std::move(used),
                      dispatch.counters, activity});
  }
  return {};
}

Result<exec::ExecutedLaunch> VirtualGpu::Impl::execute(const exec::LaunchState& state) {
  const exec::Watchdog watchdog{options.watchdog_cycles, options.watchdog_instructions};
  auto executed = engine.run(state, watchdog);
  findings = engine.findings();
  return executed;
}

LaunchResult VirtualGpu::Impl::schedule(DispatchRecord dispatch) {
  timeline->idle_until(timeline->now_ns() + chip.architecture().launch_overhead_ns);
  dispatch.start_ns = timeline->now_ns();
  timeline->run(*activity);
  dispatch.end_ns = timeline->now_ns();
  if (options.keep_energies) {
    dispatch.activity = activity;
  }
  LaunchResult result;
  result.dispatch = dispatch_count();
  result.start_ns = dispatch.start_ns;
  result.end_ns = dispatch.end_ns;
  result.replayed = dispatch.replayed;
  remember(std::move(dispatch));
  return result;
}

std::uint32_t VirtualGpu::Impl::kernel_number(const std::string& name) {
  // Most often the same kernel again.
  if (!dispatches.empty() && kernel_names[dispatches.back().kernel] == name) {
    return dispatches.back().kernel;
  }
  auto place = std::find(kernel_names.begin(), kernel_names.end(), name);
  if (place == kernel_names.end()) {
    place = kernel_names.insert(place, name);
  }
  return static_cast<std::uint32_t>(place - kernel_names.begin());
}

std::uint32_t VirtualGpu::Impl::shape_number(const DispatchShape& shape) {
  const auto [place, is_new] =
      shape_index.try_emplace(shape, static_cast<std::uint32_t>(shapes.size()));
  if (is_new) {
    shapes.push_back(shape);
  }
  return place->second;
}

// --- time, sensor, counters ---

std::int64_t VirtualGpu::now_ns() const {
  return impl_->timeline->now_ns();
}
void VirtualGpu::idle_until(std::int64_t time_ns) {
  impl_->timeline->idle_until(time_ns);
}
void VirtualGpu::select_dvfs(int state) {
  impl_->timeline->select_dvfs(state);
}
int VirtualGpu::dvfs_state() const {
  return impl_->timeline->dvfs_state();
}
std::uint64_t VirtualGpu::samples_since(std::uint64_t first, std::span<ww_vgpu_sample> out) const {
  return impl_->timeline->samples_since(first, out);
}
ww_vgpu_sensor_info VirtualGpu::sensor_info() const {
  return impl_->timeline->sensor_info();
}
std::span<const char* const> VirtualGpu::rail_names() const {
  return impl_->timeline->rail_names();
}
std::uint64_t VirtualGpu::rails_since(std::uint64_t first,
                                      std::span<ww_vgpu_rail_sample> out) const {
  return impl_->timeline->rails_since(first, out);
}

const std::vector<std::string>& VirtualGpu::counter_names() const {
  return exec::counter_names(impl_->chip.architecture());
}

void VirtualGpu::Impl::remember(DispatchRecord dispatch) {
  dispatches.push_back(std::move(dispatch));
  if (options.most_dispatches == 0 || dispatches.size() <= options.most_dispatches) return;
  // Their counters stay: a plateau of minutes is more launches than are kept.
  auto& counters = dispatches.front().counters;
  if (past_counters.empty() || past_counters.back().counters != counters) {
    past_counters.push_back({forgotten, std::move(counters)});
  }
  dispatches.pop_front();
  ++forgotten;
}

Result<const exec::CounterValues*> VirtualGpu::Impl::find_counters(std::uint64_t id) const {
  if (id >= forgotten || id >= dispatch_count()) {
    WW_ASSIGN(record, find_dispatch(id));
    return record->counters.get();
  }
  const auto after = std::ranges::upper_bound(past_counters, id, {}, &PastCounters::first);
  return std::prev(after)->counters.get();
}

Result<const DispatchRecord*> VirtualGpu::Impl::find_dispatch(std::uint64_t id) const {
  if (id >= dispatch_count()) {
    return fail(ErrorCode::out_of_range, fmt::format("there is no dispatch {}", id));
  }
  if (id < forgotten) {
    return fail(ErrorCode::out_of_range,
                fmt::format("dispatch {} is forgotten: the latest {} are kept", id,
                            options.most_dispatches));
  }
  return &dispatches[id - forgotten];
}

std::uint64_t VirtualGpu::dispatch_count() const {
  return impl_->dispatch_count();
}

Result<VirtualGpu::Dispatch> VirtualGpu::dispatch(std::uint64_t id) const {
  WW_ASSIGN(record, impl_->find_dispatch(id));
  const DispatchShape& shape = impl_->shapes[record->shape];
  return Dispatch{impl_->kernel_names[record->kernel],
                  record->start_ns,
                  record->end_ns,
                  record->replayed,
                  shape.grid_size,
                  shape.workgroup_size,
                  shape.lds_bytes,
                  shape.scratch_bytes,
                  shape.vgprs,
                  shape.sgprs};
}

Status VirtualGpu::counters(std::uint64_t id, std::span<double> values) const {
  WW_ASSIGN(source, impl_->find_counters(id));
  std::copy_n(source->begin(), std::min(values.size(), source->size()), values.begin());
  return {};
}

void VirtualGpu::repeat_launches(std::int64_t times) {
  PowerTimeline& timeline = *impl_->timeline;
  for (std::int64_t i = 0; i < times; ++i) {
    for (const DispatchRecord& dispatch : impl_->dispatches) {
      timeline.idle_until(timeline.now_ns() + impl_->chip.architecture().launch_overhead_ns);
      if (dispatch.activity != nullptr) timeline.run(*dispatch.activity);
    }
  }
}

Result<LaunchActivity::Parts> VirtualGpu::sealed_energy_j(std::uint64_t id) const {
  WW_ASSIGN(record, impl_->find_dispatch(id));
  if (record->activity == nullptr) {
    return fail(ErrorCode::not_found, "this virtual GPU does not keep energies");
  }
  LaunchActivity::Parts parts = record->activity->parts_f;
  const Architecture& architecture = impl_->chip.architecture();
  const double volt =
      architecture.dvfs[static_cast<std::size_t>(architecture.reference_state)].voltage_v;
  for (double* part :
       {&parts.crossbar_wires, &parts.crossbar_control, &parts.registers_l1, &parts.l2_memory,
        &parts.caches, &parts.alu, &parts.clock, &parts.crossbar_arbiters}) {
    *part *= volt * volt;
  }
  return parts;
}

Result<LaunchActivity::Ways> VirtualGpu::sealed_ways_j(std::uint64_t id) const {
  WW_ASSIGN(record, impl_->find_dispatch(id));
  if (record->activity == nullptr) {
    return fail(ErrorCode::not_found, "this virtual GPU does not keep energies");
  }
  return record->activity->ways_j;
}

void VirtualGpu::set_host_service(std::function<void()> service) {
  impl_->engine.set_host_service(std::move(service));
}

void VirtualGpu::set_progress(std::function<void(const LaunchProgress&)> tell,
                              std::chrono::milliseconds between) {
  impl_->engine.set_progress(std::move(tell), between);
}

const std::vector<MemoryFinding>& VirtualGpu::findings() const {
  return impl_->findings;
}

const LaunchActivity& VirtualGpu::last_activity() const {
  return *impl_->activity;
}

}  // namespace ww::sim::gpu
