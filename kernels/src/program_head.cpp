#include "program_head.hpp"

namespace ww::kernels {

ProgramHead split_head(std::string_view text) {
  constexpr std::string_view word = "#define ";
  ProgramHead head;
  while (text.starts_with(word)) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(word.size(), end - word.size());
    const auto blank = line.find(' ');
    std::string_view value = blank == std::string_view::npos ? "" : line.substr(blank + 1);
    if (value.ends_with('u')) value.remove_suffix(1);
    head.values.emplace(line.substr(0, blank), value);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  head.rest = text;
  return head;
}

bool has_both_wave_sizes(std::string_view target) {
  return target.starts_with("gfx10") || target.starts_with("gfx11") || target.starts_with("gfx12");
}

}  // namespace ww::kernels
