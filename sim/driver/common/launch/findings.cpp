#include "common/launch/findings.hpp"

#include <charconv>
#include <cstring>
#include <set>
#include <tuple>

#include "common/code/source_lines.hpp"
#include "common/launch/launch.hpp"
#include "common/runtime/runtime.hpp"
#include "ww/sim/gpu/memory_fault.hpp"

namespace ww::sim::driver {
namespace {

// The kernel's argument that holds an address inside the allocation: "argument 2 'out'".
std::string argument_of(const binpatch::CodeObject& object, const std::string& kernel,
                        std::span<const std::byte> kernarg, const gpu::MemoryFinding& finding) {
  const auto* info = object.find_kernel(kernel);
  if (info == nullptr || finding.allocation_bytes == 0) return {};
  std::size_t index = 0;
  for (const auto& argument : info->arguments) {
    if (argument.value_kind.rfind("hidden_", 0) == 0) continue;
    std::uint64_t address = 0;
    if (argument.value_kind == "global_buffer" &&
        argument.offset + sizeof address <= kernarg.size()) {
      std::memcpy(&address, kernarg.data() + argument.offset, sizeof address);
      if (address - finding.allocation < finding.allocation_bytes) {
        return "the buffer of argument " + std::to_string(index) + " '" + argument.name + "'";
      }
    }
    ++index;
  }
  return {};
}

// "memory fault: ... at address 0x4": within a page of null.
bool is_near_null(const Error& error) {
  constexpr std::string_view kAt = "at address 0x";
  constexpr std::uint64_t kPage = 4096;
  const auto at = error.message.find(kAt);
  if (!error.message.starts_with(gpu::kMemoryFault) || at == std::string::npos) return false;
  std::uint64_t address = 0;
  const char* end = error.message.data() + error.message.size();
  return std::from_chars(error.message.data() + at + kAt.size(), end, address, 16).ec ==
             std::errc{} &&
         address < kPage;
}

}  // namespace

void note_mistakes(gpu::ProgramId program, const binpatch::CodeObject& object,
                   const std::string& kernel, std::span<const std::byte> kernarg, bool ended) {
  static auto& reported = *new std::set<std::tuple<std::uint32_t, std::string, int, std::uint32_t>>;
  LaunchMistakes& mistakes = Runtime::get().mistakes;
  mistakes.stopped_launches += ended ? 0 : 1;
  for (const gpu::MemoryFinding& finding : Runtime::get().powered_gpu().findings()) {
    if (finding.kind == gpu::FindingKind::unknown_instruction) {
      ++mistakes.unknown_instructions;
    } else {
      mistakes.memory_mistakes += finding.count;
    }
    if (!reported.emplace(program, kernel, static_cast<int>(finding.kind), finding.instruction)
             .second) {
      continue;
    }
    print_line("kernel '" + kernel + "': " +
               gpu::describe(finding, argument_of(object, kernel, kernarg, finding),
                             source_line(object, finding.instruction).value_or("")));
  }
}

bool has_begun(const Error& error) {
  return error.code == ErrorCode::device_error || error.code == ErrorCode::unsupported;
}

std::string why_it_failed(const binpatch::Kernel& kernel, const Error& error) {
  std::string text = error.context.starts_with("kernel " + kernel.name)
                         ? error.text()
                         : "kernel '" + kernel.name + "': " + error.text();
  const std::string null = null_hidden_arguments(kernel.arguments);
  if (!null.empty() && is_near_null(error)) {
    text += "; of its hidden arguments these are null here: " + null;
  }
  return text;
}

}  // namespace ww::sim::driver
