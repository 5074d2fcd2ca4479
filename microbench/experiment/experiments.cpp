#include "experiment/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ww::microbench {

std::span<const ExperimentEntry> experiments() {
  static constexpr std::array<ExperimentEntry, 5> kTable{{
      {"calibration", make_calibration},
      {"chiplet", make_chiplet},
      {"classes", make_classes},
      {"crossing", make_crossing},
      {"segments", make_segments},
  }};
  return kTable;
}

Result<std::unique_ptr<Experiment>> make_experiment(std::span<const ExperimentEntry> table,
                                                    std::string_view name,
                                                    const ExperimentSettings& settings) {
  const auto found = std::ranges::find(table, name, &ExperimentEntry::name);
  if (found != table.end()) return found->make(settings);
  std::string names;
  for (const ExperimentEntry& entry : table) {
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  return fail(ErrorCode::not_found, "there is no such experiment; there are: " + names,
              std::string(name));
}

}  // namespace ww::microbench
