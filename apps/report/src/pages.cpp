#include "ww/report/pages.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>

#include "bars.hpp"
#include "plots.hpp"
#include "style.hpp"
#include "svg.hpp"
#include "ww/core/atomic_file.hpp"

namespace ww::report {
namespace {

using nlohmann::json;

class Writer {
 public:
  Writer(const std::string& title, bool is_virtual) {
    add("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
        "<title>{}wirewatt: {}</title><style>{}</style></head><body><main><h1>{}</h1>",
        is_virtual ? "VIRTUAL · " : "", escape(title), style, escape(title));
    if (is_virtual) {
      add("<p class=\"warn\" role=\"note\"><strong>VIRTUAL.</strong> These figures come from a "
          "simulated chip. They are not a measurement of any real device.</p>");
    }
  }
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  void chart(const std::string& heading, const BarChart& chart) {
    add("<section><h2>{}</h2><figure>{}<figcaption>{}</figcaption></figure></section>",
        escape(heading), to_svg(chart), escape(chart.description));
  }
  void table(const std::vector<std::string>& head,
             const std::vector<std::vector<std::string>>& rows) {
    add("<div class=\"scroll\"><table><thead><tr>");
    for (const auto& cell : head) add("<th>{}</th>", escape(cell));
    add("</tr></thead><tbody>");
    for (const auto& row : rows) {
      text_ += "<tr>";
      for (const auto& cell : row) text_ += "<td>" + escape(cell) + "</td>";
      text_ += "</tr>\n";
    }
    add("</tbody></table></div>");
  }
  Status save(const std::filesystem::path& html) {
    add("</main></body></html>");
    return write_file_atomically(html, text_);
  }

