#include "reproduction/reproduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <tuple>

#include "ww/report/number_text.hpp"

namespace ww::study {
namespace {

using nlohmann::json;

std::string headline_figure(const json& value, const std::string& unit) {
  if (value.is_null()) return "-";
  return with_unit(
      value.is_string() ? value.get<std::string>() : report::number_text(value.get<double>(), 3),
      unit);
}

// How far apart two numbers are, as one would say it.
std::string distance_in_words(double paper, double ours) {
  if (std::abs(ours - paper) <= 0.2 * std::abs(paper)) return "within a fifth of the paper's";
  if (paper == 0 || paper * ours < 0) return "the opposite sign";
  const double ratio = ours / paper;
  if (ratio > 1) return fmt::format("{} times the paper's", report::number_text(ratio, 2));
  return fmt::format("{:.0f}% of the paper's", 100 * ratio);
}

std::string verdict_of(const ReproductionRow& row) {
  const std::string& status = row.status;
  if (status == kMatches) return "as the paper says";
  if (status == kByConstruction) return "set by us, so it proves nothing";
  if (status == kVacuous) return "holds only because nothing happened";
  if (status == kPicture) return "the paper has a picture alone";
  if (status == kUnavailable || row.ours.is_null()) return "missing here";
  if (row.paper.is_number() && row.ours.is_number()) {
    return distance_in_words(row.paper.get<double>(), row.ours.get<double>());
  }
  if (status != kOurs) return "differs";
  return row.paper.is_null() ? "no figure in the paper" : "another reading, not judged";
}

// Table 1 is {0, 1, ""}, Fig. 8a {1, 8, "a"}, section 4.3 {2, 4, ".3"}.
std::tuple<int, int, std::string> place_of(std::string_view figure) {
  const std::string_view kinds[] = {"Table", "Fig.", "section", "Sec."};
  int kind = 0;
  for (const std::string_view prefix : kinds) {
    if (figure.starts_with(prefix)) break;
    ++kind;
  }
  if (kind == static_cast<int>(std::size(kinds))) return {kind, 0, std::string(figure)};
  std::string_view rest = figure.substr(kinds[static_cast<std::size_t>(kind)].size());
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  int number = 0;
  while (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest.front())) != 0) {
    number = 10 * number + (rest.front() - '0');
    rest.remove_prefix(1);
  }
  return {std::min(kind, 2), number, std::string(rest)};
}

}  // namespace

void Reproduction::headline(std::string claim, std::string_view figure, std::string_view quantity) {
  const auto row = std::ranges::find_if(rows, [&](const ReproductionRow& one) {
    return one.figure == figure && one.quantity.find(quantity) != std::string::npos;
  });
  if (row == rows.end()) return;
  summary.push_back({std::move(claim), headline_figure(row->paper, row->unit),
                     headline_figure(row->ours, row->unit), verdict_of(*row)});
}

std::string with_unit(const std::string& text, const std::string& unit) {
  const bool has_number = text.find_first_of("0123456789") != std::string::npos;
  const bool without = unit.empty() || !has_number || text.ends_with(unit);
  return without ? text : text + " " + unit;
}

void sort_by_figure(std::vector<ReproductionRow>& rows) {
  std::ranges::stable_sort(rows, {}, [](const ReproductionRow& row) {
    return std::tuple{row.status == kOurs, place_of(row.figure)};
  });
}

nlohmann::ordered_json to_json(const Reproduction& reproduction) {
  nlohmann::ordered_json result{{"summary", json::array()}, {"counts", json::object()}};
  for (const HeadlineClaim& one : reproduction.summary) {
    result["summary"].push_back(
        {{"claim", one.claim}, {"paper", one.paper}, {"ours", one.ours}, {"verdict", one.verdict}});
  }
  for (const char* status :
       {kMatches, kDiffers, kByConstruction, kVacuous, kUnavailable, kPicture, kOurs}) {
    result["counts"][status] =
        std::ranges::count(reproduction.rows, std::string(status), &ReproductionRow::status);
  }
  result["rows"] = json::array();
  for (const ReproductionRow& row : reproduction.rows) {
    result["rows"].push_back({{"figure", row.figure},
                              {"quantity", row.quantity},
                              {"paper", row.paper},
                              {"ours", row.ours},
                              {"unit", row.unit},
                              {"status", row.status},
                              {"note", row.note}});
  }
  return result;
}

}  // namespace ww::study
