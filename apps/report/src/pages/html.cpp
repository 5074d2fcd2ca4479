#include "pages/html.hpp"

#include <cctype>

#include "drawing/chart_data.hpp"
#include "pages/embedded.hpp"
#include "ww/core/atomic_file.hpp"

namespace ww::report {

std::string anchor(std::string_view heading) {
  std::string id;
  for (const char c : heading) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      id += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!id.empty() && id.back() != '-') {
      id += '-';
    }
  }
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id.empty() ? "section" : id;
}

Html::Html(const std::string& title, bool is_virtual) {
  head_ = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
      "<title>{}wirewatt: {}</title>\n<style>{}</style></head>\n<body>"
      "<a class=\"skip\" href=\"#main\">Skip to the result</a><header><h1>{}</h1></header>"
      "<main id=\"main\">\n",
      is_virtual ? "VIRTUAL · " : "", escape(title), embedded_text("page.css"), escape(title));
  if (is_virtual) {
    head_ +=
        "<p class=\"warn\" role=\"note\"><strong>VIRTUAL.</strong> These figures come from a "
        "simulated chip. They are not a measurement of any real device.</p>\n";
  }
}

void Html::answer(const std::string& big, const std::vector<std::string>& lines) {
  add("<section class=\"answer\" aria-label=\"Result\"><p class=\"big\">{}</p>", escape(big));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].empty()) add("<p{}>{}</p>", i > 0 ? " class=\"mut\"" : "", escape(lines[i]));
  }
  add("</section>");
}

void Html::warn(const std::string& strong, const std::string& text) {
  add("<p class=\"warn\" role=\"note\"><strong>{}</strong> {}</p>", escape(strong), escape(text));
}

void Html::tiles(const std::vector<std::pair<std::string, std::string>>& tiles) {
  add("<section class=\"tiles\" aria-label=\"Key figures\">");
  for (const auto& [value, what] : tiles) {
    add("<div><b>{}</b>{}</div>", escape(value), escape(what));
  }
  add("</section>");
}

void Html::section(const std::string& heading) {
  if (!sections_.empty()) text_ += "</section>\n";
  sections_.push_back(heading);
  add("<section><h2 id=\"{}\">{}</h2>", anchor(heading), escape(heading));
}

void Html::figure(const std::string& svg, const std::string& json, const std::string& caption) {
  add("<figure class=\"chart\">{}<script type=\"application/json\">{}</script>"
      "<figcaption>{}</figcaption></figure>",
      svg, json, escape(caption));
}

void Html::chart(const std::string& heading, const Plot& plot) {
  section(heading);
  figure(to_svg(plot), to_data(plot), plot.description);
}

void Html::chart(const std::string& heading, const BarChart& chart) {
  section(heading);
  figure(to_svg(chart), to_data(chart), chart.description);
}

void Html::drawing(const std::string& svg, const std::string& caption) {
  add("<figure>{}<figcaption>{}</figcaption></figure>", svg, escape(caption));
}

namespace {

constexpr std::size_t kLongText = 40;  // a cell with more gets room

// A heading may break behind the marks that join names of results.
std::string breakable(const std::string& name) {
  std::string text;
  for (const char c : escape(name)) {
    text += c;
    if (c == '_' || c == '.') text += "<wbr>";
  }
  return text;
}

// "0.84 (0.41..1.7)" breaks before its interval alone.
std::string unbroken(const std::string& figure) {
  std::string text;
  for (std::size_t i = 0; i < figure.size(); ++i) {
    const bool before_interval = i + 1 < figure.size() && figure[i + 1] == '(';
    if (figure[i] == ' ' && !before_interval) {
      text += "&nbsp;";
    } else {
      text += figure[i];
    }
  }
  return text;
}

}  // namespace

void Html::table(const Table& table) {
  add("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table>"
      "<caption{1}>{0}</caption><thead><tr>",
      escape(table.caption),
      !sections_.empty() && sections_.back() == table.caption ? " class=\"same\"" : "");
  for (const Column& column : table.columns) {
    add("<t{0}{1}>{2}</t{0}>", column.name.empty() ? "d" : "h",
        std::string(column.name.empty() ? "" : " scope=\"col\"") +
            (column.number ? " class=\"n\"" : ""),
        breakable(column.name));
  }
  text_ += "</tr></thead><tbody>";
  for (const auto& row : table.rows) {
    text_ += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool number = i < table.columns.size() && table.columns[i].number;
      const char* kind = number                      ? " class=\"n\""
                         : row[i].size() > kLongText ? " class=\"long\""
                                                     : "";
      const std::string cell = escape(row[i]);
      text_ += fmt::format("<td{}>{}</td>", kind, number ? unbroken(cell) : cell);
    }
    text_ += "</tr>\n";
  }
  add("</tbody></table></div>");
}

std::string Html::finish() {
  if (!sections_.empty()) text_ += "</section>\n";
  std::string contents;
  if (sections_.size() > 2) {
    contents = "<nav aria-label=\"On this page\"><ul>";
    for (const auto& heading : sections_) {
      contents += fmt::format("<li><a href=\"#{}\">{}</a></li>", anchor(heading), escape(heading));
    }
    contents += "</ul></nav>\n";
  }
  // The contents stand below the answer, above the first section.
  const auto first = sections_.empty() ? std::string::npos : text_.find("<section><h2");
  if (first != std::string::npos) text_.insert(first, contents);
  return head_ + text_ +
         "</main><div id=\"live\" aria-live=\"polite\" class=\"skip\"></div>\n<script>" +
         std::string(embedded_text("chart.min.js")) + "</script>\n<script>" +
         std::string(embedded_text("page.js")) + "</script></body></html>\n";
}

Status Html::save(const std::filesystem::path& html) {
  return write_file_atomically(html, finish());
}

}  // namespace ww::report
