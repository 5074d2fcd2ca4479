#include "build_version.hpp"

namespace ww::cli {

const char* build_version() {
  return WW_BUILD;
}

}  // namespace ww::cli
