// One key, one row: a parameter of a chip file is declared once, with its name, the field that it
// sets, its range, unit, meaning and source. Reading, checking and docs/reference/chip-keys.md all
// read that row.
//
// A TomlKey<C> names a member of C. A row without a member is declared here and read by code of its
// own, where a list or a choice needs that.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "ww/sim/gpu/toml_reader.hpp"

namespace ww::sim::gpu {

template <class C>
using TomlMember = std::variant<std::monostate, int C::*, std::int64_t C::*, std::uint64_t C::*,
                                double C::*, bool C::*, std::string C::*, std::vector<double> C::*>;

template <class C>
struct TomlKey {
  std::string_view name;
  TomlMember<C> field;
  double low{};  // of numbers, in the file's unit; both ends are allowed
  double high{};
  std::string_view unit;  // of the file: "pF"; empty for counts, ratios and texts
  std::string_view help;  // a phrase: what the value is
  std::string_view source{};
  double scale{1};  // the field is the file's value times this: 1e-12 for pF
  bool required{true};
};

// A row as a page shows it.
struct TomlKeyText {
  std::string table;  // "wires"; empty for keys at the top of the file
  std::string name;
  std::string range;  // "0 to 1"; empty for texts and lists
  std::string unit;
  std::string help;
  std::string source;
  bool required{true};
};

// The largest integer that a key may have, where its row allows more than a double counts exactly.
[[nodiscard]] inline std::int64_t toml_integer(double limit) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  return limit >= static_cast<double>(kMax) ? kMax : static_cast<std::int64_t>(limit);
}

// Reads the keys of `rows` that name a member; a key that is not required keeps what is there.
template <class C>
void read_keys(TomlReader& table, std::span<const TomlKey<C>> rows, C& into) {
  for (const TomlKey<C>& row : rows) {
    if (!row.required && !table.has(row.name)) {
      continue;
    }
    std::visit(
        [&](auto member) {
          if constexpr (!std::is_same_v<decltype(member), std::monostate>) {
            auto& field = into.*member;
            using Value = std::remove_cvref_t<decltype(field)>;
            if constexpr (std::is_same_v<Value, double>) {
              field = table.number(row.name, row.low, row.high) * row.scale;
            } else if constexpr (std::is_same_v<Value, bool>) {
              field = table.boolean(row.name);
            } else if constexpr (std::is_same_v<Value, std::string>) {
              field = table.text(row.name);
            } else if constexpr (std::is_same_v<Value, std::vector<double>>) {
              field = table.numbers(row.name, row.low, row.high);
            } else {
              field = static_cast<Value>(
                  table.integer(row.name, toml_integer(row.low), toml_integer(row.high)));
            }
          }
        },
        row.field);
  }
}

// The row of that name, which must be there.
template <class C>
[[nodiscard]] const TomlKey<C>& toml_row(std::span<const TomlKey<C>> rows, std::string_view name) {
  for (const TomlKey<C>& row : rows) {
    if (row.name == name) {
      return row;
    }
  }
  std::abort();  // a programmer's error: tables of rows are constants
}

// "0 to 1"; what no number bounds is empty.
[[nodiscard]] std::string toml_range_text(double low, double high);

template <class C>
void describe_keys(std::string_view table, std::span<const TomlKey<C>> rows,
                   std::vector<TomlKeyText>& texts) {
  for (const TomlKey<C>& row : rows) {
    std::string range = std::holds_alternative<bool C::*>(row.field)
                            ? "true, false"
                            : toml_range_text(row.low, row.high);
    texts.push_back({std::string(table), std::string(row.name), std::move(range),
                     std::string(row.unit), std::string(row.help), std::string(row.source),
                     row.required});
  }
}

}  // namespace ww::sim::gpu
