#include "host/ptx_signature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <sstream>

namespace ww::microbench {
namespace {

// Text without comments, so that a name in one is not taken for an entry.
std::string without_comments(std::string_view text) {
  std::string kept;
  kept.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with("//")) {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at).starts_with("/*")) {
      const auto end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
      kept += ' ';
    } else {
      kept += text[at++];
    }
  }
  return kept;
}

// Returns the text between the entry's brackets; nothing where there is no such entry.
std::optional<std::string> parameter_text(const std::string& ptx, const std::string& kernel) {
  constexpr std::string_view word = ".entry";
  for (auto at = ptx.find(word); at != std::string::npos; at = ptx.find(word, at + 1)) {
    auto begin = ptx.find_first_not_of(" \t\r\n", at + word.size());
    if (begin == std::string::npos || ptx.compare(begin, kernel.size(), kernel) != 0) continue;
    begin = ptx.find_first_not_of(" \t\r\n", begin + kernel.size());
    if (begin == std::string::npos) return std::nullopt;
    if (ptx[begin] == '{' || ptx[begin] == '.') return std::string();  // no parameters at all
    if (ptx[begin] != '(') continue;                                   // a longer name
    const auto end = ptx.find(')', begin);
    if (end == std::string::npos) return std::nullopt;
    return ptx.substr(begin + 1, end - begin - 1);
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<ArgumentSlot>> ptx_arguments(std::string_view text, const std::string& kernel) {
  const std::string ptx = without_comments(text);
  if (ptx.find(".version") == std::string::npos) {
    return fail(ErrorCode::parse_error, "not PTX: no .version directive", kernel);
  }
  const auto list = parameter_text(ptx, kernel);
  if (!list) return fail(ErrorCode::not_found, "the PTX has no such entry", kernel);
  std::vector<ArgumentSlot> slots;
  std::uint32_t next = 0;
  std::istringstream parameters(*list);
  for (std::string parameter; std::getline(parameters, parameter, ',');) {
    if (parameter.find_first_not_of(" \t\r\n") == std::string::npos) continue;
    if (parameter.find('[') != std::string::npos || parameter.find(".v") != std::string::npos) {
      return fail(ErrorCode::unsupported, "a parameter is not a scalar: " + parameter, kernel);
    }
    std::uint32_t bits = 0;
    std::istringstream words(parameter);
    for (std::string word; words >> word;) {
      // .u64 .s32 .f32 .b8: the type is the only word of that form.
      if (word.size() >= 3 && word[0] == '.' &&
          std::string_view("usfb").find(word[1]) != std::string_view::npos &&
          std::isdigit(static_cast<unsigned char>(word[2])) != 0) {
        bits = static_cast<std::uint32_t>(std::strtoul(word.c_str() + 2, nullptr, 10));
      }
    }
    const std::uint32_t size = bits / 8;
    if (size != 1 && size != 2 && size != 4 && size != 8) {
      return fail(ErrorCode::parse_error, "a parameter without a known type: " + parameter, kernel);
    }
    next = (next + size - 1) / size * size;
    slots.push_back({next, size});
    next += size;
  }
  return slots;
}

}  // namespace ww::microbench
