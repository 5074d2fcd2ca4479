// Watts and joules that the on-chip wires draw while kernels run, by segment: traffic times energy
// per bit and millimetre times distance (IISWC'16, section VI), with intervals.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ww/model/wire_model.hpp"

namespace ww::model {

// The traffic of a kernel over one segment, summed over all its dispatches.
struct SegmentTraffic {
  std::optional<double> bytes;
  std::optional<double> upper_bytes;  // not more than this, where no counter gives `bytes`
  bool at_least{};                    // `bytes` may be too few: some requests were not counted
  bool scaled{};                      // to launches that were not counted, from those that were
  std::string reason;                 // what is missing, or a remark on the figure
  std::optional<WireActivity> wires;  // as monitors counted
};

struct KernelTraffic {
  std::string kernel;
  std::uint64_t dispatches{};
  std::optional<double> time_s;  // all dispatches together
  std::string time_reason;       // why there is none, or a remark on it
  std::array<SegmentTraffic, 3> segments{};
  // Loads and stores through the L1, one a wavefront; absent where a launch has no count of them.
  std::optional<double> memory_instructions;
  // Bytes that the L2 wrote to memory, and those of lines that the L2 took in for loads and stores,
  // whether they were read from memory or not. Absent where a launch has no count of
  // them.
  std::optional<double> memory_written_bytes;
  std::optional<double> l2_filled_bytes;
  // Monitored events of L1-L2 wires, times the length of their wires [mm]. Trunks include the
  // request and tag wires beside them. Legs are the way within an engine.
  std::optional<WireActivity> trunks_mm;
  std::optional<WireActivity> legs_mm;
  std::optional<double> l1_l2_mm;  // mean distance of this kernel's bits, if known
};

struct EstimateOptions {
  AssumedData data{unknown_data()};  // of the payload, where no monitor saw it
  // Data of single kernels, by name; they go before `data`.
  std::map<std::string, AssumedData> data_of_kernel{};
  bool use_monitors{true};
  std::optional<double> voltage_v;  // else the model's reference
  // While any kernel ran, where launches may overlap or have no times of their own; absent: the sum
  // of the kernels' times.
  std::optional<double> busy_s{};
};

struct SegmentEstimate {
  WireSegment segment{};
  RowStatus status{RowStatus::unavailable};
  std::string reason;
  std::optional<double> bytes;
  bool bytes_at_least{};  // more may have moved: the energy is that of what was counted
  bool bytes_scaled{};    // to launches that were not counted, from those that were
  std::optional<Interval> energy_j;
  std::optional<Interval> power_w;  // absent without a usable time
  // Upper bounds, set if only a bound of the bytes is known.
  std::optional<double> upper_j;
  std::optional<double> upper_w;
  double toggle_rate{};  // toggles per payload bit that was used
  bool toggles_measured{};
  double distance_mm{};  // in nanoseconds for a model that is per nanosecond
};

struct KernelEstimate {
  std::string kernel;
  std::uint64_t dispatches{};
  std::optional<double> time_s;
  std::string time_reason;
  std::array<SegmentEstimate, 3> segments{};
  // Sum of the segments that have a figure; `left_out` names the others. The status is ok if all of
  // them are ok, misfit for a flagged model, unavailable without any, else transferred.
  RowStatus status{RowStatus::unavailable};
  std::optional<Interval> energy_j;
  std::optional<Interval> power_w;
  std::string left_out;
};

struct Estimate {
  std::vector<KernelEstimate> kernels;  // most energy first
  KernelEstimate total;                 // "all"
  // If power was sampled: dynamic power while kernels ran [W], and the share of the wires.
  std::optional<double> dynamic_w;
  bool per_ns{};  // the model's distances are nanoseconds
  std::optional<Interval> share_percent;
  std::string share_reason;  // why there is none
  Interval assumed_rate;     // equivalent rate, where toggles are not measured
};

// Errors: bad_data (no kernel; bytes or time negative or not finite, by kernel and segment),
// out_of_range (toggle rate outside 0 to 1, voltage not positive).
[[nodiscard]] Result<Estimate> estimate(const WireModel& model,
                                        const std::vector<KernelTraffic>& kernels,
                                        const EstimateOptions& options);

// Adds the wires' share of `dynamic_j`, the energy of the chip beyond idle. If noise alone could
// produce that energy, the share is left out, with the reason.
void add_dynamic_energy(Estimate& estimate, const Interval& dynamic_j);

[[nodiscard]] nlohmann::json to_json(const Estimate& estimate);

}  // namespace ww::model
