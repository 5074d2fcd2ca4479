#include "number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace ww::measure {
namespace {

constexpr std::string_view kDigits = "0123456789";

bool digit(char c) {
  return c >= '0' && c <= '9';
}

// Spaces and apostrophes that group digits become `_`; nothing when other characters are there.
std::optional<std::string> plain(std::string_view text) {
  static constexpr std::array<std::string_view, 5> groupers = {"\xC2\xA0", "\xE2\x80\xAF",
                                                               "\xE2\x80\x99", " ", "'"};
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  std::string out;
  while (!text.empty()) {
    const auto* grouper =
        std::ranges::find_if(groupers, [&](std::string_view g) { return text.starts_with(g); });
    if (grouper != groupers.end()) {
      out += '_';
      text.remove_prefix(grouper->size());
      continue;
    }
    const char c = text.front();
    if (!digit(c) && std::string_view(".,+-eE").find(c) == std::string_view::npos) return {};
    out += c;
    text.remove_prefix(1);
  }
  return out;
}

struct Parts {
  std::string mantissa;  // without sign
  std::string exponent;  // "e-02" or empty
  bool negative{};
};

std::optional<Parts> split(std::string_view text) {
  auto cleaned = plain(text);
  if (!cleaned || cleaned->empty()) return {};
  Parts parts;
  std::string_view rest = *cleaned;
  if (rest.front() == '-' || rest.front() == '+') {
    parts.negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  const auto e = rest.find_first_of("eE");
  parts.mantissa = rest.substr(0, e);
  if (e != std::string_view::npos) {
    parts.exponent = rest.substr(e);
    std::string_view power = rest.substr(e + 1);
    if (!power.empty() && (power.front() == '-' || power.front() == '+')) power.remove_prefix(1);
    if (power.empty() || power.find_first_not_of(kDigits) != std::string_view::npos) return {};
  }
  if (parts.mantissa.empty() || parts.mantissa.find_first_of("+-") != std::string::npos) return {};
  return parts;
}

enum class Evidence { none, point, comma, either };

Evidence evidence(std::string_view text) {
  if (text.find_first_not_of(kDigits) == std::string_view::npos) return Evidence::none;
  const auto parts = split(text);
  if (!parts) return Evidence::none;
  const std::string& m = parts->mantissa;
  const auto points = std::ranges::count(m, '.');
  const auto commas = std::ranges::count(m, ',');
  if (points == 0 && commas == 0) return Evidence::none;
  if (points > 0 && commas > 0) {
    return m.rfind('.') > m.rfind(',') ? Evidence::point : Evidence::comma;
  }
  if (points > 1) return Evidence::comma;
  if (commas > 1) return Evidence::point;
  const char mark = points == 1 ? '.' : ',';
  const auto at = m.find(mark);
  const bool could_group = m.size() - at - 1 == 3 && at >= 1 && at <= 3 && m[0] != '0' &&
                           parts->exponent.empty() && m.find('_') == std::string::npos;
  if (could_group) return Evidence::either;
  return mark == '.' ? Evidence::point : Evidence::comma;
}

}  // namespace

bool is_absent(std::string_view text) {
  if (!text.empty() && digit(text.front())) return false;
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  static constexpr std::array<std::string_view, 13> words = {
      "",     "n/a",     "na",  "nan",  "-nan",           "-", "none", "[n/a]",
      "null", "(!) n/a", "inf", "-inf", "[not supported]"};
  return std::ranges::find(words, lower) != words.end();
}

void DecimalMark::see(std::string_view number) {
  switch (evidence(number)) {
    case Evidence::none: break;
    case Evidence::point: point_ = number; break;
    case Evidence::comma: comma_ = number; break;
    case Evidence::either:
      (number.find('.') != std::string_view::npos ? either_point_ : either_comma_) = number;
      break;
  }
}

Result<Decimal> DecimalMark::settle(bool c_locale, const std::string& source) const {
  if (!point_.empty() && !comma_.empty()) {
    return fail(ErrorCode::bad_data,
                fmt::format("'{}' and '{}' do not use one decimal mark; export with LC_ALL=C",
                            point_, comma_),
                source);
  }
  if (!point_.empty()) return Decimal::point;
  if (!comma_.empty()) return Decimal::comma;
  if (!either_comma_.empty() || (!either_point_.empty() && !c_locale)) {
    return fail(ErrorCode::bad_data,
                fmt::format("nothing in the file tells whether '{}' has a decimal mark or grouped "
                            "thousands; export with LC_ALL=C",
                            either_comma_.empty() ? either_point_ : either_comma_),
                source);
  }
  return Decimal::point;
}

Result<Decimal> decimal_mark(std::span<const std::string_view> numbers, bool c_locale,
                             const std::string& source) {
  DecimalMark mark;
  for (const std::string_view text : numbers) mark.see(text);
  return mark.settle(c_locale, source);
}

std::optional<double> number(std::string_view text, Decimal mark) {
  if (text.size() < 16 && text.find_first_not_of(kDigits) == std::string_view::npos) {
    std::uint64_t whole = 0;
    const char* const last = text.data() + text.size();
    if (std::from_chars(text.data(), last, whole).ptr == last && !text.empty()) {
      return static_cast<double>(whole);
    }
  }
  const auto parts = split(text);
  if (!parts) return {};
  const char decimal = mark == Decimal::point ? '.' : ',';
  std::string_view whole = parts->mantissa;
  std::string_view fraction;
  const auto at = whole.find(decimal);
  if (at != std::string_view::npos) {
    fraction = whole.substr(at + 1);
    whole = whole.substr(0, at);
    if (fraction.find_first_not_of(kDigits) != std::string_view::npos) return {};
  }
  if (whole.empty() && fraction.empty()) return {};
  // Groups of three behind a first one of up to three, all by the same separator.
  std::string cleaned = parts->negative ? "-" : "";
  const auto first = whole.find_first_not_of(kDigits);
  if (first == std::string_view::npos) {
    cleaned += whole;
  } else {
    const char separator = whole[first];
    if (separator == decimal || first == 0 || first > 3) return {};
    cleaned += whole.substr(0, first);
    for (auto rest = whole.substr(first); !rest.empty(); rest.remove_prefix(4)) {
      if (rest.size() < 4 || rest[0] != separator) return {};
      if (!std::all_of(rest.begin() + 1, rest.begin() + 4, digit)) return {};
      cleaned += rest.substr(1, 3);
    }
  }
  if (whole.empty()) cleaned += '0';
  if (!fraction.empty()) cleaned.append(".").append(fraction);
  cleaned += parts->exponent;
  double value = 0;
  const auto [end, error] = std::from_chars(cleaned.data(), cleaned.data() + cleaned.size(), value);
  if (error != std::errc{} || end != cleaned.data() + cleaned.size()) return {};
  if (!std::isfinite(value)) return {};
  return value;
}

std::string_view why_no_count(double value) {
  constexpr double kNegativeAsUnsigned = 9223372036854775808.0;  // 2^63
  if (value < 0) return "events are not negative";
  return value >= kNegativeAsUnsigned ? "that is a negative number without its sign" : "";
}

}  // namespace ww::measure
