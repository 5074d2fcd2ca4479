// wirewatt reproduce dapper: the runs behind the figures, and the rows that come of them.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dapper/output_error.hpp"
#include "own_network/own_network.hpp"
#include "reproduction/reproduction.hpp"
#include "ww/sim/gpu/chip.hpp"
#include "ww/sim/gpu/timing.hpp"

namespace ww::study::dapper {

// The paper's six applications, as 'workloads list' names them.
inline constexpr std::array kDapperApplications{"dct",  "hist",         "convtex",
                                                "dxtc", "blackscholes", "fwt"};

inline constexpr double kDapperCoreHz = 700e6;  // of virtual:dapper

// A network with its settings.
struct DapperVariant {
  std::string name;
  std::vector<std::string> options;  // of 'workloads run'
  bool ablation{};                   // not in the paper: says why figures are as they are
  std::string settings{};            // of the system around the network: TOML, docs/timing.md
  std::string device{"virtual:dapper"};
  bool power{};  // the power sensor is read too
  // Sensitivity: what is other than in the paper, and the variant that has the same without Dapper.
  std::string what{};
  std::string against{"baseline"};
};
[[nodiscard]] std::vector<DapperVariant> dapper_variants(bool quick);

// One application on one network.
struct DapperRun {
  double cycles{};  // of the cores, all launches
  double network_cycles{};
  double energy_pj{};                    // of the network
  double gpu_dynamic_j{}, gpu_idle_w{};  // as the power sensor sees the chip, where it is read
  std::map<std::string, double> components_pj;
  double request_latency{}, reply_latency{};  // network cycles, from creation to arrival
  double request_transit{}, reply_transit{};  // network cycles since the head left its queue
  double replies{};                           // read replies
  double reply_flits{};                       // of all replies, as injected
  double approximable_share{};                // share of the read replies
  double changed_share{};                     // share of the read replies
  double coalesced_share{};                   // share of the read replies; dapper
  double load{};                              // flits per node and cycle
  double output_occupancy{};
  nlohmann::json settings;
  OutputError error;  // of the application's output; of the DCT's, as the picture it stands for
  std::map<std::string, OutputError> outputs;  // of the arrays behind it, where they are others
  double cpu_s{};
};

struct DapperStudy {
  std::string size;
  std::map<std::string, std::map<std::string, DapperRun>> runs;  // [application][variant]
  nlohmann::json pictures = nlohmann::json::array();
  std::set<std::string> builds;  // of this program, that made the runs

  [[nodiscard]] const DapperRun* find(const std::string& application,
                                      const std::string& variant) const;
};

struct DapperRequest {
  std::string out;
  std::string size;
  bool quick{};
  unsigned at_once{2};
  std::string build;  // of this program
};

// Runs what is not in the folder already. `done` is called after each run. Errors: those of the
// runs, cancelled.
[[nodiscard]] Result<DapperStudy> run_dapper_study(
    const DapperRequest& request,
    const std::function<void(const std::string&, double, double)>& done);

// The system that the paper's baseline runs on.
struct DapperPlatform {
  sim::gpu::Architecture chip;
  sim::gpu::TimingConfig timing;
};
// The chip `name` or file with its default network. Errors: those of chip_architecture().
[[nodiscard]] Result<DapperPlatform> dapper_platform(const std::string& chip);

// Table 1: each entry is read from the platform.
void add_dapper_platform(Reproduction& out, const DapperPlatform& platform);
// Figures 1, 3a, 7a, 7b, 8a to 8c, 9 and 10.
void add_dapper_rows(Reproduction& out, const DapperStudy& study);
// The paper's headlines, from rows that are there already.
void add_dapper_summary(Reproduction& out);
// The paper's networks as `simulate` replays its applications on them.
[[nodiscard]] OwnNetworkStudy own_network_study();
// Lists statements of the paper that contradict each other.
[[nodiscard]] nlohmann::json dapper_inconsistencies();

}  // namespace ww::study::dapper
