#include "ww/report/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "pages/figure_files.hpp"
#include "pages/page_kinds.hpp"
#include "sweep/sweep_comparison.hpp"
#include "values/documents.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/process.hpp"

namespace ww::report {
namespace {

// A key that is there with another type than this program writes is the file's fault.
template <class MakePage>
Result<std::string> made_page(MakePage&& make, const std::string& origin) {
  try {
    return make();
  } catch (const nlohmann::json::exception& e) {
    return fail(ErrorCode::parse_error, std::string("damaged: ") + e.what(), origin);
  }
}

template <class MakePage>
Status write_page(MakePage&& make, const std::string& origin, const std::filesystem::path& html) {
  WW_ASSIGN(page, made_page(std::forward<MakePage>(make), origin));
  return write_file_atomically(html, page);
}

Result<std::string> page_of(const std::vector<Document>& documents, const SweepOptions& options) {
  const Document& document = documents.front();
  switch (document.kind) {
    case Kind::calibration:
      return document.calibration->is_drawn() ? calibration_page(document)
                                              : tables_page(*document.calibration);
    case Kind::estimate: return estimate_page(document.content);
    case Kind::attribution: return attribution_page(document.content);
    case Kind::simulation: return simulation_page(documents);
    case Kind::curves: return curves_page(document.content);
    case Kind::reproduction: {
      const bool in_folder = std::filesystem::is_directory(document.path);
      return reproduction_page(document.content,
                               in_folder ? document.path : document.path.parent_path());
    }
    case Kind::sweep: return sweep_page(document.path, options);
  }
  return std::string{};
}

Status only_for_sweeps(const Document& document, const SweepOptions& options) {
  if (document.kind == Kind::sweep || options.empty()) return {};
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("is a {}; --metric, --pareto, --over and --by are for sweeps", name_of(document)),
      document.path.string());
}

}  // namespace

Status write_report(const std::filesystem::path& run, const std::filesystem::path& html,
                    const SweepOptions& options) {
  WW_ASSIGN(documents, read_documents(run));
  WW_TRY(only_for_sweeps(documents.front(), options));
  return write_page([&] { return page_of(documents, options); }, run.string(), html);
}

Result<std::vector<std::filesystem::path>> write_figures(const std::filesystem::path& run,
                                                         const std::filesystem::path& folder,
                                                         const SweepOptions& options) {
  WW_ASSIGN(documents, read_documents(run));
  WW_TRY(only_for_sweeps(documents.front(), options));
  WW_ASSIGN(page, made_page([&] { return page_of(documents, options); }, run.string()));
  return write_pictures(pictures_of(page), folder, find_program("rsvg-convert"));
}

Status write_index(const std::filesystem::path& folder, const std::filesystem::path& html) {
  return write_page([&] { return index_page(folder); }, folder.string(), html);
}

Status write_comparison(const std::filesystem::path& first, const std::filesystem::path& second,
                        const std::filesystem::path& html, const SweepOptions& options) {
  WW_ASSIGN(one, read_documents(first));
  WW_ASSIGN(other, read_documents(second));
  for (auto* documents : {&one, &other}) {
    Document& document = documents->front();
    if (documents->size() != 1 || document.kind == Kind::curves) {
      return fail(ErrorCode::unsupported,
                  "two single runs can be compared, not series or curves; name one file of each",
                  document.path.string());
    }
    WW_TRY(only_for_sweeps(document, options));
  }
  if (name_of(one.front()) != name_of(other.front())) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} and {}: runs of one kind can be compared", name_of(one.front()),
                            name_of(other.front())),
                first.string() + ", " + second.string());
  }
  if (one.front().kind == Kind::sweep) {
    return write_page([&] { return sweep_comparison_page(first, second, options); }, first.string(),
                      html);
  }
  return write_page([&] { return comparison_page(one.front(), other.front()); }, first.string(),
                    html);
}

Status write_calibration_page(const calibration::Calibration& calibration,
                              const std::filesystem::path& html) {
  return write_page([&] { return tables_page(calibration); }, calibration.provenance().source,
                    html);
}

Status write_estimate_page(const nlohmann::json& estimate, const std::filesystem::path& html) {
  return write_page([&] { return estimate_page(estimate); }, "estimate", html);
}

Status write_reproduction_page(const nlohmann::json& reproduction,
                               const std::filesystem::path& html) {
  return write_page([&] { return reproduction_page(reproduction, html.parent_path()); },
                    "reproduction", html);
}

}  // namespace ww::report
