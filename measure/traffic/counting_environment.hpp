// The variables with which AMD's runtimes load wirewatt's tool library.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/counted/in_process.hpp"

namespace ww::measure {

// `folder`: where the tool library leaves its files. Errors: those of tool_library.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> counting_environment(
    const CountingSdk& sdk, const std::filesystem::path& folder,
    const std::vector<std::string>& counters);

// Where a library of wirewatt's is: beside the one that this code is in, where a program has loaded
// that; else by the program. It need not be there.
[[nodiscard]] std::filesystem::path place_of_library(std::string_view name);

}  // namespace ww::measure
