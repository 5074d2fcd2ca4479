#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "ww/core/log.hpp"
#include "ww/sweep/result_files.hpp"
#include "ww/sweep/slurm.hpp"

namespace ww::sweep {
namespace {

namespace fs = std::filesystem;

constexpr double kMinBetweenS = 1;
constexpr double kMaxBetweenS = 300;
constexpr std::streamoff kChunkLine = 26;  // "%016u %08u\n"

Result<std::vector<Work>> chunk_points(const fs::path& folder, std::uint64_t chunk) {
  const auto damaged = [&](const char* file) {
    return fail(ErrorCode::io_error, fmt::format("cannot read chunk {}", chunk),
                (folder / file).string());
  };
  std::ifstream chunks(folder / "chunks", std::ios::binary);
  chunks.seekg(static_cast<std::streamoff>(chunk) * kChunkLine);
  std::uint64_t offset = 0;
  std::uint64_t count = 0;
  if (!(chunks >> offset >> count)) return damaged("chunks");
  std::ifstream points(folder / "points.jsonl", std::ios::binary);
  points.seekg(static_cast<std::streamoff>(offset));
  std::vector<Work> all;
  std::string line;
  while (count-- > 0) {
    if (!std::getline(points, line)) return damaged("points.jsonl");
    const auto document = nlohmann::json::parse(line, nullptr, false);
    try {
      Work work;
      WW_ASSIGN(hash, PointHash::from_text(document.at("point").get<std::string>()));
      work.hash = hash;
      document.at("arguments").get_to(work.arguments);
      // Slurm has put it on the machine that was asked for, whatever that calls itself.
      all.push_back(std::move(work));
    } catch (const nlohmann::json::exception&) {
      return damaged("points.jsonl");
    }
  }
  return all;
}

// Removes this task's log if it is empty, so that a large sweep leaves fewer files.
void drop_empty_log(const fs::path& folder) {
  const char* job = std::getenv("SLURM_ARRAY_JOB_ID");
  const char* task = std::getenv("SLURM_ARRAY_TASK_ID");
  if (job == nullptr || task == nullptr) return;
  const auto file = folder / fmt::format("{}_{}.log", job, task);
  std::error_code ec;
  if (fs::file_size(file, ec) == 0 && !ec) fs::remove(file, ec);
}

}  // namespace

Status run_chunk(const Sweep& sweep, int submission, std::uint64_t chunk, const Program& program) {
  constexpr std::uint64_t chunks_a_folder = 1000;
  const auto folder = sweep.folder / "slurm" / std::to_string(submission);
  WW_ASSIGN(work, chunk_points(folder, chunk));
  const auto tag = fmt::format("s{}-c{:07}", submission, chunk);
  const auto results = sweep.results() / fmt::format("s{}-{}", submission, chunk / chunks_a_folder);
  std::unordered_set<PointHash, PointHasher> have;
  WW_TRY(read_records(
      results,
      [&](Record&& record) -> Status {
        have.insert(record.hash);
        return {};
      },
      tag));
  if (!have.empty()) log::info("{} points of this task were done before", have.size());
  // Killed outright, a task loses a fifth of its work at most; asked to end, nothing.
  const std::chrono::duration<double> between(
      std::clamp(sweep.plan->slurm.chunk_s / 5, kMinBetweenS, kMaxBetweenS));
  WW_ASSIGN(writer, ResultWriter::create(results, tag, between));
  std::size_t next = 0;
  WW_TRY(run_work(
      *sweep.plan, sweep.folder, sweep.plan->slurm.slots, program,
      [&]() -> std::optional<Work> {
        while (next < work.size() && have.contains(work[next].hash)) ++next;
        if (next == work.size()) return std::nullopt;
        return std::move(work[next++]);
      },
      writer, [](const Record&) {}));
  drop_empty_log(folder);
  return {};
}

}  // namespace ww::sweep
