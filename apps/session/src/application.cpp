#include "ww/session/application.hpp"

#include "ww/calibration/same_part.hpp"
#include "ww/measure/crossing_counters.hpp"

namespace ww::session {

Result<calibration::Traffic> application_traffic(const CountedDispatches& counted,
                                                 const std::string& file) {
  auto of_wires = count_traffic(counted.dispatches, counted.architecture);
  if (!of_wires) {
    of_wires.error().context = file;
    return tl::unexpected(of_wires.error());
  }
  calibration::Traffic traffic;
  traffic.kernels = std::move(of_wires->kernels);
  traffic.architecture = of_wires->architecture;
  traffic.dispatches = of_wires->dispatches;
  traffic.is_virtual = of_wires->is_virtual;
  traffic.counters = std::move(of_wires->totals);
  traffic.busy_s = counted.busy_s;
  traffic.file = file;
  const auto crossed = measure::count_crossings(counted.dispatches, counted.architecture);
  for (const auto& [kernel, of] : crossed.kernels) {
    traffic.crossings[kernel] = {of.bytes,          of.uncounted,        of.uncounted_traffic,
                                 of.traffic,        of.traffic_at_least, of.read_traffic,
                                 of.written_traffic};
  }
  traffic.crossings_unused = crossed.unused;
  traffic.io_dies = count_io_dies(counted.dispatches);
  return traffic;
}

Result<CountedDispatches> read_application(const std::vector<std::string>& files,
                                           const std::string& architecture,
                                           const calibration::Provenance& calibrated) {
  WW_ASSIGN(counted, read_dispatches(files, architecture.empty() ? calibrated.assumed_architecture
                                                                 : architecture));
  WW_TRY(calibration::require_named_part(architecture, counted.named_architecture, files.front()));
  return counted;
}

}  // namespace ww::session
