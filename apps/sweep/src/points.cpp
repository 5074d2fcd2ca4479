#include "ww/sweep/points.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_set>
#include <utility>

#include "ww/core/atomic_file.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/hash.hpp"

namespace ww::sweep {
namespace {

constexpr std::size_t kMaxPoints = 100'000'000;
constexpr std::string_view kDevice = "device";        // which may name a chip's file
constexpr std::string_view kFloorplan = "floorplan";  // a file, or a name
constexpr std::string_view kModel = "model";          // a file, or its folder

// Settings while a plan is expanded: a cell for each name, null where it is not set.
using Cells = std::vector<const Value*>;

struct NamedColumn {
  std::size_t column{};
  const std::vector<Value>* values{};
};

struct CompiledAxis {
  std::vector<std::size_t> columns;
  const Axis* axis{};
};

struct CompiledCondition {
  std::vector<NamedColumn> match;
  std::vector<std::pair<std::size_t, const Value*>> set;
  std::vector<CompiledAxis> axes;
  bool skip{};
  bool unmatchable{};  // it asks for a name that no point has
};

class Expansion {
 public:
  Expansion(const Plan& plan, const std::vector<std::string>& names) : names_(names) {
    for (const auto& axis : plan.axes) axes_.push_back(compile(axis));
    for (const auto& condition : plan.conditions) {
      CompiledCondition compiled;
      compiled.skip = condition.skip;
      for (const auto& [name, values] : condition.match) {
        if (!std::binary_search(names.begin(), names.end(), name)) {
          compiled.unmatchable = true;
        } else {
          compiled.match.push_back({column(name), &values});
        }
      }
      for (const auto& [name, value] : condition.set)
        compiled.set.emplace_back(column(name), &value);
      for (const auto& axis : condition.axes) compiled.axes.push_back(compile(axis));
      conditions_.push_back(std::move(compiled));
    }
  }

  // Calls visit(row) for every point in order; false from it stops.
  template <class Visit>
  bool run(Cells row, const Visit& visit) const {
    return over(axes_, 0, row, [&](Cells& each) { return conditioned(0, each, visit); });
  }

 private:
  [[nodiscard]] std::size_t column(const std::string& name) const {
    return static_cast<std::size_t>(std::lower_bound(names_.begin(), names_.end(), name) -
                                    names_.begin());
  }
  [[nodiscard]] CompiledAxis compile(const Axis& axis) const {
    CompiledAxis compiled{.columns = {}, .axis = &axis};
    for (const auto& name : axis.names) compiled.columns.push_back(column(name));
    return compiled;
  }

  template <class Visit>
  bool over(const std::vector<CompiledAxis>& axes, std::size_t from, Cells& row,
            const Visit& visit) const {
    if (from == axes.size()) return visit(row);
    const auto& compiled = axes[from];
    for (const auto& step : compiled.axis->rows) {
      for (std::size_t j = 0; j < step.size(); ++j) row[compiled.columns[j]] = &step[j];
      if (!over(axes, from + 1, row, visit)) return false;
    }
    return true;
  }

  template <class Visit>
  bool conditioned(std::size_t from, const Cells& row, const Visit& visit) const {
    for (; from < conditions_.size(); ++from) {
      const auto& condition = conditions_[from];
      if (!matches(condition, row)) continue;
      if (condition.skip) return true;
      Cells changed = row;
      for (const auto& [at, value] : condition.set) changed[at] = value;
      return over(condition.axes, 0, changed,
                  [&](Cells& each) { return conditioned(from + 1, each, visit); });
    }
    return visit(row);
  }

  static bool matches(const CompiledCondition& condition, const Cells& row) {
    return !condition.unmatchable &&
           std::all_of(condition.match.begin(), condition.match.end(), [&](const auto& match) {
             const Value* value = row[match.column];
             return value != nullptr &&
                    std::any_of(match.values->begin(), match.values->end(),
                                [&](const Value& any) { return any.json == value->json; });
           });
  }

  const std::vector<std::string>& names_;
  std::vector<CompiledAxis> axes_;
  std::vector<CompiledCondition> conditions_;
};

std::vector<std::string> all_names(const Plan& plan) {
  std::set<std::string> names;
  for (const auto& [name, value] : plan.base) names.insert(name);
  for (const auto& name : plan.varying()) names.insert(name);
  return {names.begin(), names.end()};
}

std::string hash_of(std::string_view text) {
  return hash_text(std::as_bytes(std::span(text.data(), text.size())));
}

// Hashes of the files that settings name; each file is read once.
class InputHashes {
 public:
  explicit InputHashes(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Returns empty where the word names no file: a device by its name, a program's plain argument.
  Result<std::string> of(const std::string& setting, const std::string& word) {
    std::string path = word;
    if (setting == kArguments || setting == kProgram) {
      std::error_code ignored;
      if (!std::filesystem::is_regular_file(folder_ / path, ignored)) return std::string();
    } else if (setting == kDevice) {
      const DeviceName device(path);
      if (!device.is_chip_file()) return std::string();
      path = device.chip();
    }
    if (setting == kFloorplan && !exists(path)) return std::string();  // one of wirewatt's own
    if (setting == kModel) path = calibration_in(path);
    const auto found = known_.find(path);
    if (found != known_.end()) return found->second;
    const auto content = read_file(folder_ / path);
    if (!content) {
      auto error = content.error();
      error.message += fmt::format(" (named by '{}')", setting);
      return tl::unexpected(std::move(error));
    }
    return known_[path] = hash_of(*content);
  }

 private:
  [[nodiscard]] bool exists(const std::string& path) const {
    std::error_code ignored;
    return std::filesystem::exists(folder_ / path, ignored);
  }
  // A model may be named by its folder, as on the command line.
  [[nodiscard]] std::string calibration_in(const std::string& path) const {
    for (const char* name : {"/model.json", "/crossing.json", "/ladder.json"}) {
      if (exists(path + name)) return path + name;
    }
    return path;
  }

  std::filesystem::path folder_;
  std::unordered_map<std::string, std::string> known_;
};

}  // namespace

std::string PointHash::text() const {
  return fmt::format("{:016x}{:016x}", high, low);
}

Result<PointHash> PointHash::from_text(std::string_view text) {
  PointHash hash;
  const auto half = [](std::string_view digits, std::uint64_t& into) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + 16, into, 16);
    return error == std::errc{} && end == digits.data() + 16;
  };
  if (text.size() != 32 || !half(text.substr(0, 16), hash.high) ||
      !half(text.substr(16), hash.low)) {
    return fail(ErrorCode::parse_error, "not a point's hash", std::string(text.substr(0, 40)));
  }
  return hash;
}

