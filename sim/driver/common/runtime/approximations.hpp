// Which buffers of an unmodified program are approximable, as its settings say from outside.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::sim::driver {

struct ApproximationRule {
  std::string text;        // as written
  std::string kernel;      // with `argument`: by kernel argument
  std::string argument;    // its name, or its index
  std::uint64_t buffer{};  // else: the n-th buffer that the program creates, from 1
  std::uint32_t type{};    // ww_cl_approximable_type
  bool used{};
};

// Each text is as "scale.in:float32", "blur.0:uint8" or "#3:int32". Error invalid_argument with the
// one that is wrong.
[[nodiscard]] Result<std::vector<ApproximationRule>> parse_approximations(
    const std::vector<std::string>& texts);

}  // namespace ww::sim::driver
