// A performance group of LIKWID (its user groups, $HOME/.likwid/groups/PART/NAME.txt) whose metrics
// are a calibration's joules and watts of wires: counters times constants.
#pragma once

#include <string>
#include <vector>

#include "ww/core/figure.hpp"
#include "ww/core/result.hpp"
#include "ww/model/estimate.hpp"

namespace ww::session {

struct LikwidSegment {
  std::string name;        // "l1_l2"
  Interval pj_per_byte{};  // of a byte of unknown data
};
struct LikwidGroup {
  std::string text;
  std::vector<LikwidSegment> segments;
  std::vector<std::string> left_out;  // segments without a metric: which and why
};

// A group has one set of counters, so segments whose counters the hardware cannot count beside the
// others' are left out: first registers-L1, then L2-memory. `part`: "gfx90a". Errors: unsupported
// (a part whose counters are not known or not AMD's, no segment left).
[[nodiscard]] Result<LikwidGroup> likwid_group(const model::WireModel& wires,
                                               const std::string& part);

}  // namespace ww::session
