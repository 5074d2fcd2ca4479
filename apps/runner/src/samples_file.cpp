#include "ww/runner/samples_file.hpp"

#include <algorithm>
#include <optional>

#include "ww/core/atomic_file.hpp"
#include "ww/measure/csv.hpp"

namespace ww::runner {

bool SamplesFile::counts_energy() const {
  return std::ranges::any_of(series.readings, [](const energy::EnergyReading& reading) {
    return reading.ticks != energy::kAbsent;
  });
}

Result<SamplesFile> read_samples_file(const std::string& file) {
  WW_ASSIGN(text, read_file(file));
  SamplesFile samples;
  samples.series.stamped = true;
  std::optional<measure::CsvColumns> columns;
  WW_TRY(measure::each_csv_row(text, file, {}, [&](measure::CsvRow& row) -> Status {
    if (!columns) {
      columns.emplace(row, file);
      return {};
    }
    WW_ASSIGN(time_ns, columns->integer(row, "time_ns"));
    WW_ASSIGN(power_uw, columns->optional_integer(row, "power_uw"));
    WW_ASSIGN(ticks, columns->optional_integer(row, "energy_ticks"));
    WW_ASSIGN(valid, columns->integer(row, "valid"));
    WW_ASSIGN(launched, columns->integer(row, "launched"));
    samples.launches = std::max<std::int64_t>(1, launched);
    if (valid != 0) {
      samples.series.readings.push_back(
          {time_ns, ticks.value_or(energy::kAbsent), power_uw.value_or(energy::kAbsent)});
    }
    return {};
  }));
  return samples;
}

}  // namespace ww::runner
