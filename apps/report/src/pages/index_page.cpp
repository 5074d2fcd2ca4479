// A folder of runs on one page: each run's first figure, and how runs of one kind differ.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "pages/html.hpp"
#include "pages/page_kinds.hpp"
#include "values/values.hpp"

namespace ww::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kMaxDepth = 3;  // folders below the one that is named
constexpr std::size_t kMaxChartRuns = 24;

struct Run {
  fs::path path;  // below the folder
  std::string kind, device, written;
  fs::file_time_type time;
  std::optional<Figure> figure;  // the first that has a value
  std::string misfit;
  bool is_virtual{};
};

std::string time_text(fs::file_time_type time) {
  const auto system = std::chrono::file_clock::to_sys(time);
  const auto seconds = std::chrono::time_point_cast<std::chrono::seconds>(system);
  return fmt::format("{:%Y-%m-%d %H:%M}",
                     fmt::localtime(std::chrono::system_clock::to_time_t(seconds)));
}

// The files that make a folder a run, in the order in which read_documents() looks.
std::optional<fs::path> mark_of(const fs::path& folder) {
  std::error_code ec;
  for (const char* name : {"sweep.db", "reproduction.json", "model.json", "crossing.json",
                           "ladder.json", "campaign.db"}) {
    if (fs::exists(folder / name, ec)) return folder / name;
  }
  return std::nullopt;
}

Run run_of(const fs::path& root, const fs::path& path, const fs::path& mark,
           const Document& document) {
  std::error_code ec;
  Run run;
  run.path = fs::relative(path, root, ec);
  run.kind = name_of(document);
  run.device = text_of(document.content, "device");
  run.time = fs::last_write_time(mark, ec);
  run.written = ec ? "–" : time_text(run.time);
  run.misfit = misfit_of(document.content);
  run.is_virtual = document.content.is_object() && document.content.value("virtual", false);
  for (Figure& figure : figures_of(document)) {
    if (!std::isfinite(figure.value)) continue;
    run.figure = std::move(figure);
    break;
  }
  return run;
}

// The runs below the folder, and the files that name themselves runs and cannot be read.
struct Found {
  std::vector<Run> runs;
  std::vector<std::pair<std::string, std::string>> damaged;  // file, reason
};

void add_folder(Found& found, const fs::path& root, const fs::path& folder, const fs::path& mark) {
  const auto documents = read_documents(folder);
  if (documents) {
    found.runs.push_back(run_of(root, folder, mark, documents->front()));
  } else {
    found.damaged.emplace_back(folder.string(), documents.error().text());
  }
}

// A file that is no run of ours says nothing here: folders have JSON of all kinds.
void add_file(Found& found, const fs::path& root, const fs::path& file) {
  const auto documents = read_documents(file);
  if (documents) found.runs.push_back(run_of(root, file, file, documents->front()));
}

void search(Found& found, const fs::path& root, const fs::path& folder, int depth) {
  // The folder that was named may be full of runs and hold files of one as well.
  const auto mark = mark_of(folder);
  if (mark && depth > 0) return add_folder(found, root, folder, *mark);
  std::error_code ec;
  for (auto at = fs::directory_iterator(folder, fs::directory_options::skip_permission_denied, ec);
       !ec && at != fs::directory_iterator(); at.increment(ec)) {
    std::error_code ignored;
    if (at->is_directory(ignored) && !at->is_symlink(ignored)) {
      if (depth < kMaxDepth) search(found, root, at->path(), depth + 1);
    } else if (at->path().extension() == ".json") {
      add_file(found, root, at->path());
    }
  }
  if (mark && found.runs.empty()) add_folder(found, root, folder, *mark);
}

std::string figure_cell(const Run& run) {
  if (!run.figure) return "–";
  const Figure& figure = *run.figure;
  const std::string interval =
      std::isfinite(figure.low) ? " (" + interval_text(figure.low, figure.high) + ")" : "";
  return figure_text(figure.value) + interval + " " + figure.unit;
}

// Where a reader goes on: the run's own page, where there is one.
std::string page_beside(const fs::path& root, const Run& run) {
  std::error_code ec;
  for (const fs::path& page : {run.path / "report.html", run.path / "reproduction.html",
                               fs::path(run.path.string() + ".html")}) {
    if (fs::is_regular_file(root / page, ec)) return page.generic_string();
  }
  return {};
}

