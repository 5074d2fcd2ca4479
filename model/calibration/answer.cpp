#include "ww/calibration/answer.hpp"

namespace ww::calibration {

std::string answer_text(const Answer& answer) {
  std::string shown;
  for (const Block& block : answer.text) {
    if (const auto* table = std::get_if<Table>(&block)) {
      shown += table_text(*table);
    } else {
      shown += std::get<std::string>(block) + '\n';
    }
  }
  return shown;
}

}  // namespace ww::calibration