CommandTraits traits_of(const std::vector<std::string>& command) {
  CommandTraits traits;
  if (command.empty()) return traits;
  if (command.front() == "calibrate") traits.out_option = "out";
  traits.reusable = command.front() == "simulate" || command.front() == "project";
  return traits;
}

Result<Points> Points::expand(const Plan& plan, std::string_view program_hash,
                              const std::vector<std::string>& input_files) {
  Points points(plan);
  points.names_ = all_names(plan);
  InputHashes inputs(plan.folder());
  std::string common =
      fmt::format("wirewatt point 1\n{}\n{}\n", program_hash, fmt::join(plan.command, " "));
  // A result of which other parts were kept is another result.
  for (const auto& [what, keys] :
       {std::pair{"keep", plan.keep}, std::pair{"timings", plan.timings}}) {
    common += fmt::format("{} {}\n", what, fmt::join(keys, " "));
  }
  for (const auto& input : plan.inputs) {
    WW_ASSIGN(hash, inputs.of("inputs", input));
    common += fmt::format("{} {}\n", input, hash);
  }
  std::vector<bool> names_file;
  for (const auto& name : points.names_) {
    names_file.push_back(std::ranges::find(input_files, name) != input_files.end() ||
                         name == kDevice || name == kArguments || name == kProgram);
  }
  Cells row(points.names_.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto base = plan.base.find(points.names_[i]);
    if (base != plan.base.end()) row[i] = &base->second;
  }
  Status status;
  std::string text;
  const Expansion expansion(plan, points.names_);
  expansion.run(row, [&](const Cells& each) {
    if (points.hashes_.size() == kMaxPoints) {
      status = fail(ErrorCode::out_of_range, "the plan has more than 100 million points",
                    plan.file.string());
      return false;
    }
    text = common;
    for (std::size_t i = 0; i < each.size(); ++i) {
      // A flag that is off is no argument: the same point as one that does not name it.
      if (each[i] == nullptr || (each[i]->kind == Value::Kind::flag && !each[i]->on)) continue;
      text.append(points.names_[i]).append("=").append(each[i]->json).append("\n");
      if (!names_file[i]) continue;
      for (const auto& word : each[i]->words) {
        const auto hash = inputs.of(points.names_[i], word);
        if (!hash) {
          status = tl::unexpected(hash.error());
          return false;
        }
        text.append(*hash).append("\n");
      }
    }
    const auto hash = XXH3_128bits(text.data(), text.size());
    points.hashes_.push_back({hash.high64, hash.low64});
    points.cells_.insert(points.cells_.end(), each.begin(), each.end());
    return true;
  });
  WW_TRY(status);
  if (points.hashes_.empty()) {
    return fail(ErrorCode::invalid_argument, "the plan excludes every point", plan.file.string());
  }
  std::unordered_set<PointHash, PointHasher> seen;
  seen.reserve(points.hashes_.size());
  for (std::size_t i = 0; i < points.hashes_.size(); ++i) {
    if (seen.insert(points.hashes_[i]).second) {
      points.unique_.push_back(static_cast<std::uint32_t>(i));
    }
  }
  return points;
}

std::string Points::configuration(std::size_t point) const {
  std::string text;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const Value* cell = value(point, i);
    if (cell == nullptr) continue;
    text += fmt::format("{}\"{}\":{}", text.empty() ? "{" : ",", names_[i], cell->json);
  }
  return text.empty() ? "{}" : text + "}";
}

std::vector<std::string> Points::arguments(std::size_t point) const {
  std::vector<std::string> words = plan_->command;
  std::vector<std::string> positional;
  std::vector<std::string> program;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const Value* cell = value(point, i);
    if (cell == nullptr || names_[i] == kHost) continue;
    if (names_[i] == kArguments || names_[i] == kProgram) {
      (names_[i] == kProgram ? program : positional) = cell->words;
    } else if (cell->kind == Value::Kind::flag) {
      if (cell->on) words.push_back("--" + names_[i]);
    } else {
      for (const auto& word : cell->words) words.push_back(fmt::format("--{}={}", names_[i], word));
    }
  }
  words.insert(words.end(), positional.begin(), positional.end());
  if (!program.empty()) {
    words.emplace_back("--");
    words.insert(words.end(), program.begin(), program.end());
  }
  return words;
}

std::string Points::host(std::size_t point) const {
  const auto at = std::lower_bound(names_.begin(), names_.end(), kHost);
  if (at == names_.end() || *at != kHost) return {};
  const Value* cell = value(point, static_cast<std::size_t>(at - names_.begin()));
  return cell == nullptr || cell->words.empty() ? std::string() : cell->words.front();
}

}  // namespace ww::sweep
