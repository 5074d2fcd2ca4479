// A program that runs while this one shows something; its output is kept and printed at the end.
#pragma once

#include <future>
#include <string>
#include <utility>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/core/subprocess.hpp"

namespace ww::cli {

class WatchedProgram {
 public:
  using Environment = std::vector<std::pair<std::string, std::string>>;
  // `environment` is added to this process's.
  explicit WatchedProgram(const std::vector<std::string>& command,
                          const Environment& environment = {});
  [[nodiscard]] bool ended() const;
  // Ends it where it still runs. Call once.
  Result<ProcessResult> finish();
  // Shows the result of finish() to the user: prints what the program printed and returns its
  // exit code; 0 if it was ended. Call when the screen is given back.
  static Result<int> show_result(const Result<ProcessResult>& finished);

 private:
  std::future<Result<ProcessResult>> result_;
};

}  // namespace ww::cli
