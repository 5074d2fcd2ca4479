// Sets up what the hardware and the kernel are given when a launch begins: private memory,
// registers' first values, the dispatch packet.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "fast/forms/first_writes.hpp"
#include "fast/forms/lane_forms.hpp"
#include "machine/dispatch/cu_mask.hpp"
#include "machine/launch/virtual_gpu_impl.hpp"
#include "ww/sim/gpu/timing.hpp"

namespace ww::sim::gpu {

// Vector registers of a wave come in fours, on CDNA 2 and 3 and in waves of 32 in eights.
std::uint32_t allocated_vgprs(const binpatch::KernelDescriptor& kernel, exec::Isa isa) {
  return ((kernel.compute_pgm_rsrc1 & 63U) + 1) *
         (exec::has_unified_registers(isa) || exec::wave_lanes(kernel, isa) == 32 ? 8 : 4);
}

std::uint32_t VirtualGpu::Impl::private_bytes(const binpatch::Kernel& kernel) const {
  const std::uint32_t declared = kernel.descriptor.private_segment_fixed_size;
  return kernel.uses_dynamic_stack ? std::max(declared, stack_limit) : declared;
}

// A register of 32 bits has the place where a wave's part of the device's private memory begins
// (LLVM, "User Guide for AMDGPU Backend", scratch wavefront offset), except on instruction sets
// that give it an address. Where the parts of all waves take more, fewer run at a time.
Status VirtualGpu::Impl::limit_waves(exec::LaunchState& state) const {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 32;
  const Architecture& architecture = chip.architecture();
  state.scratch_slots = exec::ComputeUnit::kSlots;
  if (state.scratch_per_lane == 0 || exec::has_architected_scratch(state.isa)) return {};
  const auto places = static_cast<std::uint64_t>(architecture.cu_places() / architecture.devices);
  const std::uint64_t slots =
      kMaxBytes / (places * state.wave_lanes * state.scratch_per_lane) / 4 * 4;
  if (slots >= exec::ComputeUnit::kSlots) return {};
  state.scratch_slots = static_cast<std::uint32_t>(slots);
  state.waves_per_simd = std::min(state.waves_per_simd, static_cast<int>(slots / 4));
  if (state.waves_per_group <= slots) return {};
  return fail(ErrorCode::out_of_range,
              fmt::format("a work-group of {} work-items with {} bytes of private memory each does "
                          "not fit into a compute unit",
                          state.group_size, state.scratch_per_lane),
              state.kernel);
}

Status VirtualGpu::Impl::provide_scratch(exec::LaunchState& state) {
  const Architecture& architecture = chip.architecture();
  const auto slots = static_cast<std::uint64_t>(architecture.cu_places()) * state.scratch_slots;
  const std::uint64_t need = slots * state.wave_lanes * state.scratch_per_lane;
  WW_TRY(provide_scratch(need, state));
  const std::uint64_t before = need / static_cast<std::uint64_t>(architecture.devices) *
                               static_cast<std::uint64_t>(state.device);
  state.scratch = scratch_address + before;
  state.scratch_bytes = scratch_bytes - before;
  return {};
}

Status VirtualGpu::Impl::provide_scratch(std::uint64_t need, const exec::LaunchState& state) {
  if (need <= scratch_bytes) return {};
  if (scratch_address != 0) {
    WW_TRY(memory->release(scratch_address));
    scratch_address = 0;
    scratch_bytes = 0;
  }
  // Many a kernel that has room for a large array in private memory uses little of it.
  constexpr std::uint64_t kLargePart = exec::kHugePage / 4;
  const std::uint64_t part = std::uint64_t{state.wave_lanes} * state.scratch_per_lane;
  using exec::DeviceMemory;
  auto address =
      memory->allocate(need, DeviceMemory::kNowhere, exec::kPageBytes,
                       part < kLargePart ? DeviceMemory::Use::whole : DeviceMemory::Use::scattered);
  if (!address) {
    return fail(
        ErrorCode::out_of_range,
        fmt::format("no room for {} bytes of private memory a work-item", state.scratch_per_lane));
  }
  scratch_address = *address;
  scratch_bytes = need;
  engine.set_private_memory(scratch_address, scratch_address + scratch_bytes);
  return {};
}

namespace {

std::uint32_t groups_along(const Grid& grid, std::size_t axis) {
  return grid.global[axis] / grid.local[axis] + (grid.global[axis] % grid.local[axis] != 0 ? 1 : 0);
}

}  // namespace

Status check_grid(const Grid& grid) {
  using Wide = unsigned __int128;  // any product of three extents
  Wide size = 1;
  Wide groups = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (grid.local[axis] == 0 || grid.global[axis] == 0) {
      return fail(ErrorCode::out_of_range,
                  fmt::format("a range of {} work-items in groups of {} in dimension {}",
                              grid.global[axis], grid.local[axis], axis));
    }
    size *= grid.local[axis];
    groups *= groups_along(grid, axis);
  }
  if (grid.dimensions < 1 || grid.dimensions > 3 || size > 1024) {
    return fail(
        ErrorCode::out_of_range,
        fmt::format("a work-group of {} x {} x {} work-items is too large; 1024 is the most",
                    grid.local[0], grid.local[1], grid.local[2]));
  }
  if (groups > UINT64_MAX) {
    return fail(ErrorCode::out_of_range,
                fmt::format("a range of {} x {} x {} has more work-groups than 64 bits count",
                            grid.global[0], grid.global[1], grid.global[2]));
  }
  return {};
}

