#include "pattern.hpp"

#include <regex>

namespace ww::e2e {

bool found(const std::string& text, const std::string& pattern) {
  return std::regex_search(text, std::regex(pattern));
}

bool found_in_any_case(const std::string& text, const std::string& pattern) {
  return std::regex_search(text, std::regex(pattern, std::regex::icase));
}

std::vector<std::string> groups(const std::string& text, const std::string& pattern) {
  std::smatch match;
  std::vector<std::string> result;
  if (std::regex_search(text, match, std::regex(pattern))) {
    for (const auto& group : match) result.push_back(group.str());
  }
  return result;
}

std::string replaced(const std::string& text, const std::string& pattern,
                     const std::string& replacement) {
  return std::regex_replace(text, std::regex(pattern), replacement);
}

}  // namespace ww::e2e
