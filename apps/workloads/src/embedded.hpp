// The texts of cl/*, generated into the build folder by kernels/cmake/EmbedKernels.cmake.
#pragma once

#include <string_view>

namespace ww::workloads {

// Empty when there is no such file.
[[nodiscard]] std::string_view embedded_text(std::string_view name);

}  // namespace ww::workloads
