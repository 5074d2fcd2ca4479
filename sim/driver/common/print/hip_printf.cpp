#include "common/print/hip_printf.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace ww::sim::driver::hip {
namespace {

// A field wider than this is a kernel's mistake, not a wish.
constexpr int kWidestField = 4096;

class Words {
 public:
  explicit Words(std::span<const std::uint64_t> words) : words_(words) {}

  std::optional<std::uint64_t> number() {
    if (words_.empty()) return std::nullopt;
    const std::uint64_t value = words_.front();
    words_ = words_.subspan(1);
    return value;
  }
  // A zero-terminated string in whole words.
  std::optional<std::string> text() {
    if (words_.empty()) return std::nullopt;
    const auto* bytes = reinterpret_cast<const char*>(words_.data());
    const std::size_t size = strnlen(bytes, words_.size_bytes());
    std::string text(bytes, size);
    words_ = words_.subspan(std::min(size / sizeof(std::uint64_t) + 1, words_.size()));
    return text;
  }

 private:
  std::span<const std::uint64_t> words_;
};

template <class... Values>
std::string printed(const std::string& specification, Values... values) {
  const int size = std::snprintf(nullptr, 0, specification.c_str(), values...);
  if (size <= 0) return {};
  std::string text(static_cast<std::size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), specification.c_str(), values...);
  text.pop_back();
  return text;
}

int field_size(std::uint64_t word) {
  const auto value = static_cast<std::int32_t>(word);
  return std::max(-kWidestField, std::min(kWidestField, value));
}

// How %s comes: null: as text among the words.
using AddressReader = const StringReader*;

// One conversion: flags, width and precision as in the format, stars replaced; its length modifier
// cuts the 64 bits that came. Nothing when the words end.
std::optional<std::string> convert(const std::string& flags, const std::string& length, char kind,
                                   Words& words, AddressReader read_string) {
  if (kind == 's') {
    std::optional<std::string> text;
    if (read_string == nullptr) {
      text = words.text();
    } else if (const auto address = words.number()) {
      text = (*read_string)(*address);
    }
    if (!text) return std::nullopt;
    return printed(flags + "s", text->c_str());
  }
  const auto word = words.number();
  if (!word) return std::nullopt;
  switch (kind) {
    case 'd':
    case 'i': {
      auto value = static_cast<std::int64_t>(*word);
      // NOLINTNEXTLINE(bugprone-signed-char-misuse): a number, not a character
      if (length == "hh") value = static_cast<signed char>(value);
      if (length == "h") value = static_cast<std::int16_t>(value);
      if (length.empty()) value = static_cast<std::int32_t>(value);
      return printed(flags + "lld", static_cast<long long>(value));
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X': {
      std::uint64_t value = *word;
      if (length == "hh") value = static_cast<std::uint8_t>(value);
      if (length == "h") value = static_cast<std::uint16_t>(value);
      if (length.empty()) value = static_cast<std::uint32_t>(value);
      return printed(flags + "ll" + kind, static_cast<unsigned long long>(value));
    }
    case 'c': return printed(flags + "c", static_cast<int>(*word));
    case 'p':
      // NOLINTNEXTLINE(performance-no-int-to-ptr): printf takes a pointer; nobody follows it
      return printed(flags + "p", reinterpret_cast<const void*>(*word));
    default: return printed(flags + kind, std::bit_cast<double>(*word));
  }
}

std::string render(const std::string& format, Words& words, AddressReader read_string) {
  std::string out;
  for (std::size_t at = 0; at < format.size();) {
    const std::size_t percent = std::min(format.find('%', at), format.size());
    out.append(format, at, percent - at);
    at = percent;
    if (at == format.size()) break;
    if (format.compare(at, 2, "%%") == 0) {
      out += '%';
      at += 2;
      continue;
    }
    const std::size_t end = format.find_first_not_of("-+ #0123456789.*", at + 1);
    const std::size_t kind =
        end == std::string::npos ? end : format.find_first_not_of("hlLjzt", end);
    static constexpr std::string_view kKinds = "diuoxXfFeEgGaAcsp";
    if (kind == std::string::npos || kKinds.find(format[kind]) == std::string_view::npos) {
      out += format[at++];
      continue;
    }
    std::string flags;
    bool complete = true;
    for (const char c : format.substr(at, end - at)) {
      if (c != '*') {
        flags += c;
        continue;
      }
      const auto size = words.number();
      complete = complete && size.has_value();
      flags += std::to_string(field_size(size.value_or(0)));
    }
    const auto text =
        complete ? convert(flags, format.substr(end, kind - end), format[kind], words, read_string)
                 : std::nullopt;
    out += text.value_or(format.substr(at, kind + 1 - at));
    at = kind + 1;
  }
  return out;
}

// "0:0:HASH,TEXT": what begins a record, in base 16, and the text as it is.
constexpr std::string_view kFormatOfHip = "0:0:";

const char* find_format(std::span<const std::string> formats, std::uint64_t number) {
  for (const std::string& format : formats) {
    std::uint64_t own = 0;
    const char* end = format.data() + format.size();
    const auto [comma, error] =
        std::from_chars(format.data() + std::min(kFormatOfHip.size(), format.size()), end, own, 16);
    if (error == std::errc{} && own == number && comma != end && *comma == ',') return comma + 1;
  }
  return nullptr;
}

}  // namespace

std::string render_message(std::span<const std::uint64_t> all) {
  Words words(all);
  const std::string format = words.text().value_or("");
  return render(format, words, nullptr);
}

bool are_formats_of_hip(std::span<const std::string> formats) {
  return !formats.empty() && formats.front().starts_with(kFormatOfHip);
}

std::string render_buffer(std::span<const std::string> formats, std::span<const std::byte> records,
                          const StringReader& read_string) {
  constexpr std::uint32_t kHasNumber = 2;
  std::string out;
  while (records.size() >= sizeof(std::uint32_t)) {
    std::uint32_t control = 0;
    std::memcpy(&control, records.data(), sizeof control);
    const std::size_t size = control >> 2;
    if (size < sizeof control || size > records.size()) break;
    std::vector<std::uint64_t> values((size - sizeof control) / sizeof(std::uint64_t));
    std::memcpy(values.data(), records.data() + sizeof control,
                values.size() * sizeof(std::uint64_t));
    records = records.subspan(size);
    Words words(values);
    if ((control & kHasNumber) == 0) {
      const std::string format = words.text().value_or("");
      out += render(format, words, &read_string);
      continue;
    }
    const auto number = words.number();
    const char* format = number ? find_format(formats, *number) : nullptr;
    if (format == nullptr) break;
    out += render(format, words, nullptr);
  }
  return out;
}

}  // namespace ww::sim::driver::hip
