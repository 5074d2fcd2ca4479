#include "values/documents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "values/names.hpp"
#include "values/values.hpp"
#include "ww/calibration/kinds.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/report/campaign_notes.hpp"

namespace ww::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::optional<Kind> kind_of(const json& content) {
  if (!content.is_object()) return std::nullopt;
  const auto has = [&](const char* key) { return content.contains(key); };
  if (has("paper") && has("rows")) return Kind::reproduction;
  if (has("kernels") && has("constant") && has("total")) return Kind::estimate;
  // With --run alone: a table of many runs is no picture of one.
  if (has("parts") && has("measured_w")) return Kind::attribution;
  for (const calibration::Kind& kind : calibration::kinds()) {
    if (!kind.key.empty() && content.contains(kind.key)) return Kind::calibration;
  }
  if (has("avg_packet_latency") && has("network")) return Kind::simulation;
  if (has("curves") || (has("points") && has("network"))) return Kind::curves;
  return std::nullopt;
}

Result<json> read_object(const fs::path& file) {
  WW_ASSIGN(text, read_file(file));
  WW_ASSIGN(value, parse_json(text, file.string()));
  if (!value.is_object()) {
    return fail(ErrorCode::parse_error, "is not a JSON object; run the command that wrote it again",
                file.string());
  }
  return value;
}

// The calibration behind a document of one.
Status parse_calibration(Document& document, const std::string& origin) {
  WW_ASSIGN(calibration, calibration::parse(document.content, origin, calibration::Admission::any));
  document.calibration = std::move(calibration);
  return {};
}

Result<Document> read_calibration(const fs::path& folder) {
  Document document;
  document.kind = Kind::calibration;
  document.path = folder;
  WW_ASSIGN(file, calibration::calibration_file(folder));
  WW_ASSIGN(content, read_object(file));
  document.content = std::move(content);
  WW_TRY(parse_calibration(document, file.string()));
  if (!document.calibration->is_drawn()) return document;
  if (std::error_code ec; fs::exists(folder / "score.json", ec)) {
    WW_ASSIGN(score, read_object(folder / "score.json"));
    document.score = std::move(score);
  }
  WW_ASSIGN(store, CampaignStore::open_read_only(folder / "campaign.db"));
  WW_ASSIGN(runs, store.runs());
  document.runs = std::move(runs);
  WW_ASSIGN(floorplan, store.get(campaign_keys::floorplan));
  document.floorplan_toml = floorplan.value_or("");
  WW_ASSIGN(facts, store.facts());
  document.facts = std::move(facts);
  // The model has the states in which kernels streamed, the campaign all that it was idle in.
  if (const auto states = document.facts.find("dvfs"); states != document.facts.end()) {
    document.content["clock_states"] = json::parse(states->second, nullptr, false);
  }
  document.array_caches = array_cache_note(store);
  return document;
}

Result<Document> printed_document(const fs::path& file, json content) {
  const auto kind = kind_of(content);
  if (!kind) {
    return fail(ErrorCode::parse_error,
                "contains nothing that a report can show; it shows an estimate, an attribution "
                "(--run), a simulation or a reproduction, as their commands print with --json",
                file.string());
  }
  Document document;
  document.kind = *kind;
  document.path = file;
  document.content = std::move(content);
  if (document.kind == Kind::calibration) WW_TRY(parse_calibration(document, file.string()));
  return document;
}

// Reads the JSON that a command printed. Several networks under one load are a document each.
Status read_printed(const fs::path& file, std::vector<Document>& documents) {
  WW_ASSIGN(content, read_object(file));
  const auto add = [&](json one) -> Status {
    WW_ASSIGN(document, printed_document(file, std::move(one)));
    documents.push_back(std::move(document));
    return {};
  };
  if (!content.contains("networks")) return add(std::move(content));
  for (const json& network : list_of(content, "networks")) WW_TRY(add(network));
  return {};
}

Figure figure(std::string name, std::string unit, const json& interval) {
  if (!interval.is_object()) return {std::move(name), std::move(unit), kNone, kNone, kNone};
  return {std::move(name), std::move(unit), number_of(interval, "value"),
          number_of(interval, "low"), number_of(interval, "high")};
}

void add_calibration(std::vector<Figure>& figures, const calibration::Calibration& calibration) {
  const auto add = [&figures](const std::vector<ww::Figure>& rows) {
    for (const ww::Figure& row : rows) {
      figures.push_back({constant_name(row.name), row.unit, row.value.value_or(kNone),
                         row.low.value_or(kNone), row.high.value_or(kNone)});
    }
  };
  add(calibration.figures());
  add(calibration.circumstances());
}

void add_estimate(std::vector<Figure>& figures, const json& estimate) {
  const json& total = object_of(estimate, "total");
  const auto both = [&](const std::string& name, const json& of) {
    figures.push_back(figure(name, "W", of.value("power_w", json())));
    figures.push_back(figure(name, "J", of.value("energy_j", json())));
  };
  both("all segments", total);
  for (const json& segment : list_of(total, "segments")) {
    both(segment_name(text_of(segment, "segment")), segment);
  }
  figures.push_back(
      figure("share of dynamic power", "%", estimate.value("interconnect_share_percent", json())));
}

