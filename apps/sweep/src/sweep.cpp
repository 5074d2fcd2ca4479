#include "ww/sweep/sweep.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <unordered_set>

#include "ww/core/atomic_file.hpp"
#include "ww/core/file_system.hpp"
#include "ww/core/hash.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/core/log.hpp"
#include "ww/sweep/result_files.hpp"

namespace ww::sweep {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kCheckedPoints = 500;

// sweep.json holds the paths of plan and folder, for workers elsewhere.
Status check_path(const fs::path& path) {
  try {
    std::ignore = json(path.string()).dump();
    return {};
  } catch (const json::exception&) {
    return fail(ErrorCode::invalid_argument,
                "this path is not UTF-8, and a sweep's files hold no other; rename it",
                path.string());
  }
}

Status check_names(const Plan& plan, const Points& points) {
  const auto traits = traits_of(plan.command);
  if (plan.command.empty() || plan.command.front() == "sweep") {
    return fail(ErrorCode::invalid_argument,
                "a sweep cannot run another sweep; give another command", plan.file.string());
  }
  for (const auto& name : points.names()) {
    if (name == "json" || name == "resume" ||
        (!traits.out_option.empty() && name == traits.out_option)) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("'{}' is the sweep's own to give; leave it out of the plan", name),
                  plan.file.string());
    }
    if (name.find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") !=
            std::string::npos ||
        name.starts_with("-") || name.empty()) {
      return fail(
          ErrorCode::invalid_argument,
          fmt::format("'{}' is not the name of an option; write it without dashes in front", name),
          plan.file.string());
    }
  }
  return {};
}

std::string shown(const std::vector<std::string>& arguments) {
  return fmt::format("wirewatt {}", fmt::join(arguments, " "));
}

// Every value of the plan once, and points spread evenly over it.
Status check_points(const Sweep& sweep, const Program& program) {
  const auto& points = *sweep.points;
  const auto check = [&](std::size_t point) -> Status {
    const auto arguments = work_of(sweep, static_cast<std::uint32_t>(point)).arguments;
    if (auto status = program.check(arguments); !status) {
      auto error = status.error();
      error.context =
          fmt::format("{}, point {} ({})", sweep.plan->file.string(), point, shown(arguments));
      return tl::unexpected(std::move(error));
    }
    return {};
  };
  std::set<const Value*> seen;
  const std::size_t stride = std::max<std::size_t>(1, points.size() / kCheckedPoints);
  for (std::size_t i = 0; i < points.size(); ++i) {
    bool fresh = i % stride == 0 || i + 1 == points.size();
    // Long axes of numbers differ in nothing that can be checked; their points are spread over.
    for (std::size_t j = 0; j < points.names().size() && seen.size() < kCheckedPoints; ++j) {
      const Value* value = points.value(i, j);
      if (value != nullptr && seen.insert(value).second) fresh = true;
    }
    if (fresh) WW_TRY(check(i));
  }
  return {};
}

json description(const Sweep& sweep) {
  return {{"format", 1},
          {"name", sweep.plan->name},
          {"command", sweep.plan->command},
          {"plan_file", sweep.plan->file.string()},
          {"program_hash", sweep.program_hash},
          {"points", sweep.points->size()},
          {"unique_points", sweep.points->unique()},
          {"axes", sweep.plan->varying()},
          {"begun_utc", fmt::format("{:%FT%TZ}", fmt::gmtime(std::time(nullptr)))}};
}

Result<json> read_description(const fs::path& folder) {
  auto text = read_file(folder / "sweep.json");
  if (!text) {
    auto error = text.error();
    if (error.code == ErrorCode::not_found) error.message = "no sweep is in this folder";
    return tl::unexpected(std::move(error));
  }
  WW_ASSIGN(document, parse_json(*text, (folder / "sweep.json").string()));
  const auto is_text = [&](const char* key) {
    return document.contains(key) && document[key].is_string();
  };
  if (!document.is_object() || !document.contains("format") || document["format"] != 1 ||
      !is_text("plan_file") || !is_text("program_hash")) {
    return fail(ErrorCode::parse_error, "not the description of a sweep",
                (folder / "sweep.json").string());
  }
  return document;
}

}  // namespace

