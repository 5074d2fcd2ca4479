// Every command's help, of commands below others too: one screen, an example that the command would
// take, defaults. The commands are those that the help itself names.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "pattern.hpp"
#include "process.hpp"

namespace ww::e2e {
namespace {

using Command = std::vector<std::string>;  // {"trace", "info"}; {} for the program itself

std::string name_of(const Command& command) {
  std::string name = "wirewatt";
  for (const auto& word : command) name += " " + word;
  return name;
}

std::string help_of(const Command& command, const std::string& how = "--help") {
  Command words{wirewatt()};
  words.insert(words.end(), command.begin(), command.end());
  words.push_back(how);
  const auto finished = run(words);
  EXPECT_EQ(finished.exit_code, 0) << name_of(command) << finished.err;
  return finished.out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Lines after a heading, up to an empty one.
std::vector<std::string> section(const std::string& help, const std::string& heading) {
  std::vector<std::string> found;
  bool inside = false;
  for (const auto& line : lines_of(help)) {
    if (inside && line.empty()) break;
    if (inside) found.push_back(line);
    if (line == heading) inside = true;
  }
  return found;
}

std::vector<std::string> commands_below(const std::string& help) {
  std::vector<std::string> names;
  for (const auto& line : section(help, "Subcommands:")) {
    const auto name = groups(line, "^  ([a-z]+)");
    if (!name.empty()) names.push_back(name[1]);
  }
  return names;
}

struct Page {
  Command command;
  std::string help;
};

void collect(const Command& command, std::vector<Page>& pages) {
  pages.push_back({command, help_of(command)});
  const auto below = commands_below(pages.back().help);
  for (const auto& name : below) {
    Command one = command;
    one.push_back(name);
    collect(one, pages);
  }
}

const std::vector<Page>& all_pages() {
  static const std::vector<Page> pages = [] {
    std::vector<Page> found;
    collect({}, found);
    return found;
  }();
  return pages;
}

bool is_command(const Command& command) {
  return std::ranges::find(all_pages(), command, &Page::command) != all_pages().end();
}

TEST(Help, NamesEveryCommand) {
  EXPECT_GE(all_pages().size(), 30U);
  EXPECT_TRUE(is_command({"calibrate"}));
  EXPECT_TRUE(is_command({"trace", "import"}));
  EXPECT_TRUE(is_command({"sweep", "cancel"}));
}

TEST(Help, FitsOneScreen) {
  for (const auto& page : all_pages()) {
    const auto lines = lines_of(page.help);
    EXPECT_LE(lines.size(), 45U) << name_of(page.command);
    for (const auto& line : lines) EXPECT_LE(line.size(), 100U) << name_of(page.command) << line;
  }
}

TEST(Help, HasAnExampleThatTheCommandWouldTake) {
  for (const auto& page : all_pages()) {
    std::size_t examples = 0;
    for (const auto& line : lines_of(page.help)) {
      if (!found(line, "^  (source <\\()?wirewatt ")) continue;
      ++examples;
      std::istringstream words(line.substr(line.find("wirewatt")));
      std::string word;
      words >> word;
      Command command;
      std::string help;
      while (words >> word && word != "--" && word != "&&") {
        Command longer = command;
        longer.push_back(word);
        if (is_command(longer)) command = longer;
        if (!word.starts_with("-")) continue;
        const std::string option = word.substr(0, word.find('='));
        help = help_of(command, "--help-all");
        EXPECT_TRUE(found(help, "[ ,]" + option + "[ ,\n]"))
            << name_of(command) << " has no " << option << ", which an example of "
            << name_of(page.command) << " uses";
      }
      EXPECT_FALSE(command.empty()) << line;
    }
    EXPECT_GE(examples, 1U) << name_of(page.command);
  }
}

// A number or a choice has a default; the help shows it, or says what happens without the option.
TEST(Help, ShowsDefaults) {
  for (const auto& page : all_pages()) {
    if (!commands_below(page.help).empty()) continue;
    std::string option;
    const auto judge = [&] {
      if (!found(option, "^  -[^ ]+ (INT|UINT|FLOAT|TEXT:\\{)")) return;
      const auto type = option.substr(0, option.find("  ", 4));
      EXPECT_TRUE(type.find('=') != std::string::npos ||
                  type.find("REQUIRED") != std::string::npos || found(option, "default|else"))
          << name_of(page.command) << option;
    };
    for (const auto& line : lines_of(help_of(page.command, "--help-all"))) {
      if (line.starts_with("        ")) {
        option += line;
        continue;
      }
      judge();
      option = line;
    }
    judge();
  }
}

}  // namespace
}  // namespace ww::e2e
