#include "fast/translate/host_vectors.hpp"

#include "machine/isa/lane_table.hpp"

namespace ww::sim::gpu::exec {

bool has_vectors(HostVectors vectors) {
  static const bool narrow = lanes_named("avx2") != nullptr;
  static const bool wide = lanes_named("avx512") != nullptr;
  return vectors == HostVectors::avx512 ? wide : narrow;
}

std::optional<HostVectors> widest_vectors() {
  for (const HostVectors vectors : {HostVectors::avx512, HostVectors::avx2}) {
    if (has_vectors(vectors)) return vectors;
  }
  return std::nullopt;
}

}  // namespace ww::sim::gpu::exec
