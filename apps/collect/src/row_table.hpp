// The table of counted launches of this process, which is whole on the disk after each launch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "collector.hpp"
#include "ww/core/result.hpp"
#include "ww/core/streamed_file.hpp"

namespace ww::collect {

// A launch as its row has it.
struct Launch {
  std::uint64_t dispatch{};
  std::uint32_t agent{};  // its node
  std::uint64_t queue{};
  std::uint64_t kernel_id{};
  std::string kernel;
  std::uint64_t grid_size{};  // work-items
  std::uint64_t workgroup_size{};
  std::uint32_t group_bytes{}, private_bytes{};
};
struct LaunchTimes {
  std::int64_t start_ns{}, end_ns{};  // CLOCK_MONOTONIC
};

class RowTable {
 public:
  // `stem`: the file's name without an ending. Errors: those of StreamedFile::create.
  [[nodiscard]] static Result<RowTable> create(const std::filesystem::path& stem);
  // A row for each counter. Without times, the launch's records never came.
  Status add(const Launch& launch, std::optional<LaunchTimes> times,
             const std::vector<CounterSum>& sums);
  // Gives the file its last name.
  Status finish() { return file_.keep(); }

 private:
  explicit RowTable(StreamedFile file) : file_(std::move(file)) {}
  StreamedFile file_;
  std::string text_;
};

}  // namespace ww::collect
