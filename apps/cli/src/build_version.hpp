// Identifies this build: the version, and the commit where the source is a clone.
#pragma once

namespace ww::cli {

[[nodiscard]] const char* build_version();  // "0.2.0+git202611221611.27d5c68"

}  // namespace ww::cli