namespace {

// Returns the shape of a group of these extents.
exec::GroupShape shape_of(const exec::LaunchState& state,
                          const std::array<std::uint32_t, 3>& local) {
  exec::GroupShape shape{local, local[0] * local[1] * local[2], 0, {}, {}};
  shape.waves = (shape.size + state.wave_lanes - 1) / state.wave_lanes;
  // Ten bits for each axis, in one register.
  const bool packed = exec::has_packed_ids(state.isa);
  shape.work_item_ids.assign(std::size_t{shape.waves} * state.id_axes * exec::kLanes, 0);
  std::array<std::uint32_t, 3> id{};
  std::size_t wave = 0;
  std::size_t lane = 0;
  for (std::uint32_t flat = 0; flat < shape.size; ++flat) {
    if (packed) {
      shape.work_item_ids[wave * exec::kLanes + lane] = id[0] | id[1] << 10 | id[2] << 20;
    } else {
      for (std::uint32_t axis = 0; axis < state.id_axes; ++axis) {
        shape.work_item_ids[(wave * state.id_axes + axis) * exec::kLanes + lane] = id[axis];
      }
    }
    if (++lane == state.wave_lanes) {
      lane = 0;
      ++wave;
    }
    if (++id[0] == local[0]) {
      id[0] = 0;
      if (++id[1] == local[1]) {
        id[1] = 0;
        ++id[2];
      }
    }
  }
  for (std::size_t at = 0; at < shape.work_item_ids.size(); at += exec::kLanes) {
    shape.id_forms.push_back(exec::form_of(&shape.work_item_ids[at]));
  }
  return shape;
}

void make_shapes(exec::LaunchState& state, const Grid& grid) {
  const std::uint32_t asked = state.rsrc2 >> 11 & 3U;
  state.id_axes = exec::has_packed_ids(state.isa) ? 1 : std::min(asked, 2U) + 1;
  unsigned uneven = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    state.last[axis] = grid.global[axis] % grid.local[axis];
    if (state.last[axis] != 0) uneven |= 1U << axis;
  }
  state.shapes.assign(uneven == 0 ? 1 : 8, {});
  for (unsigned axes = 0; axes < state.shapes.size(); ++axes) {
    if ((axes & ~uneven) != 0) continue;
    std::array<std::uint32_t, 3> local = state.local;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if ((axes >> axis & 1U) != 0) local[axis] = state.last[axis];
    }
    state.shapes[axes] = shape_of(state, local);
  }
}

}  // namespace

