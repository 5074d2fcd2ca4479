#include "ww/sim/trace/summary.hpp"

#include <bit>

namespace ww::sim::trace {

Result<Summary> summarise(Reader& reader) {
  constexpr unsigned kAddressBytes = 8;
  Summary summary;
  Access access;
  std::uint64_t plain_bytes = 0;
  while (true) {
    WW_ASSIGN(more, reader.next(access));
    if (!more) break;
    const auto lanes = static_cast<std::uint64_t>(std::popcount(access.lanes));
    const Instruction& instruction = reader.instructions()[access.instruction];
    KernelSummary& kernel = summary.kernels[reader.launches()[access.launch].kernel];
    ++kernel.wave_accesses;
    kernel.accesses += lanes;
    kernel.bytes += lanes * instruction.element_bytes;
    if (access.has_values) summary.accesses_with_values += lanes;
    plain_bytes += lanes * (kAddressBytes + (access.has_values ? instruction.value_bytes : 0U));
  }
  for (const Launch& launch : reader.launches()) ++summary.kernels[launch.kernel].launches;
  const auto accesses = static_cast<double>(reader.totals().lane_accesses);
  const auto file_bytes = static_cast<double>(reader.file_bytes());
  if (accesses > 0) summary.bytes_per_access = file_bytes / accesses;
  summary.compression = static_cast<double>(plain_bytes) / file_bytes;
  return summary;
}

}  // namespace ww::sim::trace
