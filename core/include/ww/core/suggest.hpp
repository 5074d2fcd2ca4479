// "Did you mean": finds the name that is closest to a misspelt one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ww {

// Number of letters to insert, delete, replace or swap with their neighbour (Damerau 1964,
// adjacent transpositions only).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

// Returns the candidate within a third of the name's letters (at least one) that is closest to it,
// or an empty text if none is that close. Upper and lower case are equal.
[[nodiscard]] std::string_view nearest_name(std::string_view name,
                                            const std::vector<std::string_view>& candidates);

// Returns "; did you mean 'mesh'?" for the nearest candidate, or an empty text if none is near.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       const std::vector<std::string_view>& candidates);

}  // namespace ww
