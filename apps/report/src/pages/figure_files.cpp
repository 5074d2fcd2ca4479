#include "pages/figure_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <regex>
#include <system_error>

#include "pages/embedded.hpp"
#include "pages/html.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/file_system.hpp"
#include "ww/core/subprocess.hpp"

namespace ww::report {
namespace {

namespace fs = std::filesystem;

constexpr double kMinWidth = 720;  // of a picture [px]; maps are drawn in millimetres
constexpr int kHeats = 8;          // colours of the scale, classes h1 ... h8

std::string_view between(std::string_view text, std::string_view from, std::string_view until) {
  const auto begin = text.find(from);
  if (begin == std::string_view::npos) return {};
  const auto end = text.find(until, begin + from.size());
  if (end == std::string_view::npos) return {};
  return text.substr(begin + from.size(), end - begin - from.size());
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The light theme's colours, as page.css begins with them.
std::map<std::string, std::string> light_colours(const std::string& css) {
  const std::string root(between(css, ":root {", "}"));
  static const std::regex colour(R"(--(\w+): (#[0-9a-f]+))");
  std::map<std::string, std::string> colours;
  for (auto at = std::sregex_iterator(root.begin(), root.end(), colour);
       at != std::sregex_iterator(); ++at) {
    colours[at->str(1)] = at->str(2);
  }
  return colours;
}

bool is_of_drawings(const std::string& selector) {
  static const std::regex of_drawings(R"(svg[ .].*|\.(c|dot|band|fill)\.?\w*.*)");
  return selector.find(':') == std::string::npos && std::regex_match(selector, of_drawings);
}

// The rules of page.css that are about drawings, with colours in place of variables: programs that
// read SVG for papers know none.
std::string drawing_style() {
  std::string css(embedded_text("page.css"));
  const auto colours = light_colours(css);
  css = css.substr(0, css.find("@media print"));
  std::string style = "svg{font-family:sans-serif;font-size:12px}";
  static const std::regex rule(R"(([^{}]+)\{([^{}]*)\})");
  for (auto at = std::sregex_iterator(css.begin(), css.end(), rule); at != std::sregex_iterator();
       ++at) {
    std::string selector = at->str(1);
    selector.erase(0, selector.find_first_not_of(" \n"));
    selector.erase(selector.find_last_not_of(" \n") + 1);
    if (!is_of_drawings(selector)) continue;
    std::string body = at->str(2);
    for (const auto& [name, colour] : colours) {
      body = replaced(std::move(body), "var(--" + name + ")", colour);
    }
    if (body.find("var(--heat)") == std::string::npos) {
      style += fmt::format("{}{{{}}}", selector, body);
      continue;
    }
    for (int heat = 1; heat <= kHeats; ++heat) {
      const auto colour = colours.find(fmt::format("h{}", heat));
      if (colour == colours.end()) continue;
      style += fmt::format("{}.h{}{{{}}}", selector, heat,
                           replaced(body, "var(--heat)", colour->second));
    }
  }
  return style;
}

// The drawing with a size, its namespace and its style.
std::string standalone(const std::string& svg, const std::string& style) {
  static const std::regex box(R"(viewBox="\S+ \S+ (\S+) ([^" ]+)\")");
  std::smatch size;
  const auto end = svg.find('>');
  if (end == std::string::npos) return svg;
  std::string head = svg.substr(0, end);
  if (head.find("width=") == std::string::npos && std::regex_search(head, size, box)) {
    const double width = std::strtod(size.str(1).c_str(), nullptr);
    const double height = std::strtod(size.str(2).c_str(), nullptr);
    const double scale = width > 0 ? std::max(1.0, kMinWidth / width) : 1;
    head += fmt::format(R"( width="{:.6g}" height="{:.6g}")", width * scale, height * scale);
  }
  if (head.find("xmlns=") == std::string::npos) head += R"( xmlns="http://www.w3.org/2000/svg")";
  return fmt::format("{}><style>{}</style>{}\n", head, style, svg.substr(end + 1));
}

Status convert(const fs::path& converter, const fs::path& svg, const fs::path& png) {
  ProcessRequest request;
  request.command = {converter.string(), "--zoom",     "2",         "--background-color", "white",
                     "--output",         png.string(), svg.string()};
  WW_ASSIGN(made, run_process(request));
  if (made.exit_code == 0) return {};
  return fail(ErrorCode::io_error, "rsvg-convert ended with an error: " + made.errors,
              png.string());
}

}  // namespace

std::vector<Picture> pictures_of(std::string_view page) {
  std::vector<Picture> pictures;
  std::map<std::string, int> seen;
  const std::string style = drawing_style();
  constexpr std::string_view kEnd = "</svg>";
  for (auto at = page.find("<svg"); at != std::string_view::npos; at = page.find("<svg", at)) {
    const auto end = page.find(kEnd, at);
    if (end == std::string_view::npos) break;
    const std::string svg(page.substr(at, end + kEnd.size() - at));
    at = end;
    const std::string title(between(svg, "<title>", "</title>"));
    std::string name = anchor(title.empty() ? "picture" : title);
    if (const int count = ++seen[name]; count > 1) name += fmt::format("-{}", count);
    pictures.push_back({std::move(name), standalone(svg, style)});
  }
  return pictures;
}

Result<std::vector<fs::path>> write_pictures(const std::vector<Picture>& pictures,
                                             const fs::path& folder, const fs::path& converter) {
  WW_TRY(make_folder(folder));
  std::vector<fs::path> files;
  for (const Picture& picture : pictures) {
    files.push_back(folder / (picture.name + ".svg"));
    WW_TRY(write_file_atomically(files.back(), picture.svg));
    if (converter.empty()) continue;
    const fs::path png = folder / (picture.name + ".png");
    WW_TRY(convert(converter, files.back(), png));
    files.push_back(png);
  }
  return files;
}

}  // namespace ww::report
