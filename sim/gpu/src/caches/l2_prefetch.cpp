#include "caches/l2_prefetch.hpp"

namespace ww::sim::gpu::exec {

void L2Prefetch::choose_victims(std::uint32_t line, unsigned lines) {
  if (!tags_.can_search_rows()) {
    return;
  }
  const std::uint32_t first = tags_.first_of(line);
  if (lines == 1 ? tags_.tag_[tags_.last_place(line, first)] == line
                 : tags_.side_by_side(line, lines, first) != L2Tags::kNone) {
    return;
  }
  L2Tags::Bank& bank = tags_.bank_of(line);
  if (tags_.is_current(bank, tags_.row_of(bank, line), line)) {
    return;
  }
  const L2Tags::Row& row = tags_.search_row(bank, line);
  for (std::uint32_t i = 0; i < L2Tags::kColumns; ++i) {
    if (i != 0 && row.slot[i] == row.slot[i - 1] + 1) {
      continue;
    }
    prefetch_to_write(&tags_.ready_[row.slot[i]]);
    prefetch_to_write(&tags_.dirty_[row.slot[i]]);
  }
}

}  // namespace ww::sim::gpu::exec
