#include "ww/sim/driver_settings.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <array>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "ww/core/atomic_file.hpp"
#include "ww/sim/gpu/toml_reader.hpp"

namespace ww::sim {
namespace {

constexpr const char* kVariable = "WIREWATT_SETTINGS";

template <class Field>
struct Key {
  std::string_view name;
  Field DriverSettings::*field;
};

constexpr std::array kTexts{Key<std::string>{"counters_aside", &DriverSettings::counters_aside},
                            Key<std::string>{"trace_aside", &DriverSettings::trace_aside},
                            Key<std::string>{"live", &DriverSettings::live},
                            Key<std::string>{"mistakes", &DriverSettings::mistakes},
                            Key<std::string>{"sealed_energy", &DriverSettings::sealed_energy},
                            Key<std::string>{"timing", &DriverSettings::timing},
                            Key<std::string>{"timing_report", &DriverSettings::timing_report}};
constexpr std::array kLists{
    Key<std::vector<std::string>>{"timing_keys", &DriverSettings::timing_keys},
    Key<std::vector<std::string>>{"approx", &DriverSettings::approx}};
constexpr std::string_view kProgress = "progress";
constexpr std::string_view kTraceValues = "trace_values";
constexpr std::string_view kThreshold = "approx_threshold";

std::optional<std::string> named_file() {
  const char* name = std::getenv(kVariable);
  if (name == nullptr || *name == '\0') return std::nullopt;
  return name;
}

std::string toml_text(const DriverSettings& settings) {
  toml::table table;
  if (settings.progress) table.insert(kProgress, true);
  if (!settings.trace_values) table.insert(kTraceValues, false);
  for (const auto& [name, field] : kTexts) {
    if (!(settings.*field).empty()) table.insert(name, settings.*field);
  }
  for (const auto& [name, field] : kLists) {
    toml::array list;
    for (const std::string& text : settings.*field) list.push_back(text);
    if (!list.empty()) table.insert(name, std::move(list));
  }
  if (settings.approx_threshold) table.insert(kThreshold, *settings.approx_threshold);
  std::ostringstream text;
  text << table << '\n';
  return text.str();
}

}  // namespace

Result<DriverSettings> read_driver_settings() {
  DriverSettings settings;
  const auto file = named_file();
  if (!file) return settings;
  WW_ASSIGN(text, read_file(*file));
  WW_ASSIGN(table, gpu::parse_toml(text, *file));
  gpu::TomlErrors errors(*file);
  gpu::TomlReader reader(table, "", errors);
  if (reader.has(kProgress)) settings.progress = reader.boolean(kProgress);
  if (reader.has(kTraceValues)) settings.trace_values = reader.boolean(kTraceValues);
  for (const auto& [name, field] : kTexts) settings.*field = reader.text_or(name, "");
  for (const auto& [name, field] : kLists) {
    if (reader.has(name)) settings.*field = reader.texts(name);
  }
  if (reader.has(kThreshold)) settings.approx_threshold = reader.number(kThreshold, 0, 100);
  reader.finish();
  if (errors.first()) return tl::unexpected(*errors.first());
  return settings;
}

Status write_driver_settings(const std::filesystem::path& file, const DriverSettings& settings) {
  return write_file_atomically(file, toml_text(settings));
}

Result<ScopedDriverSettings> ScopedDriverSettings::apply(const DriverSettings& settings) {
  WW_ASSIGN(folder, ScratchFolder::create("settings"));
  const auto file = folder.path() / "settings.toml";
  WW_TRY(write_driver_settings(file, settings));
  ScopedDriverSettings passed(std::move(folder));
  passed.before_ = named_file();
  ::setenv(kVariable, file.c_str(), 1);
  return passed;
}

ScopedDriverSettings::ScopedDriverSettings(ScopedDriverSettings&& other) noexcept
    : folder_(std::move(other.folder_)), before_(std::move(other.before_)) {
  other.folder_.reset();
}

ScopedDriverSettings::~ScopedDriverSettings() {
  if (!folder_) return;
  if (before_) {
    ::setenv(kVariable, before_->c_str(), 1);
  } else {
    ::unsetenv(kVariable);
  }
}

}  // namespace ww::sim
