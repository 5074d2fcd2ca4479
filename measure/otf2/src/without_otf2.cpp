#include <filesystem>

#include "ww/otf2/power_trace.hpp"

namespace ww::otf2 {

bool is_trace(const std::string& path) {
  return std::filesystem::path(path).extension() == ".otf2";
}

Result<PowerTrace> read_power_trace(const std::string& path) {
  return fail(ErrorCode::missing_dependency,
              "this wirewatt was built without OTF2's library, which reads traces of Score-P "
              "(Debian: libopen-trace-format2-dev)",
              path);
}

}  // namespace ww::otf2
