// Runs the program under test as a user would.
#pragma once

#include <chrono>
#include <filesystem>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ww/core/temporary_folder.hpp"

namespace nlohmann {
// How GoogleTest prints a document: compiled once.
void PrintTo(const json& document, std::ostream* out);
}  // namespace nlohmann

namespace ww::e2e {

struct Finished {
  int exit_code{};  // -signal when killed by one
  std::string out;
  std::string err;

  // Returns the program's output as a document; discarded where it is none.
  [[nodiscard]] nlohmann::json json() const;
};

// Discarded where `text` is no document.
[[nodiscard]] nlohmann::json parse_json(std::string_view text);
[[nodiscard]] nlohmann::json parse_json(std::istream& text);

using Environment = std::vector<std::pair<std::string, std::string>>;

// Runs a program to its end. With `kill_after`, sends SIGKILL to it and its children after that
// time.
[[nodiscard]] Finished run(const std::vector<std::string>& command, const Environment& extra = {},
                           std::optional<std::chrono::milliseconds> kill_after = {});

// Path of the wirewatt program in this build.
[[nodiscard]] std::string wirewatt();
[[nodiscard]] std::filesystem::path source_folder();
[[nodiscard]] std::filesystem::path build_folder();

// A run that the fixture `recordings` made for several tests (tests/e2e/record says which).
struct Recording {
  nlohmann::json printed;  // discarded where it is none
  std::chrono::milliseconds took{};
};

// Copies the folder of the recording `name` to `to`, because whoever opens a campaign may change
// it. Throws where ctest made no recording.
[[nodiscard]] Recording copy_recording(const std::string& name, const std::filesystem::path& to);

// A folder that is removed at the end.
class TemporaryFolder : public ScratchFolder {
 public:
  TemporaryFolder() : ScratchFolder(create("e2e").value()) {}
};

}  // namespace ww::e2e
