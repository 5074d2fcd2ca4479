#include "common/print/printf.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace ww::sim::driver {
namespace {

// One conversion specification: "%-8.3v4hlf".
struct Conversion {
  std::string flags_and_width;  // with the precision, as C has them
  unsigned vector{1};
  std::size_t bytes{};  // of an integer that the length modifier makes narrower than an int
  char type{};
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Parses what follows '%' at `at`; leaves `at` behind it.
Conversion parse_conversion(std::string_view text, std::size_t& at) {
  Conversion conversion;
  const auto here = [&] { return at < text.size() ? text[at] : '\0'; };
  while (std::string_view("-+ #0").find(here()) != std::string_view::npos && here() != '\0') {
    conversion.flags_and_width += text[at++];
  }
  while (is_digit(here()) || here() == '.') conversion.flags_and_width += text[at++];
  if (here() == 'v') {
    ++at;
    unsigned count = 0;
    while (is_digit(here()) && count < 100) {
      count = count * 10 + static_cast<unsigned>(text[at++] - '0');
    }
    conversion.vector = std::clamp(count, 1u, 16u);
  }
  const std::size_t modifiers = at;
  while (here() != '\0' && std::string_view("hlLzjt").find(here()) != std::string_view::npos) ++at;
  const std::string_view length = text.substr(modifiers, at - modifiers);
  if (length == "h" || length == "hh") conversion.bytes = length == "h" ? 2 : 1;
  conversion.type = here();
  if (at < text.size()) ++at;
  return conversion;
}

template <class T>
T load_value(std::span<const std::byte> bytes) {
  T value{};
  if (!bytes.empty()) std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

template <class... Arguments>
std::string c_format(const std::string& format, Arguments... arguments) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
  const int size = std::snprintf(nullptr, 0, format.c_str(), arguments...);
  if (size <= 0) return {};
  std::string text(static_cast<std::size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), format.c_str(), arguments...);
#pragma GCC diagnostic pop
  text.pop_back();
  return text;
}

// An integer of the given width, sign-extended.
long long load_signed(std::span<const std::byte> bytes) {
  switch (bytes.size()) {
    case 1: return load_value<std::int8_t>(bytes);
    case 2: return load_value<std::int16_t>(bytes);
    case 8: return load_value<std::int64_t>(bytes);
    default: return load_value<std::int32_t>(bytes);
  }
}

// A char or a short travels as an int: the bytes of it that count.
std::span<const std::byte> narrowed(const Conversion& conversion,
                                    std::span<const std::byte> bytes) {
  const bool narrow = conversion.bytes != 0 && conversion.bytes < bytes.size();
  return narrow ? bytes.first(conversion.bytes) : bytes;
}

double load_half(std::span<const std::byte> bytes) {
  const unsigned bits = load_value<std::uint16_t>(bytes);
  const int exponent = static_cast<int>(bits >> 10 & 31U);
  const double fraction = (bits & 1023U) / 1024.0;
  double value =
      exponent != 0 ? std::ldexp(1 + fraction, exponent - 15) : std::ldexp(fraction, -14);
  if (exponent == 31) value = fraction == 0 ? HUGE_VAL : std::nan("");
  return std::copysign(value, (bits & 0x8000U) != 0 ? -1 : 1);
}

double load_float(std::span<const std::byte> bytes) {
  if (bytes.size() >= 8) return load_value<double>(bytes);
  return bytes.size() == 2 ? load_half(bytes) : static_cast<double>(load_value<float>(bytes));
}

// The null pointer of private memory is all ones.
std::string pointer_text(std::span<const std::byte> bytes) {
  const auto value = load_value<unsigned long long>(bytes);
  const bool null = value == 0 || (bytes.size() == 4 && value == 0xFFFFFFFFU);
  return null ? "0x0" : c_format("%#llx", value);
}

std::string render_one(const Conversion& conversion, std::span<const std::byte> bytes,
                       const StringReader& read_string) {
  const std::string start = "%" + conversion.flags_and_width;
  switch (conversion.type) {
    case 'd':
    case 'i': return c_format(start + "lld", load_signed(narrowed(conversion, bytes)));
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      return c_format(start + "ll" + conversion.type,
                      load_value<unsigned long long>(narrowed(conversion, bytes)));
    case 'c': return c_format(start + "c", static_cast<int>(load_value<std::int32_t>(bytes)));
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': return c_format(start + conversion.type, load_float(bytes));
    case 's': {
      const auto address = load_value<std::uint64_t>(bytes);
      const std::string text = address != 0 ? read_string(address) : "(null)";
      return c_format(start + "s", text.c_str());
    }
    case 'p': return c_format(start + "s", pointer_text(bytes).c_str());
    default: return {};
  }
}

std::string render_vector(const Conversion& conversion, std::span<const std::byte> bytes,
                          const StringReader& read_string) {
  if (conversion.vector == 1) return render_one(conversion, bytes, read_string);
  // A vector of three takes the room of four, unless the compiler packed it.
  const std::size_t slots = conversion.vector == 3 && bytes.size() % 3 != 0 ? 4 : conversion.vector;
  const std::size_t size = bytes.size() / slots;
  std::string text;
  for (std::size_t i = 0; i < conversion.vector && size > 0; ++i) {
    if (i > 0) text += ',';
    text += render_one(conversion, bytes.subspan(i * size, size), read_string);
  }
  return text;
}

std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    const char c = text[++i];
    if (text.substr(i, 2) == "72") {  // octal: the compiler hides colons, its separators
      plain += ':';
      ++i;
      continue;
    }
    constexpr std::string_view kNames = "abfnrtv";
    constexpr std::string_view kValues = "\a\b\f\n\r\t\v";
    const auto known = kNames.find(c);
    if (known == std::string_view::npos) plain += '\\';  // one of the program's own
    plain += known != std::string_view::npos ? kValues[known] : c;
  }
  return plain;
}

}  // namespace

