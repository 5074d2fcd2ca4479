#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace ww::cli {

std::size_t terminal_columns(std::size_t otherwise) {
  winsize window{};
  const bool is_known = ::isatty(STDOUT_FILENO) == 1 &&
                        ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
  return is_known ? window.ws_col : otherwise;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t room) {
  std::vector<std::string> lines{""};
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > room) {
      lines.emplace_back();
    }
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
    if (end < text.size() && text[end] == '\n') lines.emplace_back();
    at = end + 1;
  }
  return lines;
}

std::string cut(const std::string& text, std::size_t room) {
  const auto begins_letter = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  const auto letters = static_cast<std::size_t>(std::ranges::count_if(text, begins_letter));
  if (letters <= room) return text;
  if (room == 0) return {};
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if (begins_letter(text[end]) && ++seen == room) break;
  }
  return text.substr(0, end) + "…";
}

}  // namespace ww::cli
