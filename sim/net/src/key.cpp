#include "ww/sim/net/key.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace ww::sim::net {
namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;  // clang 14 asks for it

std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view part = list.substr(0, comma);
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    parts.push_back(part);
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return parts;
}

Status check_number(const BoundKey& key, double value) {
  return check_range(key.name, value, key.range.low, key.range.high, key.range.why);
}

Status check_choice(const BoundKey& key, std::string_view value) {
  const auto choices = parts_of(key.range.choices);
  if (choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end()) {
    return {};
  }
  std::string known;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    known += fmt::format("{}{}", i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ", choices[i]);
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("{} '{}' is unknown; {}", key.name, value, known), std::string(key.name));
}

Error malformed(const BoundKey& key, std::string_view text, std::string_view wanted) {
  return Error{ErrorCode::invalid_argument,
               fmt::format("{} = \"{}\" is not {}", key.name, text, wanted), std::string(key.name)};
}

// Writes `value` and returns true when the whole text is a number of that type.
template <class T>
bool parse(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && stop == end;
}

}  // namespace

Status check_range(std::string_view key, double value, double low, double high,
                   std::string_view why) {
  if (value >= low && value <= high) {
    return {};
  }
  return fail(ErrorCode::out_of_range,
              fmt::format("{} = {} is outside {} to {}: {}", key, value, low, high, why),
              std::string(key));
}

const BoundKey* find_key(const BoundKeys& keys, std::string_view name) {
  const auto found = std::find_if(keys.begin(), keys.end(),
                                  [name](const BoundKey& key) { return key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

Status check(const BoundKey& key) {
  return std::visit(Overloaded{[&](const int* value) { return check_number(key, *value); },
                               [&](const double* value) { return check_number(key, *value); },
                               [&](const std::optional<double>* value) {
                                 return *value ? check_number(key, **value) : Status{};
                               },
                               [&](const std::string* value) { return check_choice(key, *value); },
                               [](const auto*) { return Status{}; }},
                    key.field);
}

Status check(const BoundKeys& keys) {
  for (const BoundKey& key : keys) {
    WW_TRY(check(key));
  }
  return {};
}

std::string exact_text(double value) {
  const std::string text = fmt::format("{:.17g}", value);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

std::string value_text(const Field& field) {
  return std::visit(
      Overloaded{[](const bool* value) { return std::string(*value ? "true" : "false"); },
                 [](const int* value) { return fmt::format("{}", *value); },
                 [](const double* value) { return fmt::format("{}", *value); },
                 [](const std::optional<double>* value) {
                   return *value ? fmt::format("{}", **value) : std::string();
                 },
                 [](const std::string* value) { return *value; },
                 [](const NodeList* value) { return fmt::format("{}", fmt::join(*value, ",")); },
                 [](const Allocator* value) { return std::string(to_string(*value)); }},
      field);
}

Status set_value(const BoundKey& key, std::string_view text) {
  const auto number = [&](auto& value, std::string_view wanted) -> Status {
    if (!parse(text, value)) {
      return tl::unexpected<Error>(malformed(key, text, wanted));
    }
    return {};
  };
  WW_TRY(std::visit(
      Overloaded{[&](int* value) { return number(*value, "a whole number"); },
                 [&](double* value) { return number(*value, "a number"); },
                 [&](std::optional<double>* value) { return number(value->emplace(), "a number"); },
                 [&](bool* value) -> Status {
                   *value = text == "true" || text == "1";
                   if (!*value && text != "false" && text != "0") {
                     return tl::unexpected<Error>(malformed(key, text, "true or false"));
                   }
                   return {};
                 },
                 [&](std::string* value) -> Status {
                   *value = text;
                   return {};
                 },
                 [&](NodeList* value) -> Status {
                   value->clear();
                   for (const std::string_view part : parts_of(text)) {
                     if (!parse(part, value->emplace_back())) {
                       return tl::unexpected<Error>(malformed(key, text, "a list as 1,7,8"));
                     }
                   }
                   return {};
                 },
                 [&](Allocator* value) -> Status {
                   WW_ASSIGN(allocator, allocator_from_string(text));
                   *value = allocator;
                   return {};
                 }},
      key.field));
  return check(key);
}

std::string option_name(std::string_view key) {
  std::string name = "--" + std::string(key);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string help_text(const BoundKey& key) {
  std::string text(key.help);
  if (!key.unit.empty()) {
    text += fmt::format(" [{}]", key.unit);
  }
  if (key.source == "assumed") {
    text += " (assumed)";
  }
  return text;
}

}  // namespace ww::sim::net
