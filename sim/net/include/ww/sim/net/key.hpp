// One key, one row. A setting is declared once, in its component's folder: its name, the field that
// it sets, the values that make sense, its unit, its help text and where its default comes from.
// The command line, the files of settings, the checks and the documentation all read that row, so
// that a new setting is a field and a row and nothing else.
//
// A table of rows belongs to a struct of settings: `Key<C>` names a member of C. bind_rows() turns
// the rows of a table into rows of one object, whose fields can then be read and written.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/net/allocator.hpp"

namespace ww::sim::net {

// The values that a key may take, whatever the other keys are.
struct KeyRange {
  double low{-std::numeric_limits<double>::infinity()};
  double high{std::numeric_limits<double>::infinity()};
  std::string_view why;      // the reason, as errors give it
  std::string_view choices;  // of a text: "dyxy, rca"; empty: any
};
[[nodiscard]] constexpr KeyRange between(double low, double high, std::string_view why) {
  return {low, high, why, {}};
}
[[nodiscard]] constexpr KeyRange one_of(std::string_view choices) {
  return {.why = {}, .choices = choices};
}
[[nodiscard]] constexpr KeyRange anything() {
  return {};
}

using NodeList = std::vector<std::uint32_t>;

template <class C>
using Member = std::variant<int C::*, double C::*, bool C::*, std::string C::*,
                            std::optional<double> C::*, NodeList C::*, Allocator C::*>;
using Field =
    std::variant<int*, double*, bool*, std::string*, std::optional<double>*, NodeList*, Allocator*>;

template <class FieldType>
struct KeyRow {
  std::string_view name;  // of the key in files and errors; its option has dashes: --vc-buffer
  FieldType field;
  KeyRange range;
  std::string_view unit;   // "cycles"; empty for names and switches
  std::string_view group;  // heading in the help; empty: for files alone, or not under its own name
  std::string_view help;   // a phrase; what the value does
  std::string_view source;  // of the default: a section of a paper, "assumed"; empty: ours
};
template <class C>
using Key = KeyRow<Member<C>>;
using BoundKey = KeyRow<Field>;
using BoundKeys = std::vector<BoundKey>;

// Appends the rows of `table` for `config`, which must outlive them.
template <class C>
void bind_rows(C& config, std::span<const Key<C>> table, BoundKeys& keys) {
  for (const Key<C>& key : table) {
    const Field field =
        std::visit([&config](auto member) -> Field { return &(config.*member); }, key.field);
    keys.push_back({key.name, field, key.range, key.unit, key.group, key.help, key.source});
  }
}

// The key of that name, or nullptr.
[[nodiscard]] const BoundKey* find_key(const BoundKeys& keys, std::string_view name);

// Errors name the key: out_of_range (a number), invalid_argument (a text that is no choice).
[[nodiscard]] Status check(const BoundKey& key);
[[nodiscard]] Status check(const BoundKeys& keys);

// The rows of a table for an object that is only to be checked.
template <class C>
[[nodiscard]] Status check_table(C config, std::span<const Key<C>> table) {
  BoundKeys keys;
  bind_rows(config, table, keys);
  return check(keys);
}
// A limit that depends on other keys, with the error that check() gives.
[[nodiscard]] Status check_range(std::string_view key, double value, double low, double high,
                                 std::string_view why);

// The value as set_value() reads it: 4, 0.5, true, dyxy, "1,7,8"; empty for an optional without
// one.
[[nodiscard]] std::string value_text(const Field& field);
// A number that is read back as it was, and as a number with a point: 0.5, 1400.0.
[[nodiscard]] std::string exact_text(double value);
// Sets a field from a text. Errors name the key: invalid_argument (not a value of its type),
// out_of_range, and those of check().
Status set_value(const BoundKey& key, std::string_view text);

// The option of a key: "--" and its name with dashes.
[[nodiscard]] std::string option_name(std::string_view key);
// Returns a key's help: its phrase with the unit, "Coupler loss [dB]", and "(assumed)" where
// nothing better than an assumption stands behind its default.
[[nodiscard]] std::string help_text(const BoundKey& key);

}  // namespace ww::sim::net
