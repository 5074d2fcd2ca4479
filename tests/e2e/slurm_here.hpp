// A Slurm of this machine's own for as long as the object lives (tests/slurm/slurm_here), or a
// federation of two clusters (tests/slurm/slurm_federation_here).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sweep_folder.hpp"

namespace ww::e2e {

class SlurmHere {
 public:
  // `more`: lines for slurm.conf.
  explicit SlurmHere(const std::string& more = {}) : SlurmHere("slurm_here", "slurm.conf", more) {}
  // Slurm's programs speak to the cluster `near`; the other one is `far`.
  static std::unique_ptr<SlurmHere> federation() {
    return std::unique_ptr<SlurmHere>(
        new SlurmHere("slurm_federation_here", "near/slurm.conf", {}));
  }

  ~SlurmHere() {
    if (running_) std::ignore = act("stop");
  }
  SlurmHere(const SlurmHere&) = delete;
  SlurmHere& operator=(const SlurmHere&) = delete;
  [[nodiscard]] bool running() const { return running_; }
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  [[nodiscard]] Finished act(const std::string& action, const std::string& daemon = {}) const {
    std::vector<std::string> command{(source_folder() / "tests/slurm" / script_).string(), action,
                                     folder_.path().string()};
    if (!daemon.empty()) command.push_back(daemon);
    // The daemons outlive the call: its output goes to a file, not to a pipe that they would hold.
    const auto log = folder_.path() / "slurm_here.log";
    std::string line;
    for (const auto& word : command) line += "'" + word + "' ";
    auto finished = run({"sh", "-c", line + ">'" + log.string() + "' 2>&1 </dev/null"});
    finished.err = text_of(log);
    return finished;
  }
  void restart(const std::string& daemon) const {
    EXPECT_EQ(act("kill-daemon", daemon).exit_code, 0);
    const auto started = act("start-daemon", daemon);
    EXPECT_EQ(started.exit_code, 0) << started.err;
  }

 private:
  SlurmHere(std::string script, const char* conf, const std::string& more)
      : script_(std::move(script)) {
    std::ofstream(folder_.path() / "more.conf") << more;
    ::setenv("SLURM_HERE_CONF", (folder_.path() / "more.conf").c_str(), 1);
    const auto started = act("start");
    ::unsetenv("SLURM_HERE_CONF");
    running_ = started.exit_code == 0;
    why_not_ = started.err;
    if (running_) ::setenv("SLURM_CONF", (folder_.path() / conf).c_str(), 1);
  }
  TemporaryFolder folder_;
  std::string script_;
  bool running_{};
  std::string why_not_;
};

}  // namespace ww::e2e
