// Slurm's own programs, called and understood.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::sweep {

// Runs one of Slurm's programs and gives what it printed. Errors: missing_dependency (it is not
// installed), device_error (what it said on stderr), cancelled.
[[nodiscard]] Result<std::string> slurm(const std::vector<std::string>& command,
                                        bool despite_interrupt = false);

// Tasks in the queue by state, finished ones too while the controller remembers them.
struct QueueStates {
  std::map<std::string, std::size_t> tasks;    // PENDING, RUNNING, COMPLETED, ...
  std::map<std::string, std::size_t> waiting;  // pending ones by Slurm's reason
  [[nodiscard]] std::size_t active() const;
};
// Errors as slurm(). Jobs that the controller has forgotten count as ended.
[[nodiscard]] Result<QueueStates> queue_states(const std::vector<std::string>& jobs);

// 'it'\''s': as the shell reads it back.
[[nodiscard]] std::string shell_quoted(const std::string& text);

}  // namespace ww::sweep
