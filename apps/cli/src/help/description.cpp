#include "help/description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ww/core/device_name.hpp"
#include "ww/core/suggest.hpp"
#include "ww/microbench/virtual_chips.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/workloads/workloads.hpp"

namespace ww::cli {
namespace {

// Names that options take without saying so in their type.
std::vector<std::string> known_values(const std::string& option) {
  std::vector<std::string> names;
  if (option == "--device") {
    // Without the driver there is none to name.
    for (const auto& chip :
         microbench::virtual_chips().value_or(std::vector<microbench::VirtualChip>{})) {
      names.push_back(virtual_device_name(chip.name));
    }
  } else if (option == "--network") {
    for (const auto name : sim::net::network_names()) names.emplace_back(name);
  } else if (option == "--workload" || option == "names") {
    for (const auto& info : workloads::list()) names.emplace_back(info.name);
  }
  return names;
}

// "TEXT:{small,medium}" says what may stand there.
void split_type(const std::string& type, OptionText& option) {
  const auto open = type.find(":{");
  option.value = type.substr(0, open);
  if (open == std::string::npos) return;
  const auto close = type.find('}', open);
  option.choices = CLI::detail::split(type.substr(open + 2, close - open - 2), ',');
}

OptionText describe(const CLI::Option& option) {
  OptionText text;
  for (const auto& name : option.get_lnames()) text.names.push_back("--" + name);
  for (const auto& name : option.get_snames()) text.names.push_back("-" + name);
  if (option.get_positional()) text.positional = option.get_name(true);
  text.help = option.get_description();
  text.required = option.get_required();
  if (option.get_expected_max() > 0) {
    split_type(option.get_type_name(), text);
    text.fallback = option.get_default_str();
  }
  if (text.choices.empty() && text.value != "") {
    text.choices = known_values(text.names.empty() ? text.positional : text.names.front());
  }
  return text;
}

CommandText describe(const CLI::App& app, const std::string& name) {
  CommandText text{name, app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options()) text.options.push_back(describe(*option));
  for (const CLI::App* below : app.get_subcommands(nullptr)) {
    if (!below->get_group().empty()) text.below.push_back(below->get_name());
  }
  return text;
}

void add_commands(std::vector<CommandText>& commands, const CLI::App& app,
                  const std::string& prefix, Hidden hidden) {
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (hidden == Hidden::left_out && command->get_group().empty()) continue;
    const std::string name = prefix + command->get_name();
    commands.push_back(describe(*command, name));
    add_commands(commands, *command, name + " ", hidden);
  }
}

const CommandText* find(const std::vector<CommandText>& commands, const std::string& name) {
  const auto found = std::ranges::find(commands, name, &CommandText::name);
  return found == commands.end() ? nullptr : &*found;
}

std::vector<std::string_view> views(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

}  // namespace

std::vector<CommandText> describe_commands(const CLI::App& app, Hidden hidden) {
  std::vector<CommandText> commands;
  add_commands(commands, app, "", hidden);
  return commands;
}

CommandText describe_program(const CLI::App& app) {
  return describe(app, app.get_name());
}

std::string misspelling(const std::vector<std::string>& arguments, const CommandText& program,
                        const std::vector<CommandText>& commands) {
  const CommandText* command = nullptr;
  bool follows_command = true;
  for (const auto& argument : arguments) {
    const bool is_next_word = std::exchange(follows_command, false);
    if (argument == "--") return {};
    if (argument.starts_with("--")) {
      const auto name = argument.substr(0, argument.find('='));
      std::vector<std::string> options;
      for (const auto* owner : {&program, command}) {
        if (owner == nullptr) continue;
        for (const auto& option : owner->options) {
          options.insert(options.end(), option.names.begin(), option.names.end());
        }
      }
      if (std::ranges::find(options, name) == options.end()) {
        return fmt::format("no option '{}'{}{}", name,
                           command != nullptr ? " of " + command->name : "",
                           did_you_mean(name, views(options)));
      }
      continue;
    }
    const auto& names = command == nullptr ? program.below : command->below;
    if (argument.starts_with("-") || names.empty()) {
      if (command != nullptr) continue;  // a value or a positional
      if (argument.starts_with("-")) continue;
    }
    if (names.empty()) continue;
    const auto full = command == nullptr ? argument : command->name + " " + argument;
    const CommandText* next = find(commands, full);
    if (next == nullptr) {
      const auto meant = did_you_mean(argument, views(names));
      const bool takes_words =
          command != nullptr && std::ranges::any_of(command->options, [](const auto& option) {
            return !option.positional.empty();
          });
      // A plan's name, or the value of an option.
      if (takes_words && (!is_next_word || meant.empty())) continue;
      return fmt::format("no command '{}'{}", full, meant);
    }
    command = next;
    follows_command = true;
  }
  return {};
}

}  // namespace ww::cli
