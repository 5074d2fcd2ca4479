// Lists what the fit assumes beforehand: every prior, bound, filter and threshold that can move an
// answer or its interval, with its physical source, and the range from which virtual chips draw the
// same quantity, and what recordings of real cards say of it. The table of docs/method.md is made
// from this list.
#pragma once

#include <string>
#include <vector>

namespace ww::model {

enum class AssumptionKind { prior, bound, filter, threshold };

struct Assumption {
  AssumptionKind kind{};
  std::string quantity;
  std::string value;   // as the code has it
  std::string source;  // physical or statistical
  std::string drawn;   // range of the same quantity over virtual chips; empty: they have none
  std::vector<std::string> constants;  // names of its numbers in the sources
  // Finding of recordings of real cards: "confirmed: ..." or "contradicted: ..." with the figure;
  // empty where none touches it.
  std::string recorded{};
};

[[nodiscard]] std::vector<Assumption> assumptions();
// Writes the assumptions as a Markdown table.
[[nodiscard]] std::string assumptions_markdown();

}  // namespace ww::model
