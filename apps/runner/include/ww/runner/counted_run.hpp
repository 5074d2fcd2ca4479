// A program on a virtual GPU with everything that its driver can record.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/microbench/device_request.hpp"

namespace ww::runner {

struct CountedRunOptions {
  bool trace{};
  bool sealed{};  // for `wirewatt score` alone
  bool quiet{};   // throw the program's stdout away
  // A program that was interrupted, or made no use of the device, is no error: the files are those
  // that there are.
  bool keeps_what_there_is{};
};

struct CountedRun {
  ScratchFolder folder;
  int exit_code{};
  std::vector<std::string> counters, samples, traces, sealed;  // a file for each process
  bool asked_to_end{};                                         // a signal asked this process to end
};

// Errors: those of enter_virtual_device and run_in_foreground; bad_data where the program made no
// use of the device.
[[nodiscard]] Result<CountedRun> run_counted(const microbench::DeviceRequest& device,
                                             const std::vector<std::string>& command,
                                             const CountedRunOptions& options);

}  // namespace ww::runner
