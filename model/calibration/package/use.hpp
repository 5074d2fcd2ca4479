// Prices the ways between the dies of a package in an application: bits that took a way times the
// energy of a bit on it, as a calibration of a package's dies has it (model.json of the method
// "chiplet"). There is no millimetre in it.
//
// No counter of a card says how far a line went behind the L2, or whether the Infinity Cache had
// it: profilers count what leaves the compute dies (TCC_EA0_*). Pages change the I/O die every 4
// KiB, so that a quarter of evenly spread traffic takes each way. Work-groups take pages in an
// order as regular as that of the I/O dies, however: where each of them reads 2 KiB in a row, all
// traffic of a mebibyte takes one and the same way. Without counts the interval of a way therefore
// reaches from none to all of the traffic.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ww/calibration/traffic.hpp"
#include "ww/core/figure.hpp"
#include "ww/core/result.hpp"

namespace ww::calibration {

// Hop classes in the order of ChipletAnswer's rows. `across` is the whole way across, both links
// together; `xgmi` the links to another part of the package that has memory of its own.
inline constexpr std::array<std::string_view, 7> kHopClasses{
    "compute_die_and_cache", "row_hop", "column_hop", "across", "memory_phy", "memory", "xgmi"};
enum class HopClass : std::uint8_t {
  compute_die_and_cache,
  row_hop,
  column_hop,
  across,
  memory_phy,
  memory,
  xgmi
};

struct ChipletModel {
  std::string device;
  std::string source;
  std::string target;  // the device's architecture ("gfx942"); empty where the file does not say
  bool is_virtual{};
  // Energy of a random bit [pJ], by class; without one: why.
  struct Energy {
    std::optional<Interval> pj;
    std::string why_not;
  };
  std::array<Energy, kHopClasses.size()> classes;
  [[nodiscard]] const Energy& of(HopClass which) const {
    return classes[static_cast<std::size_t>(which)];
  }
  // Whether it is of two parts that have memory of their own, with links between them.
  [[nodiscard]] bool is_pair() const { return of(HopClass::xgmi).pj && !of(HopClass::row_hop).pj; }
};

// Reads the model.json of a package. Error parse_error. `origin` names the file.
[[nodiscard]] Result<ChipletModel> parse_chiplet_model(const nlohmann::json& document,
                                                       const std::string& origin);

struct HopClassUse {
  // ok: counted; transferred: a share of the traffic is assumed; not_identified: only a bound.
  RowStatus status{RowStatus::unavailable};
  std::string reason;
  std::optional<Interval> bytes;
  std::optional<Interval> energy_j;
  std::optional<Interval> power_w;  // absent without a usable time
  std::optional<double> upper_j;    // where only a bound of the bytes is known
};

struct ChipletUse {
  std::string kernel;
  std::uint64_t dispatches{};
  std::optional<double> time_s;
  std::array<HopClassUse, kHopClasses.size()> classes;
  HopClassUse together;  // has energy where all classes have
};

// A row for each kernel, most energy first, then one for all of them ("all"). `counted` has the
// kernels whose ways monitors counted. Energies are those of random bits. Where the data may toggle
// less or more, the interval reaches to what they would draw in proportion: by the toggles that
// monitors counted behind the L2s, else as `options` say. Error bad_data: no kernel.
[[nodiscard]] Result<std::vector<ChipletUse>> estimate_chiplet(
    const ChipletModel& model, const std::vector<KernelTraffic>& kernels,
    const std::map<std::string, IoDieBytes>& counted, const model::EstimateOptions& options);

[[nodiscard]] nlohmann::json to_json(const ChipletUse& use);

}  // namespace ww::calibration
