#include "ww/core/kernel_label.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace ww {
namespace {

constexpr std::size_t kMost = 40;  // characters of a label in a table
constexpr std::string_view kAnonymous = "_GLOBAL__N_1";

// "3add", taken off the front of `rest`.
std::optional<std::string_view> take_identifier(std::string_view& rest) {
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
  const auto digits = static_cast<std::size_t>(end - rest.data());
  if (error != std::errc() || length == 0 || length > rest.size() - digits) return std::nullopt;
  const std::string_view identifier = rest.substr(digits, length);
  rest.remove_prefix(digits + length);
  return identifier;
}

bool take(std::string_view& rest, std::string_view prefix) {
  if (!rest.starts_with(prefix)) return false;
  rest.remove_prefix(prefix.size());
  return true;
}

// Namespaces, and the function last; none for a name that is not of this kind.
std::vector<std::string> parts_of(std::string_view name) {
  if (!take(name, "_Z")) return {};
  const bool nested = take(name, "N");
  std::vector<std::string> parts;
  if (nested && take(name, "St")) parts.emplace_back("std");
  do {
    take(name, "L");  // of one file alone
    const auto identifier = take_identifier(name);
    if (!identifier) return {};
    parts.emplace_back(*identifier == kAnonymous ? "(anonymous)" : *identifier);
  } while (nested && !name.starts_with('I') && !name.starts_with('E'));
  if (name.starts_with('I')) {
    parts.back() += "<>";
  } else if (name.size() == (nested ? 1 : 0)) {
    return {};  // no parameters follow: not a function
  }
  return parts;
}

}  // namespace

std::string kernel_label(std::string_view name, std::size_t most) {
  const std::vector<std::string> parts = parts_of(name);
  if (parts.empty()) return std::string(name.substr(0, most));
  std::string label = parts.back();
  for (std::size_t i = parts.size() - 1; i-- > 0;) {
    if (parts[i].size() + 2 + label.size() > most) break;
    label.insert(0, "::").insert(0, parts[i]);
  }
  return label.substr(0, most);
}

std::vector<std::string> kernel_labels(std::span<const std::string> names) {
  // Which of the names with this label it is; the same name may come again.
  std::map<std::string, std::vector<std::string>> names_of;
  for (const std::string& name : names) {
    auto& alike = names_of[kernel_label(name, kMost)];
    if (std::ranges::find(alike, name) == alike.end()) alike.push_back(name);
  }
  std::vector<std::string> labels;
  for (const std::string& name : names) {
    std::string label = kernel_label(name, kMost);
    const auto& alike = names_of[label];
    if (alike.size() > 1) {
      const std::string number =
          fmt::format(" #{}", std::ranges::find(alike, name) - alike.begin() + 1);
      label = kernel_label(name, kMost - number.size()) + number;
    }
    labels.push_back(std::move(label));
  }
  return labels;
}

}  // namespace ww
