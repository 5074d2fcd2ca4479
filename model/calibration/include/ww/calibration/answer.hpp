// The answer of a calibration: one JSON document, and the same for people as lines and tables.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ww/calibration/priced.hpp"
#include "ww/core/result.hpp"
#include "ww/core/table.hpp"

namespace ww::calibration {

using Block = std::variant<std::string, Table>;  // a line, or a table

struct Answer {
  nlohmann::json json;
  std::vector<Block> text;
  // Why the answer has no figure at all; a command reports it behind the answer.
  std::optional<Error> lacking;
  // The total of an estimate in rows, which are named as Calibration::priced_rows() says.
  std::optional<Priced> priced;
};

// The lines and tables as a terminal shows them.
[[nodiscard]] std::string answer_text(const Answer& answer);

}  // namespace ww::calibration
