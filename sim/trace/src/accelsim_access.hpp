// Decodes the accesses of an instruction of an Accel-Sim trace. Sources: Accel-Sim's trace parser
// (operations, widths, the windows of generic addresses) and GPGPU-Sim's translation of local
// addresses.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ww/sim/trace/trace.hpp"

namespace ww::sim::trace {

// Generic addresses may lie in the window of shared or of local memory.
enum class Space : std::uint8_t { global, local, generic };

struct MemoryOperation {
  Operation operation{};
  Space space{};
};
// Decodes a global, local or generic memory opcode; nothing for all others (shared memory
// included).
[[nodiscard]] std::optional<MemoryOperation> memory_operation(std::string_view opcode);

// Whether an opcode accesses global memory by textures, surfaces or bulk copies (TMA), of which a
// trace has no lanes' addresses.
[[nodiscard]] bool has_no_addresses(std::string_view opcode);

// Bytes of a lane: from the opcode's modifiers (.128, .U8, .S16, .F32), else the width of the line.
// Nothing where that is no width of an access either.
[[nodiscard]] std::optional<std::uint8_t> access_bytes(std::string_view opcode,
                                                       unsigned line_width);

// The addresses at which a kernel sees shared and local memory in generic instructions. They are 0
// where the tracer did not find them.
struct Windows {
  std::uint64_t shared{};
  std::uint64_t local{};
  [[nodiscard]] bool are_known() const { return shared != 0 && local != 0 && shared != local; }
  [[nodiscard]] bool has_shared(std::uint64_t address) const;
  [[nodiscard]] bool has_local(std::uint64_t address) const;
};

// Where byte `offset` of a lane's local memory lies. The words of the 32 lanes stand side by side,
// so that lanes which access the same offset fill a line of 128 bytes. Every warp of a launch has
// memory of its own, above all global addresses.
[[nodiscard]] std::uint64_t local_address(std::uint64_t warp, unsigned lane, std::uint64_t offset);

}  // namespace ww::sim::trace
