// The joules by label as people and programs read them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "label_joules.hpp"

namespace ww::kokkos {

// Those with most joules of the device first. Says so where a chip is virtual.
[[nodiscard]] std::string table_of(const LabelJoules& joules);
[[nodiscard]] nlohmann::json json_of(const LabelJoules& joules);

}  // namespace ww::kokkos
