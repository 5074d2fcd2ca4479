// The estimate of a program's interconnect energy beside the sealed truth of the same run.
#include "commands/score_estimate.hpp"

#include <fmt/format.h>

#include "estimate/estimate_command.hpp"
#include "ww/score/score.hpp"

namespace ww::cli {

Result<calibration::Answer> score_estimate(const std::string& model,
                                           const microbench::DeviceRequest& device,
                                           const std::vector<std::string>& command) {
  EstimateArguments arguments;
  arguments.model = model;
  arguments.device = device;
  arguments.command = command;
  arguments.sealed = true;
  arguments.anyway = true;  // how wrong a flagged model is can be asked; its figures stay marked
  arguments.json = true;    // the program's own output stays away
  WW_ASSIGN(done, read_application(arguments));
  if (done.program_exit_code != 0) {
    return fail(ErrorCode::bad_data,
                fmt::format("the program ended with {}", done.program_exit_code), command.front());
  }
  WW_ASSIGN(sums, score::sealed_sums(done.sealed));
  return done.model->score_application(done.traffic, done.request, sums);
}

}  // namespace ww::cli
