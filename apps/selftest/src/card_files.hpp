// Reads the kernel's files on this machine's AMD cards.
#pragma once

#include <string>
#include <vector>

#include "ww/selftest/selftest.hpp"

namespace ww::selftest {

// The files that say what a card is and what its driver offers: identity, firmware, clocks, limits,
// the tables of metrics as bytes. Serial numbers and what else names one specimen are left out.
[[nodiscard]] std::vector<CardFile> card_files(const std::string& sysfs);

}  // namespace ww::selftest
