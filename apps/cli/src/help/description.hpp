// Describes the commands as data from CLI11: manual pages, completions and the suggestions for
// misspelt names are made from it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace ww::cli {

struct OptionText {
  std::vector<std::string> names;  // "--out", "-o"; empty for a positional
  std::string positional;          // its name, or empty
  std::string help, value;         // value: "TEXT", "INT", empty for flags
  std::string fallback;            // default, as printed
  std::vector<std::string> choices;
  bool required{};
};

struct CommandText {
  std::string name, help, footer;  // name: "trace info" for a command below another
  std::vector<OptionText> options;
  std::vector<std::string> below;  // names of its own commands
};

// Every command, in the order of the program's help; commands below others follow theirs. Commands
// in the group "" are for other programs: users see them in no list.
enum class Hidden { included, left_out };
[[nodiscard]] std::vector<CommandText> describe_commands(const CLI::App& app, Hidden hidden);
// The program's own options.
[[nodiscard]] CommandText describe_program(const CLI::App& app);

// One page in roff (man 7).
[[nodiscard]] std::string manual_page(const CommandText& command, const std::string& version);
[[nodiscard]] std::string program_manual(const CommandText& program,
                                         const std::vector<CommandText>& commands,
                                         const std::string& version);

enum class Shell { bash, zsh, fish };
[[nodiscard]] std::string completion(Shell shell, const CommandText& program,
                                     const std::vector<CommandText>& commands);

// "no command 'calibrat'; did you mean 'calibrate'?", or of an option of the command that was
// given; empty where the arguments hold no such misspelling.
[[nodiscard]] std::string misspelling(const std::vector<std::string>& arguments,
                                      const CommandText& program,
                                      const std::vector<CommandText>& commands);

}  // namespace ww::cli