Result<std::string> hash_files(const std::vector<fs::path>& files) {
  std::string text;
  for (const auto& file : files) {
    WW_ASSIGN(content, read_file(file));
    text += fmt::format("{} {}\n", file.filename().string(),
                        hash_text(std::as_bytes(std::span(content))));
  }
  return hash_text(std::as_bytes(std::span(text)));
}

Result<Sweep> plan_sweep(const fs::path& file, const fs::path& folder, const Program& program) {
  Sweep sweep;
  WW_ASSIGN(plan, load_plan(file));
  sweep.plan = std::make_unique<Plan>(std::move(plan));
  sweep.folder = fs::absolute(folder).lexically_normal();
  if (!sweep.folder.has_filename()) sweep.folder = sweep.folder.parent_path();
  sweep.program_hash = program.hash;
  WW_TRY(check_path(sweep.plan->file));
  WW_TRY(check_path(sweep.folder));
  WW_ASSIGN(points,
            Points::expand(*sweep.plan, program.hash, program.input_files(sweep.plan->command)));
  sweep.points = std::make_unique<Points>(std::move(points));
  WW_TRY(check_names(*sweep.plan, *sweep.points));
  WW_TRY(check_points(sweep, program));
  return sweep;
}

Status make_folder(const Sweep& sweep, const Program& program, bool resume) {
  std::error_code ec;
  if (fs::exists(sweep.folder / "sweep.json", ec)) {
    if (!resume) {
      return fail(
          ErrorCode::invalid_argument,
          "a sweep is in this folder already: --resume goes on with it, --out takes another",
          sweep.folder.string());
    }
    const auto before = read_description(sweep.folder);
    if (before && before->at("program_hash") != program.hash) {
      log::warn(
          "the program is another than the one that began this sweep: its points are run "
          "again");
    }
  }
  WW_TRY(ww::make_folder(sweep.results()));
  WW_TRY(write_file_atomically(sweep.folder / "plan.toml", sweep.plan->text));
  return write_file_atomically(sweep.folder / "sweep.json", description(sweep).dump(2) + "\n");
}

Result<Sweep> open_sweep(const fs::path& folder, const Program& program) {
  Sweep sweep;
  sweep.folder = fs::absolute(folder).lexically_normal();
  WW_ASSIGN(about, read_description(sweep.folder));
  sweep.program_hash = about["program_hash"].get<std::string>();
  if (sweep.program_hash != program.hash) {
    return fail(
        ErrorCode::bad_data,
        "this wirewatt is not the one that the sweep was begun with; run the plan again with "
        "--resume",
        sweep.folder.string());
  }
  WW_ASSIGN(text, read_file(sweep.folder / "plan.toml"));
  WW_ASSIGN(plan, parse_plan(std::move(text), about["plan_file"].get<std::string>()));
  sweep.plan = std::make_unique<Plan>(std::move(plan));
  return sweep;
}

Status each_record(const Sweep& sweep, const std::function<void(const Record&)>& visit) {
  return read_records(sweep.results(), [&](Record&& record) -> Status {
    visit(record);
    return {};
  });
}

Result<std::vector<std::uint32_t>> missing_points(const Sweep& sweep) {
  std::unordered_set<PointHash, PointHasher> have;
  WW_TRY(each_record(sweep, [&](const Record& record) {
    if (is_final(record.status)) have.insert(record.hash);
  }));
  std::vector<std::uint32_t> missing;
  for (const auto first : sweep.points->firsts()) {
    if (!have.contains(sweep.points->hash(first))) missing.push_back(first);
  }
  return missing;
}

Work work_of(const Sweep& sweep, std::uint32_t point) {
  Work work{sweep.points->hash(point), sweep.points->arguments(point), sweep.points->host(point)};
  work.arguments.insert(
      work.arguments.begin() + static_cast<std::ptrdiff_t>(sweep.plan->command.size()), "--json");
  return work;
}

Result<StatusCounts> collect(const Sweep& sweep) {
  WW_TRY(pack_records(sweep.results()));
  return write_store(sweep.database(), *sweep.plan, *sweep.points, sweep.program_hash,
                     sweep.results());
}

}  // namespace ww::sweep
