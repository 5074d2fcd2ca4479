// Recordings that are read where they lie, because they have no folder or it is not used.
#pragma once

#include <string>

#include "process.hpp"

namespace ww::e2e {

// The recording `name` without its folder. Throws where ctest made no recording.
[[nodiscard]] Recording read_recording(const std::string& name);

}  // namespace ww::e2e