Result<PrintfFormat> parse_printf_format(std::string_view metadata) {
  std::string_view rest = metadata;
  const auto number = [&](std::uint32_t& value) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc{} || end == rest.data() + rest.size() || *end != ':') return false;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + 1);
    return true;
  };
  PrintfFormat format;
  std::uint32_t count = 0;
  bool good = number(format.id) && number(count) && count <= 1024;
  // LLVM 15 does not know %F and %A: it counts arguments of theirs that it neither gives a size nor
  // stores.
  for (std::uint32_t size = 0; good && format.sizes.size() < count && number(size);) {
    good = size <= 4096;
    format.sizes.push_back(size);
  }
  if (!good) {
    return fail(ErrorCode::parse_error,
                "not a printf format of the metadata: " + std::string(metadata));
  }
  format.text = unescape(rest);
  return format;
}

std::string render_printf(const PrintfFormat& format, std::span<const std::byte> arguments,
                          const StringReader& read_string) {
  std::string out;
  std::size_t next = 0;
  const std::string_view text = format.text;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '%') {
      out += text[at++];
      continue;
    }
    ++at;
    if (at < text.size() && text[at] == '%') {
      out += text[at++];
      continue;
    }
    const Conversion conversion = parse_conversion(text, at);
    if (next >= format.sizes.size()) continue;
    const std::size_t size = std::min<std::size_t>(format.sizes[next++], arguments.size());
    out += render_vector(conversion, arguments.first(size), read_string);
    arguments = arguments.subspan(size);
  }
  return out;
}

std::string render_records(std::span<const PrintfFormat> formats,
                           std::span<const std::byte> records, const StringReader& read_string) {
  std::string out;
  while (records.size() >= sizeof(std::uint32_t)) {
    const auto id = load_value<std::uint32_t>(records);
    const auto format = std::find_if(formats.begin(), formats.end(),
                                     [&](const PrintfFormat& f) { return f.id == id; });
    if (format == formats.end()) break;
    records = records.subspan(sizeof id);
    std::size_t size = 0;
    for (const auto bytes : format->sizes) size += bytes;
    if (size > records.size()) break;
    out += render_printf(*format, records.first(size), read_string);
    records = records.subspan(size);
  }
  return out;
}

}  // namespace ww::sim::driver
