// Rows, headline claims and charts of a reproduction, which every study fills.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ww::study {

// Relation between the paper's figure and ours, as a row states it.
inline constexpr const char* kMatches = "matches";
inline constexpr const char* kDiffers = "differs";
// The figure set a constant of the virtual chip, or the method allows no other answer.
inline constexpr const char* kByConstruction = "by_construction";
// The row agrees, but only because nothing happened that could have made it fail.
inline constexpr const char* kVacuous = "vacuous";
// The paper shows its value in a picture alone. Ours has nothing to be compared with.
inline constexpr const char* kPicture = "picture";
// A question of ours: another reading, an ablation, a bound. It is not counted with the paper's.
inline constexpr const char* kOurs = "ours";
// The paper states a figure and we have none; the note says why.
inline constexpr const char* kUnavailable = "unavailable";

[[nodiscard]] constexpr const char* matches_when(bool holds) {
  return holds ? kMatches : kDiffers;
}

struct ReproductionRow {
  std::string figure, quantity;
  nlohmann::json paper, ours;  // a number, words, or null
  std::string unit;
  std::string status;  // one of the above
  std::string note;
};

// A headline of the paper with what is reproduced of it: the first thing that a reader sees.
struct HeadlineClaim {
  std::string claim, paper, ours, verdict;
};

struct Reproduction {
  std::vector<HeadlineClaim> summary;
  std::vector<ReproductionRow> rows;
  nlohmann::json charts = nlohmann::json::array();

  void add(ReproductionRow row) { rows.push_back(std::move(row)); }

  // Makes a headline of the first row of `figure` whose quantity contains `quantity`. Its verdict
  // in words comes from the row's status and figures. Without such a row there is no headline.
  void headline(std::string claim, std::string_view figure, std::string_view quantity);
};

// The paper's tables come first, then its figures, its sections and everything else, each in order
// of number. Rows of our own come last.
void sort_by_figure(std::vector<ReproductionRow>& rows);

// The text of a figure with its unit. Words without a number ("linear"), and words that name the
// unit themselves ("within 15%"), get none.
[[nodiscard]] std::string with_unit(const std::string& text, const std::string& unit);

// {summary: [{claim, paper, ours, verdict}], counts: {status: rows}, rows: [{figure, quantity,
// paper, ours, unit, status, note}]} in this order.
[[nodiscard]] nlohmann::ordered_json to_json(const Reproduction& reproduction);

}  // namespace ww::study
