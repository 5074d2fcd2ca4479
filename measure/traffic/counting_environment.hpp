// The variables with which AMD's runtimes load wirewatt's tool library.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/counted/in_process.hpp"

namespace ww::measure {

// `folder`: where the tool library leaves its files. Errors: those of tool_library.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> counting_environment(
    const CountingSdk& sdk, const std::filesystem::path& folder,
    const std::vector<std::string>& counters);

}  // namespace ww::measure
