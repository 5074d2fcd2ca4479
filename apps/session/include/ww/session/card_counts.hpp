// Counts a card of AMD from inside this process, so that a stretch of it has what the card moved
// meanwhile (docs/counters-inside.md).
//
// The counts are of the whole card: those of other processes are in them. Threading: any.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/counted/device_counting.hpp"
#include "ww/measure/counter_file.hpp"
#include "ww/measure/telemetry.hpp"

namespace ww::session {

class CardCounts {
 public:
  // Asks for the counts of a card by its name, as Bracket::open has names, before HIP's runtime
  // starts in this process: it sets variables of the environment, by which that runtime loads
  // wirewatt's tool library, and takes them back once it has. Errors: those of choose_gpu(),
  // find_counting_sdk() and DeviceCounting::prepare(), unsupported (no card of AMD's that
  // computes), invalid_argument (another card was asked for).
  static Status request(const std::string& device);
  // Those of a card; null where nobody asked for them.
  static CardCounts* of(const measure::TelemetryGpu& gpu);

  // The counts since the request, by device of the runtime.
  using Sums = std::map<std::string, measure::CounterDispatch>;
  // Samples the card. Errors: missing_dependency (HIP's runtime has not loaded the tool library, so
  // that nothing was counted so far), device_error (why nothing is counted).
  Result<Sums> now();
  // The counts between two samples.
  [[nodiscard]] static std::vector<measure::CounterDispatch> between(const Sums& before,
                                                                     const Sums& after);
  [[nodiscard]] const std::string& part() const { return part_; }  // "gfx90a"
  [[nodiscard]] std::string source() const;

 private:
  CardCounts(measure::DeviceCounting counting, std::string card, std::string part);
  void take_environment();
  void restore_environment();

  std::mutex mutex_;
  measure::DeviceCounting counting_;
  std::string card_;  // its PCI address
  std::string part_;
  Sums sums_;
  // Variables as they were; those that were not set have no value.
  std::vector<std::pair<std::string, std::optional<std::string>>> before_;
};

}  // namespace ww::session
