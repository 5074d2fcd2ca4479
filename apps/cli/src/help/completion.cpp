// Completions for bash, zsh and fish, from the description of the commands.
#include <fmt/format.h>

#include <algorithm>

#include "help/description.hpp"

namespace ww::cli {
namespace {

std::string options_of(const CommandText& program, const CommandText& command) {
  std::vector<std::string> names;
  for (const auto* owner : {&command, &program}) {
    for (const auto& option : owner->options) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return fmt::format("{}", fmt::join(names, " "));
}

bool takes_file(const OptionText& option) {
  return !option.value.empty() && option.choices.empty();
}

// Returns the text in single quotes of a shell.
std::string shell_text(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

// The command so far is in $command ("trace info"); what an option or a place takes is a case.
std::string bash(const CommandText& program, const std::vector<CommandText>& commands) {
  std::string values;
  std::string words;
  std::string names;
  for (const auto& command : commands) {
    names += (names.empty() ? "" : "|") + shell_text(command.name);
    for (const auto& option : command.options) {
      if (option.value.empty() || option.names.empty()) continue;
      std::string keys;
      for (const auto& name : option.names) {
        keys += (keys.empty() ? "" : "|") + shell_text(command.name + " " + name);
      }
      values +=
          takes_file(option)
              ? fmt::format("    {}) COMPREPLY=($(compgen -f -- \"$cur\")); return;;\n", keys)
              : fmt::format("    {}) COMPREPLY=($(compgen -W {} -- \"$cur\")); return;;\n", keys,
                            shell_text(fmt::format("{}", fmt::join(option.choices, " "))));
    }
    std::vector<std::string> places = command.below;
    for (const auto& option : command.options) {
      if (!option.positional.empty()) {
        places.insert(places.end(), option.choices.begin(), option.choices.end());
      }
    }
    words += fmt::format("    {}) options={} words={};;\n", shell_text(command.name),
                         shell_text(options_of(program, command)),
                         shell_text(fmt::format("{}", fmt::join(places, " "))));
  }
  return fmt::format(R"(# bash completion for wirewatt
_wirewatt() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command= word i
  local options={} words={}
  # A colon is a word of its own to bash: virtual:w9100.
  if declare -F _get_comp_words_by_ref >/dev/null; then
    local words_ cword_
    _get_comp_words_by_ref -n : -c cur -p previous
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${{COMP_WORDS[i]}}
    [ "$word" = -- ] && {{ COMPREPLY=($(compgen -f -- "$cur")); return; }}
    case ${{command:+$command }}$word in
      {}) command=${{command:+$command }}$word;;
    esac
  done
  case "$command $previous" in
{}  esac
  case $command in
{}  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    [ -n "$command" ] && COMPREPLY+=($(compgen -f -- "$cur"))
  fi
  declare -F __ltrim_colon_completions >/dev/null && __ltrim_colon_completions "$cur"
}}
complete -o filenames -F _wirewatt wirewatt
)",
                     shell_text(options_of(program, program)),
                     shell_text(fmt::format("{}", fmt::join(program.below, " "))), names, values,
                     words);
}

// Returns text that zsh can show beside a word: no colon, no brackets, one line.
std::string zsh_text(std::string text) {
  for (char& c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\n') c = ' ';
  }
  return text;
}

std::string zsh_option(const OptionText& option, const std::string& name) {
  std::string spec = name + "[" + zsh_text(option.help) + "]";
  if (!option.value.empty()) {
    std::string choices;
    for (const auto& choice : option.choices) {
      std::string escaped;
      for (const char c : choice) escaped += c == ':' ? "\\:" : std::string(1, c);
      choices += (choices.empty() ? "" : " ") + escaped;
    }
    spec += ":" + option.value + ":" + (choices.empty() ? "_files" : "(" + choices + ")");
  }
  return shell_text(spec);
}

std::string zsh(const std::vector<CommandText>& commands) {
  std::string list;
  std::string cases;
  for (const auto& command : commands) {
    if (command.name.find(' ') == std::string::npos) {
      list += fmt::format("    {}\n", shell_text(command.name + ":" + zsh_text(command.help)));
    }
    std::string arguments;
    for (const auto& option : command.options) {
      for (const auto& name : option.names) arguments += " \\\n        " + zsh_option(option, name);
    }
    std::vector<std::string> places = command.below;
    for (const auto& option : command.options) {
      if (!option.positional.empty()) {
        places.insert(places.end(), option.choices.begin(), option.choices.end());
      }
    }
    arguments += " \\\n        ";
    arguments += places.empty() ? shell_text("*:file:_files")
                                : shell_text(fmt::format("*:word:({})", fmt::join(places, " ")));
    cases += fmt::format("    {}) _arguments{};;\n", shell_text(command.name), arguments);
  }
  return fmt::format(R"(#compdef wirewatt
# zsh completion for wirewatt
_wirewatt() {{
  local command= word
  local -a commands
  commands=(
{}  )
  for word in ${{words[2,CURRENT-1]}}; do
    [[ $word == -- ]] && {{ _files; return }}
    [[ $word == -* ]] && continue
    case "${{command:+$command }}$word" in
      {}) command="${{command:+$command }}$word";;
    esac
  done
  case $command in
    '') _describe command commands;;
{}  esac
}}
_wirewatt "$@"
)",
                     list,
                     [&] {
                       std::string names;
                       for (const auto& command : commands) {
                         names += (names.empty() ? "" : "|") + shell_text(command.name);
                       }
                       return names;
                     }(),
                     cases);
}

std::string fish(const CommandText& program, const std::vector<CommandText>& commands) {
  std::string text = "# fish completion for wirewatt\n";
  for (const auto& command : commands) {
    const auto space = command.name.rfind(' ');
    const bool top = space == std::string::npos;
    const auto condition =
        top ? std::string("__fish_use_subcommand")
            : fmt::format("__fish_seen_subcommand_from {}", command.name.substr(0, space));
    text += fmt::format(
        "complete -c wirewatt {}-n {} -a {} -d {}\n", top ? "-f " : "", shell_text(condition),
        shell_text(top ? command.name : command.name.substr(space + 1)), shell_text(command.help));
  }
  const auto options = [&](const CommandText& of, const std::string& condition) {
    for (const auto& option : of.options) {
      std::string flags;
      for (const auto& name : option.names) {
        flags += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      std::string values;
      if (!option.value.empty() && !option.names.empty()) values = " -r";
      if (!option.choices.empty()) {
        values += fmt::format("{} -a {}", option.names.empty() ? "" : " -f",
                              shell_text(fmt::format("{}", fmt::join(option.choices, " "))));
      }
      if (flags.empty() && option.choices.empty()) continue;
      text += fmt::format("complete -c wirewatt{}{}{} -d {}\n",
                          condition.empty() ? "" : " -n " + shell_text(condition), flags, values,
                          shell_text(option.help));
    }
  };
  options(program, "");
  for (const auto& command : commands) {
    options(command, fmt::format("__fish_seen_subcommand_from {}",
                                 command.name.substr(command.name.rfind(' ') + 1)));
  }
  return text;
}

}  // namespace

std::string completion(Shell shell, const CommandText& program,
                       const std::vector<CommandText>& commands) {
  switch (shell) {
    case Shell::bash: return bash(program, commands);
    case Shell::zsh: return zsh(commands);
    case Shell::fish: return fish(program, commands);
  }
  return {};
}

}  // namespace ww::cli
