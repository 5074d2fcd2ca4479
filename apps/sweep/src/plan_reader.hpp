// Parts of a plan's TOML, each error naming file, line and key.
#pragma once

#include <toml++/toml.h>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "ww/sweep/plan.hpp"

namespace ww::sweep {

class PlanReader {
 public:
  explicit PlanReader(std::string origin) : origin_(std::move(origin)) {}

  [[nodiscard]] tl::unexpected<Error> wrong(const toml::node& node, std::string_view key,
                                            std::string_view what) const;
  Status only(const toml::table& table, std::initializer_list<std::string_view> known) const;

  [[nodiscard]] Result<std::string> text(const toml::node& node, std::string_view key) const;
  [[nodiscard]] Result<std::vector<std::string>> texts(const toml::node& node,
                                                       std::string_view key) const;
  [[nodiscard]] Result<double> number(const toml::node& node, std::string_view key, double low,
                                      double high) const;

  // A bool, a number, a text, or a list of them.
  [[nodiscard]] Result<Value> value(const toml::node& node, std::string_view key) const;
  [[nodiscard]] Result<Settings> settings(const toml::table& table) const;
  // A list of values, or a range {from, to, step} or {from, to, count, scale}.
  [[nodiscard]] Result<std::vector<Value>> steps(const toml::node& node,
                                                 std::string_view key) const;
  // Each key an axis of its own, in the order of the file.
  [[nodiscard]] Result<std::vector<Axis>> axes(const toml::table& table) const;
  // All keys one axis: lists of one length.
  [[nodiscard]] Result<Axis> zipped(const toml::table& table) const;
  [[nodiscard]] Result<Condition> condition(const toml::table& table) const;

 private:
  [[nodiscard]] Result<std::vector<Value>> range(const toml::table& table,
                                                 std::string_view key) const;
  std::string origin_;
};

// The table's keys in the order of the file (the library keeps them sorted).
[[nodiscard]] std::vector<const toml::key*> in_file_order(const toml::table& table);

}  // namespace ww::sweep