// A simulation's settings and its speed are no figures of a network.
void add_simulation(std::vector<Figure>& figures, const json& run) {
  for (const SimulatedFigure& one : kSimulated) {
    const double value = number_of(run, one.key);
    if (std::isfinite(value)) figures.push_back({one.name, one.unit, value, kNone, kNone});
  }
  for (const json& one : object_of(run, "energy_figures")) {
    if (one.is_object()) {
      figures.push_back(figure(text_of(one, "name"), text_of(one, "unit"), one));
    }
  }
  for (const auto& [key, value] : object_of(run, "energy_pj").items()) {
    if (!value.is_number()) continue;
    figures.push_back({"energy of " + in_words(key), "pJ", value.get<double>(), kNone, kNone});
  }
}

}  // namespace

std::string_view name_of(const Document& document) {
  switch (document.kind) {
    case Kind::calibration:
      return document.calibration->title().substr(std::string_view("a ").size());
    case Kind::estimate: return "estimate";
    case Kind::attribution: return "attribution";
    case Kind::simulation: return "simulation";
    case Kind::curves: return "latency curves";
    case Kind::reproduction: return "reproduction";
    case Kind::sweep: return "sweep";
  }
  return "";
}

std::string array_cache_note(const CampaignStore& campaign) {
  const auto opening = campaign.get(campaign_keys::opening);
  if (!opening || !*opening) return {};
  const auto notes = nlohmann::json::parse(**opening, nullptr, false);
  if (!notes.is_object() || !notes.contains("array_caches")) return {};
  const auto& seen = notes["array_caches"];
  return fmt::format("at most {:.2g}% of loads answered before the L2 (95%): {}",
                     100 * seen.value("max_hits", 1.0), seen.value("reason", ""));
}

Result<std::vector<Document>> read_documents(const fs::path& path) {
  std::vector<Document> documents;
  std::error_code ec;
  if (!fs::is_directory(path, ec)) {
    if (!fs::exists(path, ec)) return fail(ErrorCode::not_found, "is not there", path.string());
    if (path.filename() == "campaign.db" || path.filename() == "ladder.db" ||
        path.filename() == "model.json") {
      return read_documents(fs::absolute(path).parent_path());
    }
    WW_TRY(read_printed(path, documents));
    return documents;
  }
  if (fs::exists(path / "sweep.db", ec)) {
    documents.emplace_back();
    documents.back().kind = Kind::sweep;
    documents.back().path = path;
    return documents;
  }
  if (fs::exists(path / "reproduction.json", ec)) {
    WW_TRY(read_printed(path / "reproduction.json", documents));
    return documents;
  }
  const auto is_there = [&](const calibration::Kind& kind) {
    return fs::exists(path / kind.file, ec);
  };
  if (std::ranges::any_of(calibration::kinds(), is_there) || fs::exists(path / "campaign.db", ec)) {
    WW_ASSIGN(document, read_calibration(path));
    documents.push_back(std::move(document));
    return documents;
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path, ec)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  if (ec) return fail(ErrorCode::permission_denied, ec.message(), path.string());
  std::ranges::sort(files);
  for (const auto& file : files) {
    WW_TRY(read_printed(file, documents));
  }
  if (documents.empty()) {
    return fail(
        ErrorCode::not_found,
        "holds no run: neither model.json with campaign.db nor crossing.json (calibrate), nor "
        "ladder.json (ladder), nor reproduction.json (reproduce), nor sweep.db (sweep), nor JSON "
        "files of estimate "
        "or simulate",
        path.string());
  }
  for (const auto& document : documents) {
    if (document.kind != documents.front().kind) {
      return fail(ErrorCode::parse_error,
                  fmt::format("holds different things ({} and {}); name one of the files",
                              name_of(documents.front()), name_of(document)),
                  path.string());
    }
  }
  if (documents.size() > 1 && documents.front().kind != Kind::simulation) {
    return fail(ErrorCode::parse_error,
                "holds several files; name one of them (only simulations are put together)",
                path.string());
  }
  return documents;
}

std::vector<Figure> figures_of(const Document& document) {
  std::vector<Figure> figures;
  switch (document.kind) {
    case Kind::calibration: add_calibration(figures, *document.calibration); break;
    case Kind::estimate: add_estimate(figures, document.content); break;
    case Kind::attribution:
      for (const json& row : list_of(document.content, "parts")) {
        figures.push_back(figure(text_of(row, "name"), "W", row.value("power_w", json())));
      }
      break;
    case Kind::simulation: add_simulation(figures, document.content); break;
    case Kind::curves:
    case Kind::sweep: break;  // compared in a way of their own; sweeps in sweep_comparison.hpp
    case Kind::reproduction:
      for (const json& row : list_of(document.content, "rows")) {
        figures.push_back({text_of(row, "figure") + ": " + text_of(row, "quantity"),
                           text_of(row, "unit"), number_of(row, "ours"), kNone, kNone});
      }
      break;
  }
  return figures;
}

}  // namespace ww::report
