#include "ww/sweep/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "plan_reader.hpp"
#include "ww/core/atomic_file.hpp"

namespace ww::sweep {
namespace {

constexpr double kDayS = 86'400;

Status read_limits(const PlanReader& reader, const toml::table& root, Plan& plan) {
  const auto number = [&](const char* key, double low, double high, double& into) -> Status {
    if (const auto* node = root.get(key)) {
      WW_ASSIGN(value, reader.number(*node, key, low, high));
      into = value;
    }
    return {};
  };
  WW_TRY(number("time_limit_s", 0.1, 365 * kDayS, plan.time_limit_s));
  WW_TRY(number("memory_mib", 1, 1e9, plan.memory_mib));
  double cpus = plan.cpus;
  WW_TRY(number("cpus", 1, 4096, cpus));
  plan.cpus = static_cast<unsigned>(cpus);
  return {};
}

Status read_slurm(const PlanReader& reader, const toml::table& root, SlurmSettings& slurm) {
  const auto* node = root.get("slurm");
  if (node == nullptr) return {};
  const auto* table = node->as_table();
  if (table == nullptr) return reader.wrong(*node, "slurm", "must be a table");
  WW_TRY(reader.only(*table, {"options", "chunk_s", "slots", "max_running", "max_tasks"}));
  if (const auto* options = table->get("options")) {
    WW_ASSIGN(texts, reader.texts(*options, "options"));
    for (const auto& option : texts) {
      if (!option.starts_with("-")) {
        return reader.wrong(*options, "options", "lists sbatch's options, as \"--partition=gpu\"");
      }
    }
    slurm.options = std::move(texts);
  }
  if (const auto* chunk = table->get("chunk_s")) {
    WW_ASSIGN(seconds, reader.number(*chunk, "chunk_s", 0.1, 30 * kDayS));
    slurm.chunk_s = seconds;
  }
  const auto count = [&](const char* key, double low, std::uint64_t& into) -> Status {
    if (const auto* one = table->get(key)) {
      WW_ASSIGN(value, reader.number(*one, key, low, 1e7));
      into = static_cast<std::uint64_t>(value);
    }
    return {};
  };
  std::uint64_t slots = slurm.slots;
  WW_TRY(count("slots", 1, slots));
  slurm.slots = static_cast<unsigned>(slots);
  WW_TRY(count("max_running", 0, slurm.max_running));
  WW_TRY(count("max_tasks", 1, slurm.max_tasks));
  return {};
}

Status read_axes(const PlanReader& reader, const toml::table& root, Plan& plan) {
  const auto* axes = root.get("axes");
  if (axes != nullptr && axes->as_table() == nullptr) {
    return reader.wrong(*axes, "axes", "must be a table");
  }
  const auto tables = [&](const char* key) -> Result<const toml::array*> {
    const auto* node = root.get(key);
    if (node == nullptr) return nullptr;
    const auto* list = node->as_array();
    if (list == nullptr || !list->is_homogeneous(toml::node_type::table)) {
      return reader.wrong(*node, key, fmt::format("must be one or more [[{}]]", key));
    }
    return list;
  };
  if (axes != nullptr) {
    WW_ASSIGN(found, reader.axes(*axes->as_table()));
    plan.axes = std::move(found);
  }
  WW_ASSIGN(zips, tables("zip"));
  if (zips != nullptr) {
    for (const auto& entry : *zips) {
      WW_ASSIGN(axis, reader.zipped(*entry.as_table()));
      plan.axes.push_back(std::move(axis));
    }
  }
  WW_ASSIGN(whens, tables("when"));
  if (whens != nullptr) {
    for (const auto& entry : *whens) {
      WW_ASSIGN(condition, reader.condition(*entry.as_table()));
      plan.conditions.push_back(std::move(condition));
    }
  }
  std::set<std::string, std::less<>> seen;
  for (const auto& axis : plan.axes) {
    for (const auto& name : axis.names) {
      const bool again = !seen.insert(name).second;
      if (again || plan.base.contains(name)) {
        return reader.wrong(axes != nullptr ? *axes : static_cast<const toml::node&>(root), name,
                            again ? "is varied twice" : "is both in [base] and varied");
      }
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> Plan::varying() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const auto& axis : axes) {
    for (const auto& name : axis.names) add(name);
  }
  for (const auto& condition : conditions) {
    for (const auto& axis : condition.axes) {
      for (const auto& name : axis.names) add(name);
    }
    for (const auto& [name, value] : condition.set) add(name);
  }
  return names;
}

Result<Plan> parse_plan(std::string text, const std::filesystem::path& file) {
  Plan plan;
  plan.file = std::filesystem::absolute(file).lexically_normal();
  plan.text = std::move(text);
  plan.name = plan.file.stem().string();
  const auto origin = file.string();
  toml::table root;
  try {
    root = toml::parse(plan.text, origin);
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::parse_error, std::string(error.description()),
                fmt::format("{}:{}", origin, error.source().begin.line));
  }
  const PlanReader reader(origin);
  WW_TRY(reader.only(root, {"name", "command", "base", "axes", "zip", "when", "inputs", "keep",
                            "timings", "time_limit_s", "memory_mib", "cpus", "slurm"}));
  const auto* command = root.get("command");
  if (command == nullptr) {
    return reader.wrong(root, "command", "is missing: say what to run, as command = \"simulate\"");
  }
  WW_ASSIGN(words, reader.text(*command, "command"));
  for (std::size_t at = 0; at < words.size();) {
    const auto end = std::min(words.find(' ', at), words.size());
    if (end > at) plan.command.push_back(words.substr(at, end - at));
    at = end + 1;
  }
  if (const auto* node = root.get("name")) {
    WW_ASSIGN(name, reader.text(*node, "name"));
    plan.name = std::move(name);
  }
  if (const auto* node = root.get("base")) {
    if (node->as_table() == nullptr) return reader.wrong(*node, "base", "must be a table");
    WW_ASSIGN(base, reader.settings(*node->as_table()));
    plan.base = std::move(base);
  }
  for (const auto& [key, into] :
       {std::pair{"inputs", &plan.inputs}, {"keep", &plan.keep}, {"timings", &plan.timings}}) {
    if (const auto* node = root.get(key)) {
      WW_ASSIGN(texts, reader.texts(*node, key));
      *into = std::move(texts);
    }
  }
  WW_TRY(read_limits(reader, root, plan));
  WW_TRY(read_slurm(reader, root, plan.slurm));
  WW_TRY(read_axes(reader, root, plan));
  return plan;
}

Result<Plan> load_plan(const std::filesystem::path& file) {
  WW_ASSIGN(text, read_file(file));
  return parse_plan(std::move(text), file);
}

}  // namespace ww::sweep
