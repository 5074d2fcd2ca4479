// Numbers as profilers print them: in the C locale, or with the digits of the user's locale.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ww/core/result.hpp"

namespace ww::measure {

enum class Decimal { point, comma };

// "", "n/a", "nan", "-" and their like: no value.
[[nodiscard]] bool is_absent(std::string_view text);

// Finds the decimal mark that all numbers of a file agree on, one after the other.
class DecimalMark {
 public:
  void see(std::string_view number);
  // As decimal_mark() of all that was seen.
  [[nodiscard]] Result<Decimal> settle(bool c_locale, const std::string& source) const;

 private:
  std::string point_, comma_, either_point_, either_comma_;  // the last number that says so
};

// The decimal mark that all `numbers` of a file agree on. A mark with exactly three digits behind
// it ("1.234") may group thousands; the file's other numbers decide. `c_locale`: the tool writes
// points only, so that such numbers alone are decimals. Errors: bad_data (both marks are decimal in
// one file, or no number decides).
[[nodiscard]] Result<Decimal> decimal_mark(std::span<const std::string_view> numbers, bool c_locale,
                                           const std::string& source);

// The number, or nothing where the text is none. Thousands may be grouped by the other mark, by
// spaces (also non-breaking) or by apostrophes, in threes only.
[[nodiscard]] std::optional<double> number(std::string_view text, Decimal mark);

// Why `value` counts no events; empty where it may. A difference of two readings that went below 0
// comes as nearly 2^64 from profilers that keep 64 bits without a sign.
[[nodiscard]] std::string_view why_no_count(double value);

}  // namespace ww::measure
