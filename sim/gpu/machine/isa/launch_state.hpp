// Declares the state that all waves of one launch share and none changes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/isa/micro_op.hpp"
#include "machine/isa/wave.hpp"
#include "ww/binpatch/code_object.hpp"
#include "ww/sim/gpu/virtual_gpu.hpp"

namespace ww::sim::gpu::exec {

struct StraightLines;
class Translations;

// The instruction sets that differ in what a wave meets: initial registers, HW_ID.
enum class Isa : std::uint8_t { gfx7, gfx900, gfx90a, gfx942, gfx1030, gfx1100 };

// CDNA 2 and 3: ordinary and accumulation registers share one file of 512, handed out in eights.
[[nodiscard]] constexpr bool has_unified_registers(Isa isa) {
  return isa == Isa::gfx90a || isa == Isa::gfx942;
}
// RDNA 2 and 3.
[[nodiscard]] constexpr bool is_rdna(Isa isa) {
  return isa == Isa::gfx1030 || isa == Isa::gfx1100;
}
// A work-item's three ids come packed in one register.
[[nodiscard]] constexpr bool has_packed_ids(Isa isa) {
  return has_unified_registers(isa) || isa == Isa::gfx1100;
}
// CDNA 3 and RDNA 3: the hardware itself knows where a wave's private memory begins (LLVM "User
// Guide for AMDGPU Backend", architected flat scratch). No register brings the wave's offset.
[[nodiscard]] constexpr bool has_architected_scratch(Isa isa) {
  return isa == Isa::gfx942 || isa == Isa::gfx1100;
}
// ENABLE_WAVEFRONT_SIZE32 of the kernel's descriptor, which older instruction sets do not have.
[[nodiscard]] inline std::uint32_t wave_lanes(const binpatch::KernelDescriptor& kernel, Isa isa) {
  const bool half = (kernel.kernel_code_properties >> 10 & 1U) != 0;
  return is_rdna(isa) && half ? 32 : kLanes;
}

inline constexpr std::uint64_t kPacketBytes = 64;  // hsa_kernel_dispatch_packet_t

// A work-group's extents, and what follows from them.
struct GroupShape {
  std::array<std::uint32_t, 3> local{1, 1, 1};
  std::uint32_t size{1};
  std::uint32_t waves{1};
  // Work-item ids as the vector registers hold them at first: 64 words for each axis that the
  // kernel asks for, for each wave of the group.
  std::vector<std::uint32_t> work_item_ids;
  std::vector<std::optional<LaneForm>> id_forms;  // of each 64 words of them
};

struct RegisterSpan {
  std::uint16_t first{};
  std::uint16_t count{};
  bool operator==(const RegisterSpan&) const = default;
};

struct LaunchState {
  Isa isa{};
  int device{};  // whose dies run it
  std::string kernel;
  const MicroOp* code{};
  const StraightLines* straight{};  // null: every instruction is executed when it issues
  Translations* translations{};     // null: straight-line code is interpreted
  std::uint32_t code_dwords{};
  std::uint64_t code_address{};  // device address of dword 0
  std::uint32_t entry{};         // dword of the first instruction
  std::array<std::uint32_t, 3> groups{1, 1, 1};
  std::array<std::uint32_t, 3> local{1, 1, 1};  // of a whole group
  std::uint32_t group_size{1};                  // of a whole group
  std::uint32_t wave_lanes{kLanes};  // 64, or 32 where the kernel's descriptor says so (gfx10)
  std::uint32_t waves_per_group{1};  // of a whole group; smaller ones take as much room
  std::uint32_t vgprs{4};            // of a wave, as allocated, accumulation registers among them
  std::uint32_t accumulators{};
  std::uint32_t ordinary{4};  // v0 and those behind it: an index that leaves them reaches nothing
  // Ordinary ones that need their zeros where all lanes of a wave are enabled.
  std::vector<RegisterSpan> cleared;
  std::uint32_t sgprs{8};
  std::uint32_t scalar_end{kSpecialScalars};  // LoweredCode::scalar_end
  int waves_per_simd{10};                     // that registers and private memory allow
  std::uint32_t lds_bytes{};
  std::uint32_t lds_allocated{};
  std::uint16_t code_properties{};
  std::uint32_t rsrc1{};
  std::uint32_t rsrc2{};
  std::uint64_t dispatch_packet{};
  std::uint64_t queue{};
  std::uint64_t kernarg{};
  std::uint64_t dispatch_id{};
  std::uint64_t scratch{};        // arena of all wave slots of the device
  std::uint64_t scratch_bytes{};  // of the arena
  std::uint32_t scratch_slots{};  // waves of a compute unit that have a part of it
  std::uint32_t scratch_per_lane{};
  bool dynamic_stack{};        // the compiler could not know how much private memory it takes
  std::uint64_t clock_base{};  // s_memtime of cycle 0
  double realtime_base{};      // s_memrealtime of cycle 0, in its 10 ns
  double realtime_per_cycle{};
  int l1_hit_cycles{};
  int scalar_load_cycles{};
  int local_memory_cycles{};
  // Work-items of the last group along an axis, where they are fewer than in the others; else 0.
  std::array<std::uint32_t, 3> last{};
  // Shapes by the axes, a bit each, along which a group is the last one and smaller; the first is a
  // whole group. Those that no group has are empty.
  std::vector<GroupShape> shapes{1};
  std::uint32_t id_axes{1};
  OnFault on_fault{};
  MemoryChecks checks;
  bool cooperative{};         // Grid::cooperative
  std::vector<bool> cus;      // that get work-groups: cus_of_mask(); empty: all
  bool single_wave_groups{};  // the compiler knew that a group is one wave

  [[nodiscard]] bool has_uneven_groups() const { return shapes.size() > 1; }
  [[nodiscard]] const GroupShape& shape_of(const std::array<std::uint32_t, 3>& group) const {
    if (!has_uneven_groups()) return shapes.front();
    std::size_t axes = 0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (last[axis] != 0 && group[axis] + 1 == groups[axis]) axes |= std::size_t{1} << axis;
    }
    return shapes[axes];
  }
};

inline constexpr std::uint64_t kLdsAperture = std::uint64_t{kFlatLdsApertureHigh} << 32;
inline constexpr std::uint64_t kPrivateAperture = std::uint64_t{kFlatPrivateApertureHigh} << 32;

}  // namespace ww::sim::gpu::exec
