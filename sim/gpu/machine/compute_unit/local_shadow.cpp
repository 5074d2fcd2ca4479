#include "machine/compute_unit/local_shadow.hpp"

#include <algorithm>

#include "machine/compute_unit/memory_guard.hpp"
#include "machine/isa/launch_state.hpp"

namespace ww::sim::gpu::exec {

void LocalShadow::begin_launch(const LaunchState&) {
  std::fill(bytes_.begin(), bytes_.end(), Byte{});
  steps_ = 0;
}

// The standard knows no order between work-items but barriers and atomics. Two stores of one value
// are no finding: common, and harmless on any device. Where the compiler may have dropped the
// barriers because one wavefront holds the whole group, the order of its instructions counts.
void LocalShadow::accessed(Wave& wave, const LaneAccess& access) {
  const WorkGroup& group = *wave.group;
  if (access.address + access.bytes > wave.cu->launch().lds_bytes) return;
  const std::uint16_t item = item_of(wave, access.lane);
  const std::uint32_t step = step_[group.hardware_slot];
  const std::uint32_t instruction = wave.pc;
  const bool lockstep = wave.cu->launch().single_wave_groups;
  bool reported = false;
  for (unsigned i = 0; i < access.bytes; ++i) {
    const std::uint64_t at = access.address + i;
    Byte& byte = bytes_[group.lds_offset + at];
    const bool atomic = access.kind == AccessKind::atomic;
    const bool written = byte.write_step == step && byte.writer != item &&
                         !(atomic && byte.atomic) &&
                         (!lockstep || byte.write_instruction == instruction);
    const bool read = byte.read_step == step && (byte.reader != item || byte.many_readers);
    if (access.kind == AccessKind::load) {
      if (written && !reported) {
        note_race(wave, access, at, byte.writer,
                  byte.atomic ? AccessKind::atomic : AccessKind::store);
        reported = true;
      }
      byte.many_readers = byte.read_step == step && (byte.many_readers || byte.reader != item);
      byte.read_step = step;
      byte.reader = item;
      continue;
    }
    const bool equal =
        access.value != nullptr && wave.cu->lds(group)[at] == access.value[i] && !byte.atomic;
    if (!reported && written && !equal) {
      note_race(wave, access, at, byte.writer,
                byte.atomic ? AccessKind::atomic : AccessKind::store);
      reported = true;
    } else if (!reported && read && !lockstep) {
      note_race(wave, access, at, byte.reader, AccessKind::load);
      reported = true;
    }
    byte.write_step = step;
    byte.write_instruction = instruction;
    byte.writer = item;
    byte.atomic = atomic;
  }
}

}  // namespace ww::sim::gpu::exec
