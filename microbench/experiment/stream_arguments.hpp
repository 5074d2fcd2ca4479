#pragma once

namespace ww::microbench {

// Arguments of l2_stream, in order.
enum StreamArgument : unsigned {
  buffer_argument,
  channels_argument,
  loops_argument,
  throttle_argument,
  engine_argument,
  log_argument,
  log_first_argument,
  output_argument,
  working_argument,  // these two only where wavefronts are counted
  count_argument,
};
// The lists come last, where lines are listed.
inline constexpr unsigned kListsAlone = working_argument;
inline constexpr unsigned kListsBehindCount = count_argument + 1;

}  // namespace ww::microbench
