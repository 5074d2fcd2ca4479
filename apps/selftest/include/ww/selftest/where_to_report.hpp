// The place of the project for faults and for files of cards.
#pragma once

#include <string_view>

namespace ww::selftest {

// Where faults are reported, and where owners of cards send their files. The project has no page of
// its own yet. Once it has, its address stands here: the program names it, and scripts and pages
// take it from the program (`wirewatt --version`, `wirewatt selftest --cards`).
inline constexpr std::string_view kWhereToReport =
    "an issue of the repository that this wirewatt was built from (of a package: that of its "
    "maintainer)";

}  // namespace ww::selftest
