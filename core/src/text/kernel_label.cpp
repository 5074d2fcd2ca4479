#include "ww/core/kernel_label.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>

namespace ww {
namespace {

constexpr std::size_t kMaxLabel = 40;  // characters of a label in a table
constexpr std::string_view kGap = "...";

// Whether the bracket at `at` belongs to a name: "(anonymous namespace)", "{lambda(int)#1}" follows
// another rule, and "operator()".
bool is_of_name(std::string_view text, std::size_t at) {
  return text.substr(at).starts_with("(anonymous namespace)") ||
         text.substr(0, at).ends_with("operator");
}

// The function that a demangled name is of, without result and parameters.
std::string function_of(std::string_view text) {
  if (const auto clone = text.find(" [clone "); clone != std::string_view::npos) {
    text = text.substr(0, clone);
  }
  if (text.ends_with(".kd")) text.remove_suffix(3);
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' && depth == 0 && i > begin && !is_of_name(text, i)) {
      return std::string(text.substr(begin, i - begin));
    }
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == '}') --depth;
    if (c == ' ' && depth == 0) begin = i + 1;
  }
  return std::string(text);  // no parameters: no function, or one whose language has none in names
}

// Namespaces are left out from the front while there are some and the text is too long.
std::string_view without_namespaces(std::string_view text, std::size_t most) {
  while (text.size() > most) {
    const auto end = text.find("::");
    if (end == std::string_view::npos || end > text.find_first_of("<{")) break;
    text.remove_prefix(end + 2);
  }
  return text;
}

std::string ends_of(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  if (most <= 2 * kGap.size()) return std::string(text.substr(0, most));
  const std::size_t head = (most - kGap.size()) / 2;
  const std::size_t tail = most - kGap.size() - head;
  return fmt::format("{}{}{}", text.substr(0, head), kGap, text.substr(text.size() - tail));
}

// The beginning of `text`, what follows its first `same` characters, and the end.
std::string difference_of(std::string_view text, std::size_t same) {
  constexpr std::size_t kEnd = (kMaxLabel - 2 * kGap.size()) / 3;
  constexpr std::size_t kMiddle = kMaxLabel - 2 * kGap.size() - 2 * kEnd;
  while (same > 0 && std::isalnum(static_cast<unsigned char>(text[same - 1])) != 0) --same;
  if (same <= kEnd || same + kMiddle + kEnd >= text.size()) {
    const std::size_t head = std::min(same, kMaxLabel - kGap.size() - kMiddle - kEnd);
    return fmt::format("{}{}{}", text.substr(0, head), same == head ? "" : kGap,
                       ends_of(text.substr(same), kMaxLabel - kGap.size() - head));
  }
  return fmt::format("{}{}{}{}{}", text.substr(0, kEnd), kGap, text.substr(same, kMiddle), kGap,
                     text.substr(text.size() - kEnd));
}

std::size_t common_prefix(const std::vector<std::string>& texts) {
  const auto [least, most] = std::ranges::minmax_element(texts);
  return static_cast<std::size_t>(std::ranges::mismatch(*least, *most).in1 - least->begin());
}

using LabelOf = std::map<std::string, std::string>;  // by name

std::map<std::string, std::vector<std::string>> names_by_label(const LabelOf& labels) {
  std::map<std::string, std::vector<std::string>> names;
  for (const auto& [name, label] : labels) names[label].push_back(name);
  std::erase_if(names, [](const auto& entry) { return entry.second.size() < 2; });
  return names;
}

// Lets equal labels show where their names differ. Returns whether any changed.
bool show_differences(LabelOf& labels) {
  bool changed = false;
  for (const auto& [label, names] : names_by_label(labels)) {
    std::vector<std::string> functions;
    for (const std::string& name : names) {
      const std::string function = function_of(kernel_name(name));
      functions.emplace_back(without_namespaces(function, kMaxLabel));
    }
    const std::size_t same = common_prefix(functions);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (functions[i].size() <= kMaxLabel) continue;
      std::string shown = difference_of(functions[i], same);
      changed = changed || shown != label;
      labels[names[i]] = std::move(shown);
    }
  }
  return changed;
}

}  // namespace

std::string kernel_name(std::string_view name) {
  if (!name.starts_with("_Z")) return std::string(name);
  const std::string mangled(name.substr(0, name.find(".kd")));
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : std::string(name);
}

std::string kernel_label(std::string_view name, std::size_t most) {
  const std::string function = function_of(kernel_name(name));
  return ends_of(without_namespaces(function, most), most);
}

std::vector<std::string> kernel_labels(std::span<const std::string> names) {
  LabelOf label_of;
  for (const std::string& name : names) label_of[name] = kernel_label(name, kMaxLabel);
  constexpr int kMaxRounds = 8;  // each parts the names of one label further
  for (int round = 0; round < kMaxRounds && show_differences(label_of); ++round) {
  }
  for (const auto& [label, alike] : names_by_label(label_of)) {
    // Numbers the labels in the order of the table.
    std::size_t number = 0;
    std::set<std::string> numbered;
    for (const std::string& name : names) {
      if (std::ranges::find(alike, name) == alike.end() || !numbered.insert(name).second) continue;
      const std::string mark = fmt::format(" #{}", ++number);
      label_of[name] = ends_of(label, kMaxLabel - mark.size()) + mark;
    }
  }
  std::vector<std::string> labels;
  for (const std::string& name : names) labels.push_back(label_of[name]);
  return labels;
}

}  // namespace ww