 private:
  std::string text_;
};

std::string cell(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return fmt::format("{:.4g}", value.get<double>());
  return "–";
}

std::string interval_cell(const json& value) {
  if (!value.is_object()) return "–";
  return fmt::format("{} ({} to {})", cell(value["value"]), cell(value["low"]),
                     cell(value["high"]));
}

Status estimate_page(const json& estimate, const std::filesystem::path& html) {
  Writer page("Interconnect power of an application on " + text_of(estimate, "device"),
              estimate.value("virtual", false));
  const json& total = estimate.at("total");
  const bool watts = total.at("power_w").is_object();
  const char* key = watts ? "power_w" : "energy_j";
  page.add(
      "<section class=\"answer\"><p class=\"big\">{} {}</p><p>95% interval, all segments with a "
      "figure together{}.</p>",
      escape(interval_cell(total.at(key))), watts ? "W" : "J",
      text_of(total, "left_out").empty() ? "" : ", without " + escape(text_of(total, "left_out")));
  if (!watts) page.add("<p>No watts: {}.</p>", escape(text_of(total, "time_reason")));
  if (estimate.at("interconnect_share_percent").is_object()) {
    page.add("<p>{} % of the dynamic power.</p>",
             escape(interval_cell(estimate.at("interconnect_share_percent"))));
  } else {
    page.add("<p class=\"mut\">No share of the dynamic power: {}.</p>",
             escape(text_of(estimate, "share_reason")));
  }
  page.add("<p class=\"mut\">{}</p></section>", escape(text_of(estimate.at("constant"), "source")));
  BarChart chart;
  chart.title = "Interconnect by segment";
  chart.description =
      "Each kernel, and all together, stacked by segment; the line is the 95% interval of the sum.";
  chart.unit = watts ? "W" : "J";
  chart.legend = {"registers–L1", "L1–L2", "L2–memory"};
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const json& kernel) {
    Bar bar;
    bar.name = text_of(kernel, "kernel");
    for (const json& segment : kernel.at("segments")) {
      const json& figure = segment.at(key);
      bar.parts.push_back(figure.is_object() ? figure.at("value").get<double>() : 0.0);
      rows.push_back({bar.name, text_of(segment, "segment"), cell(segment.at("bytes")),
                      cell(segment.at("toggle_rate")) + " " + text_of(segment, "toggles"),
                      interval_cell(segment.at("energy_j")), interval_cell(segment.at("power_w")),
                      text_of(segment, "status"), text_of(segment, "reason")});
    }
    if (const json& figure = kernel.at(key); figure.is_object()) {
      bar.interval = {figure.at("low").get<double>(), figure.at("high").get<double>()};
    }
    chart.bars.push_back(std::move(bar));
  };
  add(total);
  std::size_t shown = 0;
  for (const json& kernel : estimate.at("kernels")) {
    if (++shown > 30) break;
    add(kernel);
  }
  page.chart("By segment", chart);
  page.table({"kernel", "segment", "bytes", "toggles", "energy [J]", "power [W]", "status", ""},
             rows);
  return page.save(html);
}

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

// PNG files beside the page, put into it.
Status add_pictures(Writer& page, const json& pictures, const std::filesystem::path& folder) {
  if (pictures.empty()) return {};
  page.add("<section><h2>Output pictures</h2>");
  for (const json& picture : pictures) {
    WW_ASSIGN(bytes, read_file((folder / picture.at("file").get<std::string>()).string()));
    const bool compared = picture.contains("psnr_db");
    page.add(
        "<figure><img alt=\"{0}\" src=\"data:image/png;base64,{1}\"><figcaption>{0}{2}"
        "</figcaption></figure>",
        escape(text_of(picture, "variant")), base64(bytes),
        compared ? fmt::format(": PSNR {:.1f} dB, SSIM {:.4f}", number_of(picture, "psnr_db"),
                               number_of(picture, "ssim"))
                 : "");
  }
  page.add("</section>");
  return {};
}

Status reproduction_page(const json& reproduction, const std::filesystem::path& html) {
  Writer page("Reproduction of " + text_of(reproduction, "paper"),
              reproduction.value("virtual", true));
  page.add(
      "<p>The paper's figure where its text states it, beside ours from {}. Status: "
      "<em>matches</em>, <em>differs</em>, <em>by_construction</em> (the figure set a constant "
      "of the virtual chip or of the method, so agreement proves nothing), or "
      "<em>unavailable</em>.</p>",
      escape(text_of(reproduction, "device")));
  for (const json& figure : reproduction.value("charts", json::array())) {
    BarChart chart;
    chart.title = text_of(figure, "title");
    chart.description = text_of(figure, "description");
    chart.unit = text_of(figure, "unit");
    chart.mark_name = text_of(figure, "mark");
    for (const json& name : figure.at("legend")) chart.legend.push_back(name.get<std::string>());
    for (const json& entry : figure.at("bars")) {
      Bar bar;
      bar.name = text_of(entry, "name");
      for (const json& part : entry.at("parts")) {
        bar.parts.push_back(part.is_number() ? part.get<double>() : 0.0);
      }
      if (const double mark = number_of(entry, "mark"); std::isfinite(mark)) bar.mark = mark;
      chart.bars.push_back(std::move(bar));
    }
    page.chart(chart.title, chart);
  }
  WW_TRY(add_pictures(page, reproduction.value("pictures", json::array()), html.parent_path()));
  if (const json said = reproduction.value("inconsistencies", json::array()); !said.empty()) {
    page.add("<section><h2>Where the paper disagrees with itself</h2><ul>");
    for (const json& line : said) page.add("<li>{}</li>", escape(line.get<std::string>()));
    page.add("</ul></section>");
  }
  std::vector<std::vector<std::string>> rows;
  for (const json& row : reproduction.at("rows")) {
    rows.push_back({text_of(row, "figure"), text_of(row, "quantity"), cell(row.at("paper")),
                    cell(row.at("ours")), text_of(row, "unit"), text_of(row, "status"),
                    text_of(row, "note")});
  }
  page.add("<section><h2>All rows</h2>");
  page.table({"figure", "quantity", "paper", "ours", "unit", "status", "note"}, rows);
  page.add("</section>");
  return page.save(html);
}

}  // namespace

Status write_estimate_page(const json& estimate, const std::filesystem::path& html) {
  try {
    return estimate_page(estimate, html);
  } catch (const json::exception& e) {
    return fail(ErrorCode::parse_error, std::string("not an estimate: ") + e.what());
  }
}

Status write_reproduction_page(const json& reproduction, const std::filesystem::path& html) {
  try {
    return reproduction_page(reproduction, html);
  } catch (const json::exception& e) {
    return fail(ErrorCode::parse_error, std::string("not a reproduction: ") + e.what());
  }
}

}  // namespace ww::report
