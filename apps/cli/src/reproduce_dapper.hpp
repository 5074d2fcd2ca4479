// wirewatt reproduce dapper: the runs behind the figures, and the rows that come of them.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "output_error.hpp"
#include "reproduce_rows.hpp"

namespace ww::cli {

// The paper's six applications, as 'workloads list' names them.
inline constexpr std::array dapper_applications{"dct",  "hist",         "convtex",
                                                "dxtc", "blackscholes", "fwt"};

// A network with its settings.
struct DapperVariant {
  std::string name;
  std::vector<std::string> options;  // of 'workloads run'
  bool ablation{};                   // not in the paper: says why figures are as they are
};
[[nodiscard]] std::vector<DapperVariant> dapper_variants(bool quick);

// One application on one network.
struct DapperRun {
  double cycles{};        // of the cores, all launches
  double energy_pj{};     // of the network
  double energy_pj_mc{};  // of it: reading and writing the output buffers
  std::map<std::string, double> components_pj;
  double request_latency{}, reply_latency{};  // network cycles
  double replies{};                           // read replies
  double approximable_share{};                // of them
  double changed_share{};                     // of them
  double coalesced_share{};                   // of them; dapper
  double load{};                              // flits per node and cycle
  double output_occupancy{};
  nlohmann::json settings;
  std::map<std::string, OutputError> outputs;  // by name; of the exact run: no error
  OutputError error;                           // of the application's output
  double cpu_s{};
};

struct DapperStudy {
  std::string size;
  std::map<std::string, std::map<std::string, DapperRun>> runs;  // [application][variant]
  nlohmann::json pictures = nlohmann::json::array();

  [[nodiscard]] const DapperRun* find(const std::string& application,
                                      const std::string& variant) const;
};

struct DapperRequest {
  std::string out;
  std::string size;
  bool quick{};
  unsigned at_once{2};
};

// Runs what is not in the folder already. `done` is told after each run. Errors: those of the runs,
// cancelled.
[[nodiscard]] Result<DapperStudy> run_dapper_study(
    const DapperRequest& request,
    const std::function<void(const std::string&, double, double)>& done);

// Figures 1, 3a, 7a, 7b, 8a to 8c, 9 and 10, and Table 1.
void add_dapper_rows(Reproduction& out, const DapperStudy& study);
// What the paper says in two ways.
[[nodiscard]] nlohmann::json dapper_inconsistencies();

}  // namespace ww::cli
