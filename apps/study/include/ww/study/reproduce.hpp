// Reproduces a paper: runs its experiments on a virtual GPU and compares each of its figures and
// tables with ours.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::study {

struct ReproduceRequest {
  std::string paper;  // one of papers()
  std::string out;    // folder of calibration or runs, rows and page; what is in it is used again
  std::string size;   // inputs of the applications: small, medium, paper
  bool quick{};       // quick campaign or fewer ablations
  unsigned jobs{2};   // runs of applications at once
  std::string build;  // of this program; runs that another one left in the folder are named
};

// The papers that can be reproduced: iiswc16, dapper, gpuopt.
[[nodiscard]] const std::vector<std::string>& papers();

// Runs what the folder lacks and writes reproduction.json and reproduction.html into it. Returns
// {paper, device, virtual, size, summary: [{claim, paper, ours, verdict}], counts: {status: rows},
// rows: [{figure, quantity, paper, ours, unit, status, note}], charts}, with inconsistencies, runs,
// builds (of this program, that made the runs) and pictures where the paper has them. Reports
// progress on stderr. Runs use this program as a child process, so it must be wirewatt itself.
// Errors: invalid_argument (unknown paper), parse_error (damaged model), device_error, io_error,
// cancelled (Ctrl-C; a further call goes on where this one stopped).
[[nodiscard]] Result<nlohmann::ordered_json> reproduce(const ReproduceRequest& request);

// Formats the result of reproduce() for a terminal: the summary, how many rows have which status,
// and the rows by figure. No line is longer than 118 characters.
[[nodiscard]] std::string reproduction_text(const nlohmann::ordered_json& reproduction);

}  // namespace ww::study
