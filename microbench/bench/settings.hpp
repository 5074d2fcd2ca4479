// How programs pass an experiment's settings to it.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "ww/core/result.hpp"

namespace ww::microbench {

struct ExperimentSettings {
  std::uint64_t seed{1};
  bool quick{};
  // The experiment's own settings by name; what is not given keeps the
  // experiment's default.
  nlohmann::json own = nlohmann::json::object();
};

// Reads an experiment's own settings: read() each one that there is, then
// finish().
class SettingsReader {
 public:
  SettingsReader(std::string_view experiment, const nlohmann::json& own)
      : experiment_(experiment), own_(own) {}

  template <typename T>
  SettingsReader& read(const char* key, T& value) {
    known_.insert(key);
    if (const auto found = own_.find(key); found != own_.end()) {
      try {
        found->get_to(value);
      } catch (const nlohmann::json::exception&) {
        malformed_ = key;
      }
    }
    return *this;
  }

  // Error invalid_argument names the setting that is malformed or that the
  // experiment lacks.
  [[nodiscard]] Status finish() const {
    if (!malformed_.empty()) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("setting '{}' has a value of another type", malformed_), experiment_);
    }
    for (const auto& [key, value] : own_.items()) {
      if (!known_.contains(key)) {
        return fail(ErrorCode::invalid_argument, fmt::format("there is no setting '{}'", key),
                    experiment_);
      }
    }
    return {};
  }

 private:
  std::string experiment_;
  const nlohmann::json& own_;
  std::set<std::string> known_;
  std::string malformed_;
};

}  // namespace ww::microbench
