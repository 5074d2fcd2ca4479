#include "program/usage_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <regex>

#include "ww/core/suggest.hpp"

namespace ww::cli {
namespace {

using Words = std::smatch;

std::string choice_text(const Words& words) {
  const auto known = CLI::detail::split(words.str(3), ',');
  return fmt::format("{}: there is no '{}'; there are {}{}", words.str(1), words.str(2),
                     fmt::join(known, ", "),
                     did_you_mean(words.str(2), {known.begin(), known.end()}));
}

struct Message {
  const char* library;  // the library's words, a regular expression
  std::string (*text)(const Words& words);
};

const std::array kMessages{
    Message{R"(Could not convert: (.+?) = (.*))",
            [](const Words& words) {
              return fmt::format("{}: '{}' is not a number", words.str(1), words.str(2));
            }},
    Message{R"((.+?): (.*) not in \{(.*)\})", choice_text},
    Message{R"((\S+) requires (\S+))",
            [](const Words& words) {
              return fmt::format("{}: goes with {} only", words.str(1), words.str(2));
            }},
    Message{R"((\S+) excludes (\S+))",
            [](const Words& words) {
              return fmt::format("{}: does not go with {}", words.str(1), words.str(2));
            }},
    Message{R"((\S+) is required)",
            [](const Words& words) {
              return fmt::format("{}: is needed and has no default", words.str(1));
            }},
    Message{R"((\S+): \d+ required (\S+) missing)",
            [](const Words& words) {
              return fmt::format("{}: needs a value ({}) after it", words.str(1), words.str(2));
            }},
    Message{R"((\S+): At least (\d+) required but received (\d+))",
            [](const Words& words) {
              return fmt::format("{}: needs at least {} values, not {}", words.str(1), words.str(2),
                                 words.str(3));
            }},
    Message{R"((\S+): At Most (\d+) required but received (\d+))",
            [](const Words& words) {
              return fmt::format("{}: takes at most {} values, not {}", words.str(1), words.str(2),
                                 words.str(3));
            }},
    Message{R"(The following arguments? (?:was|were) not expected: (.*))",
            [](const Words& words) {
              return fmt::format(
                  "{}: more than the command takes; a program and its arguments go "
                  "after --",
                  words.str(1));
            }},
    Message{R"(A subcommand is required)",
            [](const Words&) { return std::string("a command is needed"); }},
};

}  // namespace

std::string usage_text(const CLI::ParseError& error) {
  std::string text = error.what();
  for (const Message& message : kMessages) {
    Words words;
    if (std::regex_match(text, words, std::regex(message.library))) return message.text(words);
  }
  return text;
}

}  // namespace ww::cli
