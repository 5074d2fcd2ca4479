// This machine's name and the time, as records carry them.
#pragma once

#include <cstdint>
#include <string>

namespace ww::sweep {

[[nodiscard]] std::string host_name();
[[nodiscard]] std::int64_t now_ms();  // UTC, since 1970

}  // namespace ww::sweep
