// Draws a chip, a sensor and a floorplan, and writes the campaign that such a device would record:
//   challenge_generate OUT SEED NUMBER RANGES.toml [ROW.toml]
// OUT gets campaign.db, truth.json and baselines.json. Exit codes: 0 done, 2 usage, 3 the campaign
// ended as it would on such a device (the reason goes to stderr and to OUT/ended.txt).
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recorder.hpp"
#include "ww/core/atomic_file.hpp"

namespace {

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int end_with(const ww::Error& error, int code) {
  std::cerr << "challenge_generate: " << error.text() << '\n';
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto seed = arguments.size() > 1 ? whole_number(arguments[1]) : std::nullopt;
  const auto number = arguments.size() > 2 ? whole_number(arguments[2]) : std::nullopt;
  if (arguments.size() < 4 || !seed || !number) {
    std::cerr << "usage: challenge_generate OUT SEED NUMBER RANGES.toml [ROW.toml]\n";
    return 2;
  }
  const std::filesystem::path out = arguments[0];
  auto draws = ww::challenge::Draws::open({arguments.begin() + 3, arguments.end()}, *seed, *number);
  if (!draws) return end_with(draws.error(), 2);
  std::error_code ec;
  std::filesystem::create_directories(out, ec);
  const auto recording = ww::challenge::record(*draws, *seed + *number, out / "campaign.db");
  if (!recording) {
    if (recording.error().code != ww::ErrorCode::bad_data) return end_with(recording.error(), 2);
    const auto written = ww::write_file_atomically(out / "ended.txt", recording.error().text());
    return end_with(written ? recording.error() : written.error(), 3);
  }
  for (const auto& [name, document] :
       {std::pair{"truth.json", &recording->truth}, {"baselines.json", &recording->baselines}}) {
    if (const auto status = ww::write_file_atomically(out / name, document->dump(1) + "\n");
        !status) {
      return end_with(status.error(), 2);
    }
  }
  return 0;
}
