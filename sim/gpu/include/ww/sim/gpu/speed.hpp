// The emulator's shortcuts by name.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "ww/core/result.hpp"

namespace ww::sim::gpu {

// Which shortcuts the emulator takes. None of them changes an answer: bytes, counters, chip time
// and energies are the same. With `none` it executes every instruction of every launch when it
// issues. The values between take one shortcut at every chance, with what that one needs and no
// other: they are there to compare it with `none`.
enum class Speed : std::uint8_t {
  none,
  run_ahead,      // straight-line code is executed at once, and charged for as it issues
  translate,      // straight-line code becomes host code
  share_commits,  // threads share the accounting behind the L1s
  replay,         // equal launches without side effects are not executed again
  all
};
inline constexpr std::array kSpeeds{Speed::all,       Speed::none,          Speed::run_ahead,
                                    Speed::translate, Speed::share_commits, Speed::replay};

[[nodiscard]] constexpr std::string_view to_string(Speed speed) {
  switch (speed) {
    case Speed::none: return "none";
    case Speed::run_ahead: return "run_ahead";
    case Speed::translate: return "translate";
    case Speed::share_commits: return "share_commits";
    case Speed::replay: return "replay";
    case Speed::all: return "all";
  }
  return "unknown";
}
// Error invalid_argument for any other text.
[[nodiscard]] inline Result<Speed> speed_from_string(std::string_view text) {
  std::string names;
  for (const Speed speed : kSpeeds) {
    if (text == to_string(speed)) return speed;
    names += (names.empty() ? "" : ", ") + std::string(to_string(speed));
  }
  return fail(ErrorCode::invalid_argument, "\"" + std::string(text) + "\" is not one of " + names);
}

}  // namespace ww::sim::gpu
