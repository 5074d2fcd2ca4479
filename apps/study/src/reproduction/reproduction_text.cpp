// A reproduction as text for a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "reproduction/reproduction.hpp"
#include "ww/report/number_text.hpp"
#include "ww/study/reproduce.hpp"

namespace ww::study {
namespace {

using nlohmann::ordered_json;

using Widths = std::array<std::size_t, 4>;
constexpr Widths kSummaryWidths{48, 20, 18, 26};
constexpr Widths kRowWidths{54, 20, 20, 15};

// A text in lines of at most `width` characters, broken at spaces where there are some.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (text.size() > width) {
    std::size_t cut = text.rfind(' ', width);
    if (cut == std::string_view::npos || cut == 0) cut = width;
    lines.emplace_back(text.substr(0, cut));
    text.remove_prefix(cut);
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  lines.emplace_back(text);
  return lines;
}

// One row of four columns; cells that are too long go on in further lines.
std::string row_text(const std::array<std::string, 4>& cells, const Widths& widths,
                     std::string_view indent) {
  std::array<std::vector<std::string>, 4> columns;
  std::size_t lines = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    columns[i] = wrapped(cells[i], widths[i]);
    lines = std::max(lines, columns[i].size());
  }
  std::string text;
  for (std::size_t line = 0; line < lines; ++line) {
    std::string one(indent);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string part = line < columns[i].size() ? columns[i][line] : std::string();
      one += i + 1 < cells.size() ? fmt::format("{:<{}}  ", part, widths[i]) : part;
    }
    text += one.substr(0, one.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string figure_cell(const ordered_json& value, const std::string& unit) {
  if (value.is_null()) return "-";
  return with_unit(
      value.is_number() ? report::number_text(value.get<double>()) : value.get<std::string>(),
      unit);
}

// "4 match the paper, 12 differ from it, ...": statuses without rows are left out.
std::string counts_text(const ordered_json& counts) {
  constexpr std::pair<const char*, const char*> kWords[] = {
      {kMatches, "match the paper"},       {kDiffers, "differ from it"},
      {kByConstruction, "were set by us"}, {kVacuous, "hold only because nothing happened"},
      {kUnavailable, "are missing here"},  {kPicture, "have a picture alone in the paper"},
      {kOurs, "are questions of ours"}};
  std::vector<std::string> parts;
  for (const auto& [status, words] : kWords) {
    if (const int rows = counts.value(status, 0); rows > 0) {
      parts.push_back(fmt::format("{} {}", rows, words));
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string reproduction_text(const ordered_json& reproduction) {
  std::string text =
      row_text({"CLAIM OF THE PAPER", "PAPER", "OURS", "VERDICT"}, kSummaryWidths, "");
  for (const auto& one : reproduction.at("summary")) {
    text += row_text({one.at("claim"), one.at("paper"), one.at("ours"), one.at("verdict")},
                     kSummaryWidths, "");
  }
  text += "\n";
  const auto& rows = reproduction.at("rows");
  for (const std::string& line :
       wrapped(fmt::format("Of {} rows, {}.", rows.size(), counts_text(reproduction.at("counts"))),
               118)) {
    text += line + "\n";
  }
  std::string figure;
  bool ours = false;
  for (const auto& row : rows) {
    if (row.at("status") == kOurs && !ours) {
      ours = true;
      figure.clear();
      text += "\nQUESTIONS OF OURS: other readings, ablations and bounds\n";
    }
    if (row.at("figure") != figure) {
      figure = row.at("figure");
      text += "\n" + row_text({figure, "PAPER", "OURS", "STATUS"},
                              {kRowWidths[0] + 2, kRowWidths[1], kRowWidths[2], kRowWidths[3]}, "");
    }
    const std::string unit = row.at("unit");
    text += row_text({row.at("quantity"), figure_cell(row.at("paper"), unit),
                      figure_cell(row.at("ours"), unit), row.at("status")},
                     kRowWidths, "  ");
  }
  return text + "\n";
}

}  // namespace ww::study
