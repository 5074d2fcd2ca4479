// Names the host's vectors in which translated code computes.
#pragma once

#include <cstdint>
#include <optional>

namespace ww::sim::gpu::exec {

// Sixteen registers of 256 bits with fused multiply-add, or 32 of 512 bits with masks apart.
enum class HostVectors : std::uint8_t { avx2, avx512 };

// Whether this host has them.
[[nodiscard]] bool has_vectors(HostVectors vectors);
// The widest that this host has; nothing where it has neither.
[[nodiscard]] std::optional<HostVectors> widest_vectors();

}  // namespace ww::sim::gpu::exec
