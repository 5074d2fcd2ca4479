// "Did you mean": the name that a misspelt one comes closest to.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ww {

// Letters to insert, delete, replace or swap with their neighbour (Damerau 1964, adjacent
// transpositions alone).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// "; did you mean 'mesh'?" for the closest candidate within a third of the name's letters (at
// least one); empty where none is that close. Upper and lower case are the same.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       const std::vector<std::string_view>& candidates);

}  // namespace ww
