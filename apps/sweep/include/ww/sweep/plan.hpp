// A sweep's plan: one command, a base configuration, and axes along which it varies (TOML;
// docs/sweeps.md has the form).
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::sweep {

// The value of one option. `json` is its canonical text: equal values have equal texts.
struct Value {
  enum class Kind { flag, scalar, list };
  Kind kind{};
  bool on{};                       // of a flag
  std::string json;                // true, 0.1, "mesh", ["a","b"]
  std::vector<std::string> words;  // as arguments: one for a scalar, none for a flag
};

using Settings = std::map<std::string, Value, std::less<>>;

// Options that vary together: rows[i][j] is the value of names[j] at step i. A plain axis has one
// name, and a zipped one several.
struct Axis {
  std::vector<std::string> names;
  std::vector<std::vector<Value>> rows;
};

// A condition applies to points whose settings match: each named setting equals one of the values.
struct Condition {
  std::map<std::string, std::vector<Value>> match;
  Settings set;
  std::vector<Axis> axes;
  bool skip{};  // leaves such points out
};

struct SlurmSettings {
  std::vector<std::string> options;  // passed to sbatch as they are: --partition=gpu
  double chunk_s{300};               // how long one task of an array should run [s]
  unsigned slots{1};  // points at a time in a task: a whole node's, where nodes are large
  std::uint64_t max_running{0};     // tasks of an array at a time; 0: as many as the site lets
  std::uint64_t max_tasks{10'000};  // over all arrays of a submission; chunks grow beyond
};

struct Plan {
  std::filesystem::path file;        // absolute; relative paths in it are relative to its folder
  std::string text;                  // the file itself
  std::string name;                  // default: the file's stem
  std::vector<std::string> command;  // {"simulate"}, {"workloads", "run"}
  Settings base;
  std::vector<Axis> axes;  // in the order of the file; the last varies fastest
  std::vector<Condition> conditions;
  std::vector<std::string> inputs;   // further files whose content makes a point another one
  std::vector<std::string> keep;     // result keys (dotted, as prefixes) to keep; empty: all
  std::vector<std::string> timings;  // further result keys that give time, not the result
  double time_limit_s{3600};         // for one point
  double memory_mib{0};              // for one point; 0: what points turn out to need
  unsigned cpus{1};                  // for one point
  SlurmSettings slurm;

  [[nodiscard]] std::filesystem::path folder() const { return file.parent_path(); }
  // Names that vary, in the order of the file, with those of conditions last.
  [[nodiscard]] std::vector<std::string> varying() const;
};

// Settings that are no option of the command.
inline constexpr std::string_view kArguments = "arguments";  // positional arguments
inline constexpr std::string_view kProgram = "program";  // a program and its arguments, after --
inline constexpr std::string_view kHost = "host";        // the machine to run on

// Reads a plan. Errors: not_found, permission_denied, io_error (the file); parse_error,
// out_of_range (what is in it, with line and key).
[[nodiscard]] Result<Plan> load_plan(const std::filesystem::path& file);
// Parses a plan from text. `file` names it in errors and gives the folder. Errors: parse_error,
// out_of_range.
[[nodiscard]] Result<Plan> parse_plan(std::string text, const std::filesystem::path& file);

}  // namespace ww::sweep
