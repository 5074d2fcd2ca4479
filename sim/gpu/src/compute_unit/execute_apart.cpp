// Waves executed one after the other, without regard to time. What they do is known then; when they
// do it is not.
#include "compute_unit/compute_unit.hpp"
#include "compute_unit/memory_operation.hpp"

namespace ww::sim::gpu::exec {
namespace {

// Whether an instruction outside straight-line code does the same whenever it issues, and whatever
// other waves do. Loads of memory that is not the launch's own are found otherwise (saw_memory()),
// and so are reads of the clock.
bool is_apart_from_time(const MicroOp& op) {
  switch (op.unit) {
    case Unit::branch:
    case Unit::smem: return true;
    case Unit::vmem: return op.memory.kind == MemoryKind::store;
    default: break;
  }
  switch (op.opcode) {
    case Opcode::s_clause:
    case Opcode::s_delay_alu:
    case Opcode::s_endpgm:
    case Opcode::s_inst_prefetch:
    case Opcode::s_nop:
    case Opcode::s_sendmsg:
    case Opcode::s_set_inst_prefetch_distance:
    case Opcode::s_setprio:
    case Opcode::s_waitcnt:
    case Opcode::s_waitcnt_depctr:
    case Opcode::s_waitcnt_expcnt:
    case Opcode::s_waitcnt_lgkmcnt:
    case Opcode::s_waitcnt_vmcnt:
    case Opcode::s_waitcnt_vscnt: return true;
    default: return false;
  }
}

}  // namespace

bool ComputeUnit::execute_apart(const std::array<std::uint32_t, 3>& id, std::uint64_t most,
                                const std::function<bool(std::uint32_t wave)>& look) {
  start(id, 0);
  const Starting group = starting_.back();
  starting_.clear();
  begin_waves(group);
  for (std::uint32_t n = 0; n < launch_->waves_per_group; ++n) {
    if (!execute_apart(waves_[group.slots[n]], most)) return false;
    if (!look(n)) return false;
    answer_requests(requests.size(), 0);
  }
  return !saw_memory_ && !clock_read_ && findings.findings().empty();
}

bool ComputeUnit::execute_apart(Wave& wave, std::uint64_t most) {
  std::uint64_t executed = 0;
  while (wave.state == WaveState::running) {
    if (wave.pc >= launch_->code_dwords || executed > most) return false;
    const MicroOp& op = launch_->code[wave.pc];
    if (op.straight) {
      const StraightRun& run = launch_->straight->run[wave.pc];
      run_ahead(wave);
      if (wave.ahead == 0) return false;  // it has a register that is still to come
      wave.ahead = 0;
      wave.pc += run.dwords;
      executed += run.count;
      continue;
    }
    if (!is_apart_from_time(op)) return false;
    const std::uint32_t pc = wave.pc;
    execute_apart(wave, op);
    ++executed;
    if (error_) return false;
    const bool waits = wave.pc == pc && op.unit != Unit::branch;
    if (waits && !complete_scalars(wave)) return false;
  }
  return wave.state == WaveState::empty;
}

// Completes what a wave waits for if these are scalar loads alone; else returns false.
bool ComputeUnit::complete_scalars(Wave& wave) {
  if (wave.vector_queue.count > wave.wait_vector) return false;
  while (wave.scalar_queue.count > wave.wait_scalar) {
    MemoryOperation& operation = *wave.scalar_queue.front();
    if (operation.unresolved != 0 || operation.vector) return false;
    wave.scalar_queue.pop(operation.completion);
    if (operation.words != 0) complete(wave, operation);
    if (--operation.references == 0) release(&operation);
  }
  return true;
}

}  // namespace ww::sim::gpu::exec