void add_runs(Html& page, const fs::path& root, const std::vector<Run>& runs) {
  page.section("Runs");
  page.add(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Runs\"><table>"
      "<caption class=\"same\">Runs</caption><thead><tr><th scope=\"col\">run</th>"
      "<th scope=\"col\">kind</th><th scope=\"col\">device</th><th scope=\"col\">written</th>"
      "<th scope=\"col\">first figure</th><th scope=\"col\" class=\"n\">value</th>"
      "<th scope=\"col\">remark</th></tr></thead><tbody>");
  for (const Run& run : runs) {
    const std::string name = escape(run.path.generic_string());
    const std::string link = page_beside(root, run);
    const std::string remark = std::string(run.is_virtual ? "virtual" : "") +
                               (run.is_virtual && !run.misfit.empty() ? ", " : "") +
                               (run.misfit.empty() ? "" : "misfit: " + run.misfit);
    page.add(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"n\">{}</td>"
        "<td>{}</td></tr>",
        link.empty() ? name : fmt::format("<a href=\"{}\">{}</a>", escape(link), name),
        escape(run.kind), escape(run.device), run.written,
        run.figure ? escape(run.figure->name) : "–", escape(figure_cell(run)), escape(remark));
  }
  page.add("</tbody></table></div>");
}

std::string verdict(const Figure& first, const Figure& other) {
  if (!std::isfinite(first.low) || !std::isfinite(other.low)) return "no interval";
  return first.low <= other.high && other.low <= first.high ? "intervals overlap"
                                                            : "intervals apart";
}

// Runs whose first figures can be set side by side: the oldest is what the others are compared
// with.
void add_differences(Html& page, const std::vector<Run>& runs) {
  std::map<std::string, std::vector<const Run*>> groups;
  for (const Run& run : runs) {
    if (!run.figure) continue;
    groups[run.kind + ": " + run.figure->name + " [" + run.figure->unit + "]"].push_back(&run);
  }
  for (auto& [name, members] : groups) {
    if (members.size() < 2) continue;
    Plot plot;
    plot.title = name;
    plot.description = "The first figure of each run with its 95% interval, the oldest run first.";
    plot.y_label = members.front()->figure->unit;
    Series series{"", 1, {}, false, 4};
    Table table{
        name, {{"run"}, {"value", true}, {"against the oldest [%]", true}, {"verdict"}}, {}};
    const Figure& first = *members.front()->figure;
    for (const Run* run : members) {
      const Figure& figure = *run->figure;
      const double percent = 100 * (figure.value - first.value) / std::abs(first.value);
      table.rows.push_back({run->path.generic_string(), figure_cell(*run),
                            std::isfinite(percent) ? fmt::format("{:+.2f}", percent) : "–",
                            run == members.front() ? "oldest" : verdict(first, figure)});
      if (plot.x_names.size() == kMaxChartRuns) continue;
      const double half = std::isfinite(figure.low) ? (figure.high - figure.low) / 2 : 0;
      series.dots.push_back({static_cast<double>(plot.x_names.size()), figure.value, half,
                             run->path.generic_string() + ": " + figure_cell(*run)});
      plot.x_names.push_back(shortened(run->path.generic_string(), 18));
    }
    plot.series = {std::move(series)};
    page.chart(name, plot);
    page.table(table);
  }
}

}  // namespace

Result<std::string> index_page(const fs::path& folder) {
  if (std::error_code ec; !fs::is_directory(folder, ec)) {
    return fail(ErrorCode::not_found, "is no folder", folder.string());
  }
  Found found;
  search(found, folder, folder, 0);
  if (found.runs.empty() && found.damaged.empty()) {
    return fail(ErrorCode::not_found,
                fmt::format("holds no run, nor do the folders below it ({} levels)", kMaxDepth),
                folder.string());
  }
  std::ranges::stable_sort(found.runs, {}, [](const Run& run) { return run.time; });
  const bool all_virtual = std::ranges::all_of(found.runs, &Run::is_virtual);
  Html page("Runs in " + fs::weakly_canonical(folder).filename().string(),
            all_virtual && !found.runs.empty());
  page.answer(fmt::format("{} runs", found.runs.size()),
              {"The oldest first. The differences below are to the oldest run of each kind."});
  for (const auto& [file, reason] : found.damaged) page.warn("Not read: " + file + ".", reason);
  add_runs(page, folder, found.runs);
  add_differences(page, found.runs);
  return page.finish();
}

}  // namespace ww::report
