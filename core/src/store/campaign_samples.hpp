// The bulk of a campaign: samples, wavefronts and turns of its runs, read by several threads.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ww/core/campaign_store.hpp"

namespace ww {

// A run whose row has been read, to be filled.
struct RunToFill {
  std::int64_t id{};
  StoredRun* run{};
};

// Fills the runs from `file`, each thread over a connection of its own; one more checks the pages
// meanwhile. Runs are written once, in one transaction, so it does not matter which moment of a
// growing campaign a connection sees. Error parse_error: the file is damaged.
[[nodiscard]] Status fill_runs(const std::string& file, std::span<const RunToFill> runs);

// Error parse_error where a page of the file is damaged; reads all of it.
[[nodiscard]] Status check_pages(const std::string& file);

}  // namespace ww
