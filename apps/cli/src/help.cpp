#include "help.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ww::cli {
namespace {

constexpr std::size_t many = 30;           // options; fewer are shown as they are
constexpr std::size_t shown_of_group = 2;  // in full
constexpr std::size_t width = 92;          // of a line of names

std::vector<const CLI::Option*> options_of(const CLI::App& app, const std::string& group) {
  return app.get_options([&](const CLI::Option* option) {
    return option->get_group() == group && option->nonpositional();
  });
}

// "    also --a --b", on as many lines as they take.
std::string names_of(const std::vector<const CLI::Option*>& options) {
  std::string text;
  std::string line = "    also";
  for (const CLI::Option* option : options) {
    const std::string name = " --" + option->get_lnames().front();
    if (line.size() + name.size() > width) {
      text += line + "\n";
      line = "        ";
    }
    line += name;
  }
  return text + line + "\n";
}

}  // namespace

std::string ScreenHelp::make_help(const CLI::App* app, std::string name,
                                  CLI::AppFormatMode mode) const {
  if (mode != CLI::AppFormatMode::Normal || app->get_options().size() < many) {
    return Formatter::make_help(app, name, mode);
  }
  std::string text = make_description(app) + make_usage(app, name) + make_positionals(app);
  for (const std::string& group : app->get_groups()) {
    auto options = options_of(*app, group);
    if (group.empty() || options.empty()) continue;
    std::vector<const CLI::Option*> rest;
    for (std::size_t i = shown_of_group; i < options.size(); ++i) {
      if (!options[i]->get_lnames().empty()) rest.push_back(options[i]);
    }
    options.resize(std::min(options.size(), shown_of_group));
    text += make_group(group, false, options);
    if (!rest.empty()) text += names_of(rest);
  }
  return text +
         fmt::format("\nAll options with what they mean: wirewatt {} --help-all\n\n",
                     app->get_name()) +
         make_footer(app);
}

std::string ScreenHelp::make_option_opts(const CLI::Option* option) const {
  if (!option->get_option_text().empty()) return " " + option->get_option_text();
  std::string text;
  if (option->get_type_size() != 0) {
    if (!option->get_type_name().empty()) text += " " + get_label(option->get_type_name());
    if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
    if (option->get_required()) text += " " + get_label("REQUIRED");
  }
  return text;
}

}  // namespace ww::cli
