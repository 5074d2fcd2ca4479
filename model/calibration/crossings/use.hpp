// Prices the crossings of a partitioned L2 in an application: bits that crossed times the energy of
// a crossing (crossing.json). There is no millimetre in it.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ww/calibration/traffic.hpp"
#include "ww/core/figure.hpp"
#include "ww/core/result.hpp"
#include "ww/model/assumed_data.hpp"

namespace ww::calibration {

// Energy of a bit that crosses [pJ], with 95% intervals. They may hold zero.
struct CrossingModel {
  std::string device;
  std::string source;
  std::string target;  // the device's architecture ("sm_80"); empty where the file does not say
  bool is_virtual{};
  Interval random_pj;  // random bits, which toggle at a rate of 0.5
  // Energy of bits that do not toggle. Absent: it is not known, and data draw between as much as
  // random bits and in proportion to their toggles.
  std::optional<Interval> zero_pj;
  // Energy of data that no monitor saw; their range is in the interval.
  [[nodiscard]] Interval of_data(const model::AssumedData& data) const;
};

// Reads crossing.json. Errors: parse_error, bad_data (the calibration has no figure; its reason is
// passed on). `origin` names the file.
[[nodiscard]] Result<CrossingModel> parse_crossing_model(const nlohmann::json& crossing,
                                                         const std::string& origin);

struct CrossingUse {
  std::string kernel;
  std::uint64_t dispatches{};
  std::optional<double> time_s;
  // transferred: crossings assumed, not counted in every dispatch, or mostly of reads, which the
  // calibration did not measure; not_identified: neither counted nor bounded; rejected: more
  // crossed than there was
  RowStatus status{RowStatus::unavailable};
  std::string reason;  // what is missing, or where the crossings come from
  bool counted{};      // by the profiler; else anything from none to all of the traffic crosses
  std::optional<double> l1_l2_bytes;
  std::optional<Interval> crossed_bytes;
  std::optional<Interval> energy_j;
  std::optional<Interval> power_w;  // absent without a usable time
};

// A row for each kernel, most energy first, then one for all of them ("all"). `crossed` has what
// was counted of the crossings, by kernel. Error bad_data: no kernel.
[[nodiscard]] Result<std::vector<CrossingUse>> estimate_crossings(
    const CrossingModel& model, const std::vector<KernelTraffic>& kernels,
    const std::map<std::string, CountedCrossing>& crossed, const model::AssumedData& data);

[[nodiscard]] nlohmann::json to_json(const CrossingUse& use);

}  // namespace ww::calibration
