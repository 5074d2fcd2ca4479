#include "machine/launch/global_wave_sync.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "machine/compute_unit/memory_operation.hpp"
#include "machine/isa/operands.hpp"

namespace ww::sim::gpu::exec {
namespace {

// The wave waits for the answer as for any that lgkmcnt counts.
template <bool Barrier>
void run_gws(Wave& wave, const MicroOp& op) {
  ComputeUnit& cu = *wave.cu;
  if (!cu.launch().cooperative) {
    cu.fault(wave, ErrorCode::device_error,
             fmt::format("{} in a launch that is not cooperative: its work-groups cannot wait for "
                         "each other",
                         binpatch::isa::mnemonic(op.opcode)));
    return;
  }
  if (!cu.scalar_slot_free(wave, op)) return;
  const std::uint64_t exec = wave.exec();
  const auto lane = exec == 0 ? 0 : static_cast<std::size_t>(std::countr_zero(exec));
  MemoryOperation* operation = cu.new_operation(wave, false);
  operation->kind = MemoryKind::store;
  operation->exec = exec;
  operation->unresolved = 1;
  operation->references = 1;
  wave.scalar_queue.push(operation);
  wave.next_completion = std::min(wave.vector_queue.next(), wave.scalar_queue.next());
  constexpr std::uint32_t kResourceMask = 63;
  cu.gws_requests.push_back({.operation = operation,
                             .cycle = wave.now,
                             .resource = ((wave.sr[kM0] >> 16) + op.memory.offset) & kResourceMask,
                             .value = wave.vgpr(op.source[3])[lane],
                             .barrier = Barrier});
}

}  // namespace

bool lower_global_wave_sync(const binpatch::isa::Instruction& instruction, MicroOp& op) {
  switch (instruction.opcode) {
    case Opcode::ds_gws_init: op.run = run_gws<false>; break;
    case Opcode::ds_gws_barrier: op.run = run_gws<true>; break;
    default: return false;
  }
  op.unit = Unit::lds;
  op.memory = MemoryFields{};
  op.memory.kind = MemoryKind::store;
  op.memory.offset = instruction.modifiers.offset;
  op.source[3] = vector_index(instruction.src[0]);
  return true;
}

void GlobalWaveSync::begin_launch(const LaunchState& launch) {
  resources_.fill({});
  resources_.front().count = launch.groups[0] * launch.groups[1] * launch.groups[2] - 1;
}

void GlobalWaveSync::serve(std::vector<std::unique_ptr<ComputeUnit>>& cus, std::int64_t latency) {
  asked_.clear();
  for (std::size_t i = 0; i < cus.size(); ++i) {
    for (const GwsRequest& request : cus[i]->gws_requests) asked_.push_back({i, request});
    cus[i]->gws_requests.clear();
  }
  std::ranges::stable_sort(asked_, {}, [](const Asked& asked) { return asked.request.cycle; });
  for (const Asked& asked : asked_) {
    Resource& resource = resources_.at(asked.request.resource);
    const std::int64_t answer = asked.request.cycle + latency;
    if (!asked.request.barrier) {
      resource.count = asked.request.value;
      cus[asked.cu]->answered(*asked.request.operation, answer);
      continue;
    }
    resource.waiting.push_back(asked);
    if (resource.count != 0) {
      --resource.count;
      continue;
    }
    resource.count = asked.request.value;
    for (const Asked& waits : resource.waiting) {
      cus[waits.cu]->answered(*waits.request.operation, answer);
    }
    resource.waiting.clear();
  }
}

std::string GlobalWaveSync::missing() const {
  const auto found = std::ranges::find_if(
      resources_, [](const Resource& resource) { return !resource.waiting.empty(); });
  if (found == resources_.end()) return {};
  return fmt::format("{} waves wait at a grid-wide barrier that {} more have to reach",
                     found->waiting.size(), std::uint64_t{found->count} + 1);
}

}  // namespace ww::sim::gpu::exec