Result<exec::LaunchState> VirtualGpu::Impl::prepare(const exec::Program& program,
                                                    std::size_t kernel_index, const Grid& grid,
                                                    std::span<const std::byte> kernarg,
                                                    std::uint32_t dynamic_lds_bytes) {
  const binpatch::Kernel& kernel = program.kernels()[kernel_index];
  const binpatch::KernelDescriptor& descriptor = kernel.descriptor;
  const Architecture& architecture = chip.architecture();
  exec::LaunchState state;
  state.device = device;
  state.kernel = kernel.name;
  const exec::LoweredCode& code = program.code_of(kernel);
  state.code = code.ops.data();
  state.code_dwords = static_cast<std::uint32_t>(code.ops.size());
  if (tricks.run_ahead) state.straight = &code.straight_lines;
  if (tricks.run_ahead && tricks.translate) state.translations = code.translations.get();
  state.code_address = program.code_address();
  state.entry = static_cast<std::uint32_t>(
      (program.device_address(kernel.entry_address) - state.code_address) / 4);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    state.groups[axis] = groups_along(grid, axis);
    state.local[axis] = grid.local[axis];
  }
  state.group_size = grid.local[0] * grid.local[1] * grid.local[2];
  state.wave_lanes = exec::wave_lanes(descriptor, program.isa());
  state.waves_per_group = (state.group_size + state.wave_lanes - 1) / state.wave_lanes;
  state.rsrc1 = descriptor.compute_pgm_rsrc1;
  state.rsrc2 = descriptor.compute_pgm_rsrc2;
  state.code_properties = descriptor.kernel_code_properties;
  state.isa = program.isa();
  state.vgprs = allocated_vgprs(descriptor, state.isa);
  state.ordinary = std::min<std::uint32_t>(state.vgprs, exec::kAccumulators);
  if (exec::has_unified_registers(state.isa)) {  // ACCUM_OFFSET
    state.ordinary = std::min(state.ordinary, ((descriptor.compute_pgm_rsrc3 & 63U) + 1) * 4);
    if (code.names_accumulators) {
      state.accumulators = std::min<std::uint32_t>(state.vgprs - state.ordinary, 256);
    }
  }
  state.scalar_end = code.scalar_end;
  const bool rdna = exec::is_rdna(state.isa);
  state.sgprs = rdna ? 128 : ((state.rsrc1 >> 6 & 15U) + 1) * 8;
  // RDNA has room for the scalar registers of all its waves.
  const bool large_file = state.isa == exec::Isa::gfx1100;  // 1536 registers of 32 lanes, not 1024
  const std::uint32_t half = large_file ? 384 : 256;
  const std::uint32_t vgprs =
      exec::has_unified_registers(state.isa) || state.wave_lanes == 32 ? 2 * half : half;
  const std::uint32_t sgprs = rdna ? 10 * 128 : state.isa == exec::Isa::gfx7 ? 512 : 800;
  state.waves_per_simd =
      std::min({architecture.waves_per_simd, 10, static_cast<int>(vgprs / state.vgprs),
                static_cast<int>(sgprs / state.sgprs)});
  if (kernel.max_flat_workgroup_size != 0 && state.group_size > kernel.max_flat_workgroup_size) {
    return fail(ErrorCode::out_of_range,
                fmt::format("a work-group of {} work-items is larger than the kernel allows ({})",
                            state.group_size, kernel.max_flat_workgroup_size),
                kernel.name);
  }
  if (static_cast<int>(state.waves_per_group) > 4 * state.waves_per_simd) {
    return fail(ErrorCode::out_of_range,
                fmt::format("a work-group of {} work-items with {} vector registers does not fit "
                            "into a compute unit",
                            state.group_size, state.vgprs),
                kernel.name);
  }
  const std::uint64_t lds = std::uint64_t{descriptor.group_segment_fixed_size} + dynamic_lds_bytes;
  if (lds > static_cast<std::uint64_t>(architecture.lds_bytes_per_cu)) {
    return fail(ErrorCode::out_of_range,
                fmt::format("{} bytes of local memory are more than the {} of a compute unit", lds,
                            architecture.lds_bytes_per_cu),
                kernel.name);
  }
  state.cooperative = grid.cooperative;
  if (!grid.cu_mask.empty()) {
    const int cus_in_use = options.timing ? options.timing->cus_in_use : 0;
    WW_ASSIGN(cus, exec::cus_of_mask(architecture, device, cus_in_use, grid.cu_mask));
    state.cus = std::move(cus);
  }
  state.on_fault = options.on_fault;
  state.checks = options.checks;
  state.single_wave_groups =
      kernel.max_flat_workgroup_size != 0 && kernel.max_flat_workgroup_size <= state.wave_lanes;
  state.lds_bytes = static_cast<std::uint32_t>(lds);
  state.lds_allocated = (state.lds_bytes + 511) / 512 * 512;
  if (kernarg.size() > kKernargBytes) {
    return fail(ErrorCode::out_of_range, "the kernel's arguments are larger than 64 KiB",
                kernel.name);
  }
  state.scratch_per_lane = (private_bytes(kernel) + 3) / 4 * 4;
  state.dynamic_stack = kernel.uses_dynamic_stack;
  WW_TRY(limit_waves(state));
  WW_TRY(provide_scratch(state));
  make_shapes(state, grid);
  state.cleared = exec::read_before_written(state.code, state.code_dwords, state.entry,
                                            state.id_axes, state.ordinary);
  state.dispatch_packet = packet_address;
  state.queue = queue_address;
  state.kernarg = kernarg_address;
  state.dispatch_id = dispatch_count();
  state.l1_hit_cycles = architecture.l1_hit_cycles;
  state.scalar_load_cycles = architecture.scalar_load_cycles;
  state.local_memory_cycles = architecture.local_memory_cycles;
  const auto& dvfs = architecture.dvfs;
  const double clock_hz =
      dvfs.empty() ? 1e9 : dvfs[static_cast<std::size_t>(timeline->dvfs_state())].clock_hz;
  state.realtime_base = static_cast<double>(timeline->now_ns()) * 0.1;
  state.realtime_per_cycle = 1e8 / clock_hz;
  state.clock_base =
      static_cast<std::uint64_t>(static_cast<double>(timeline->now_ns()) * 1e-9 * clock_hz);
  return state;
}

// hsa_kernel_dispatch_packet_t.
void VirtualGpu::Impl::write_packet(const exec::LaunchState& state, const Grid& grid,
                                    const binpatch::Kernel& kernel, const exec::Program& program) {
  std::byte* packet = memory->host(packet_address);
  std::memset(packet, 0, exec::kPacketBytes);
  const auto at = [packet](std::size_t offset, auto value) {
    std::memcpy(packet + offset, &value, sizeof value);
  };
  at(0, std::uint16_t{2});  // a kernel dispatch
  at(2, static_cast<std::uint16_t>(grid.dimensions));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    at(4 + 2 * axis, static_cast<std::uint16_t>(grid.local[axis]));
    at(12 + 4 * axis, grid.global[axis]);
  }
  at(24, state.scratch_per_lane);
  at(28, state.lds_bytes);
  at(32, program.device_address(kernel.descriptor_address));
  at(40, kernarg_address);
}

}  // namespace ww::sim::gpu
