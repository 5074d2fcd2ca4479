// The unit that calibrations of crossings and of dies have their energies in.
#pragma once

namespace ww::model {

inline constexpr double kJoulesPerPj = 1e-12;

}  // namespace ww::model
