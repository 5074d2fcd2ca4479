// Reads and writes the files that a submission leaves in its folder.
#pragma once

#include "ww/sweep/slurm.hpp"

namespace ww::sweep {

// Writes jobs.json. `ended`: nothing of the submission is in the queue any more.
Status write_jobs(const SlurmJobs& jobs, bool ended = false);

// The file that the collecting job leaves as it starts, when all tasks have ended.
[[nodiscard]] std::filesystem::path tasks_ended(const std::filesystem::path& submission);

// The scripts with their arguments, as squeue shows them.
[[nodiscard]] std::vector<std::string> task_script(const std::filesystem::path& submission,
                                                   std::uint64_t first_chunk);
[[nodiscard]] std::filesystem::path collect_script(const std::filesystem::path& submission);

[[nodiscard]] std::filesystem::path submission_folder(const std::filesystem::path& sweep,
                                                      int submission);
// 0: none.
[[nodiscard]] int last_submission(const std::filesystem::path& sweep);

// Waits; false when interrupted.
bool wait_for(std::chrono::milliseconds time);

}  // namespace ww::sweep
