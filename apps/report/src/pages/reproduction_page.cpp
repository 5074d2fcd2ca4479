#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "drawing/svg.hpp"
#include "pages/html.hpp"
#include "pages/page_kinds.hpp"
#include "values/values.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/report/number_text.hpp"

namespace ww::report {

using nlohmann::json;

namespace {

std::string base64(const std::string& bytes) {
  constexpr const char* letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t three = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      three = three << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += at + i <= bytes.size() ? letters[three >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

// PNG files of the reproduction's folder, put into the page.
Status add_pictures(Html& page, const json& pictures, const std::filesystem::path& folder) {
  if (pictures.empty()) return {};
  page.section("Output pictures");
  for (const json& picture : pictures) {
    WW_ASSIGN(bytes, read_file(folder / text_of(picture, "file")));
    page.add(
        "<figure><img alt=\"{0}\" src=\"data:image/png;base64,{1}\"><figcaption>{0}{2}"
        "</figcaption></figure>",
        escape(text_of(picture, "variant")), base64(bytes),
        picture.contains("psnr_db")
            ? fmt::format(": PSNR {:.1f} dB, SSIM {:.4f}", number_of(picture, "psnr_db"),
                          number_of(picture, "ssim"))
            : "");
  }
  return {};
}

// A figure as people write it, a text as it is.
std::string plain_cell(const json& value) {
  return value.is_number() ? number_text(value.get<double>()) : cell_text(value);
}

// Points of a design space, and the front that no other point beats.
void add_points(Html& page, const json& figure) {
  Plot plot;
  plot.title = text_of(figure, "title");
  plot.description = text_of(figure, "description");
  plot.x_label = text_of(figure, "x_label");
  plot.y_label = text_of(figure, "y_label");
  plot.series = {{.name = "beaten in both", .colour = 2, .dots = {}},
                 {.name = "the front", .colour = 1, .dots = {}, .dotted = true}};
  for (const json& point : figure.at("points")) {
    Dot dot{number_of(point, "x"), number_of(point, "y"), 0, text_of(point, "name")};
    plot.series[point.value("front", false) ? 1 : 0].dots.push_back(std::move(dot));
  }
  std::ranges::sort(plot.series[1].dots, {}, &Dot::x);
  page.chart(plot.title, plot);
}

// Whether the first line, which is ours, has a point.
bool has_points(const json& figure) {
  return !figure.at("lines").empty() && !list_of(figure.at("lines").front(), "points").empty();
}

// A figure that the paper draws as lines.
void add_lines(Html& page, const json& figure) {
  Plot plot;
  plot.title = text_of(figure, "title");
  plot.description = text_of(figure, "description");
  plot.x_label = text_of(figure, "x_label");
  plot.y_label = text_of(figure, "y_label");
  for (const json& line : figure.at("lines")) {
    Series series{.name = text_of(line, "name"),
                  .colour = static_cast<int>(plot.series.size()) + 1,
                  .dots = {},
                  .line = true,
                  .radius = 3.5,
                  .dotted = true};
    for (const json& point : line.at("points")) {
      series.dots.push_back({number_of(point, "x"), number_of(point, "y"), 0, {}});
    }
    plot.series.push_back(std::move(series));
  }
  page.chart(plot.title, plot);
}

}  // namespace

Result<std::string> reproduction_page(const json& reproduction,
                                      const std::filesystem::path& folder) {
  Html page("Reproduction of " + text_of(reproduction, "paper"),
            reproduction.value("virtual", true));
  std::map<std::string, int> count;
  for (const json& row : reproduction.at("rows")) ++count[text_of(row, "status")];
  std::string statuses;
  for (const auto& [status, rows] : count) {
    statuses += fmt::format("{}{} {}", statuses.empty() ? "" : ", ", rows, status);
  }
  page.answer(
      fmt::format("{} of the paper's figures match, {} differ", count["matches"], count["differs"]),
      {statuses + ".",
       fmt::format("The paper's figure where its text states it, beside ours from {}.",
                   text_of(reproduction, "device")),
       "by_construction: the figure set a constant of the virtual chip or of the method, so "
       "agreement proves nothing. vacuous: it holds only because nothing happened. picture: the "
       "paper shows a picture alone. ours: another reading, an ablation or a bound, which the "
       "paper does not have. unavailable: missing here."});
  if (const json& builds = list_of(reproduction, "builds"); builds.size() > 1) {
    std::string names;
    for (const json& build : builds) {
      names += (names.empty() ? "" : ", ") + build.get<std::string>();
    }
    page.warn("The runs are of several builds of wirewatt:",
              names + ". Rows that compare them may show what changed in between.");
  }
  if (const json& claims = list_of(reproduction, "summary"); !claims.empty()) {
    Table headlines{"Headline claims of the paper",
                    {{"claim"}, {"paper", true}, {"ours", true}, {"verdict"}},
                    {}};
    for (const json& one : claims) {
      headlines.rows.push_back({text_of(one, "claim"), text_of(one, "paper"), text_of(one, "ours"),
                                text_of(one, "verdict")});
    }
    page.section("The paper's claims, in short");
    page.table(headlines);
  }
  for (const json& figure : list_of(reproduction, "charts")) {
    if (figure.contains("points")) {
      add_points(page, figure);
      continue;
    }
    if (figure.contains("lines") && has_points(figure)) {
      add_lines(page, figure);
      continue;
    }
    BarChart chart;
    chart.title = text_of(figure, "title");
    chart.description = text_of(figure, "description");
    chart.unit = text_of(figure, "unit");
    chart.mark_name = text_of(figure, "mark");
    for (const json& name : list_of(figure, "legend")) {
      chart.legend.push_back(name.get<std::string>());
    }
    for (const json& entry : list_of(figure, "bars")) {
      Bar bar;
      bar.name = text_of(entry, "name");
      for (const json& part : entry.at("parts")) {
        bar.parts.push_back(part.is_number() ? part.get<double>() : 0.0);
      }
      if (const double mark = number_of(entry, "mark"); std::isfinite(mark)) bar.mark = mark;
      chart.bars.push_back(std::move(bar));
    }
    if (chart.bars.empty()) {
      page.section(chart.title);
      page.add("<p>No data: the rows below say why.</p>");
      continue;
    }
    page.chart(chart.title, chart);
  }
  WW_TRY(add_pictures(page, list_of(reproduction, "pictures"), folder));
  if (const json& said = list_of(reproduction, "inconsistencies"); !said.empty()) {
    page.section("Where the paper disagrees with itself");
    page.add("<ul>");
    for (const json& line : said) page.add("<li>{}</li>", escape(line.get<std::string>()));
    page.add("</ul>");
  }
  Table table{
      "Every row of the paper's figures and tables",
      {{"figure"}, {"quantity"}, {"paper", true}, {"ours", true}, {"unit"}, {"status"}, {"note"}},
      {}};
  for (const json& row : reproduction.at("rows")) {
    table.rows.push_back({text_of(row, "figure"), text_of(row, "quantity"),
                          plain_cell(row.at("paper")), plain_cell(row.at("ours")),
                          text_of(row, "unit"), text_of(row, "status"), text_of(row, "note")});
  }
  page.section("All rows");
  page.table(table);
  return page.finish();
}

}  // namespace ww::report
