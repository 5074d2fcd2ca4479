#include "help/help.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>
#include <string_view>

#include "terminal.hpp"

namespace ww::cli {
namespace {

constexpr std::size_t kMany = 30;   // options; fewer are shown as they are
constexpr std::size_t kWidth = 96;  // of a line, where no terminal says how wide it is
constexpr std::size_t kMinWidth = 50;
constexpr std::size_t kIndent = 14;

// Lists the options that most runs of a command with many options need.
const std::map<std::string, std::vector<std::string>, std::less<>>& most_used() {
  static const std::map<std::string, std::vector<std::string>, std::less<>> options{
      {"wirewatt estimate",
       {"--out", "--model", "--arch", "--kernels", "--top", "--time", "--toggle-rate", "--device",
        "--counters", "--timeline", "--json"}},
      {"wirewatt simulate",
       {"--network", "--traffic", "--rate", "--workload", "--trace", "--k", "--model", "--curve",
        "--plot", "--heatmap", "--seed", "--json"}},
      {"wirewatt run",
       {"--device", "--counters", "--trace", "--timeline", "--mode", "--network", "--timing-report",
        "--json"}},
      {"wirewatt workloads run",
       {"--all", "--size", "--device", "--mode", "--network", "--out", "--json"}}};
  return options;
}

// Width of a line of help; lines longer than kWidth are hard to read on any terminal.
std::size_t width() {
  return std::clamp(terminal_columns(kWidth), kMinWidth, kWidth);
}

// "wirewatt workloads run"
std::string full_name(const CLI::App& app) {
  const std::string& name = app.get_name();
  return app.get_parent() == nullptr ? name : full_name(*app.get_parent()) + " " + name;
}

// "  name      what it is", what it is in a column of its own.
std::string in_columns(const std::string& name, const std::string& text, std::size_t column) {
  std::string out = "  " + name;
  if (text.empty()) return out + "\n";
  if (out.size() >= column) {
    out += '\n';
    out.append(column, ' ');
  } else {
    out.resize(column, ' ');
  }
  bool first = true;
  for (const std::string& line : wrapped(text, width() - column)) {
    if (!first) out.append(column, ' ');
    out += line + "\n";
    first = false;
  }
  return out;
}

bool is_about_help(const CLI::App& app, const CLI::Option* option) {
  return option == app.get_help_ptr() || option == app.get_help_all_ptr();
}

std::vector<const CLI::Option*> options_of(const CLI::App& app, const std::string& group) {
  return app.get_options([&](const CLI::Option* option) {
    return option->get_group() == group && option->nonpositional() && !is_about_help(app, option);
  });
}

// "Laser control (ps-gpuopt)" is asked for as "laser".
std::string subject_of(const std::string& group) {
  std::string subject;
  for (const char c : group) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') break;
    subject += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return subject;
}

// Groups with options, in order.
std::vector<std::string> groups_of(const CLI::App& app) {
  auto groups = app.get_groups();
  std::erase_if(groups, [&](const std::string& group) {
    return group.empty() || options_of(app, group).empty();
  });
  return groups;
}

std::string subjects_of(const CLI::App& app) {
  std::string text;
  for (const auto& group : groups_of(app)) {
    text += (text.empty() ? "" : ", ") + subject_of(group);
  }
  return text;
}

// Returns the SUBJECT of --help=SUBJECT; empty for --help.
std::string asked_for(const CLI::App& app) {
  const CLI::Option* help = app.get_help_ptr();
  if (help == nullptr || help->count() == 0) return {};
  const std::string& subject = help->results().front();
  return subject == "true" ? std::string() : subject;
}

// "  routers     Routers: --vcs --vc-buffer", as much as a line takes.
std::string subject_line(const CLI::App& app, const std::string& group) {
  const auto options = options_of(app, group);
  std::string line = fmt::format("  {:<{}}{}:", subject_of(group), kIndent - 2, group);
  std::size_t named = 0;
  for (const CLI::Option* option : options) {
    if (option->get_lnames().empty()) continue;
    const std::string name = " --" + option->get_lnames().front();
    if (line.size() + name.size() + sizeof(" ...") > width()) break;
    line += name;
    ++named;
  }
  return line + (named < options.size() ? " ..." : "") + "\n";
}

// Sentences in lines that fit; lines that begin with a blank are commands, to be typed as they are.
std::string fitted(const std::string& footer) {
  std::istringstream lines(footer);
  std::string text;
  for (std::string line; std::getline(lines, line); text += '\n') {
    const bool fits = line.starts_with(' ') || line.size() <= terminal_columns(line.size());
    text += fits ? line : fmt::format("{}", fmt::join(wrapped(line, width()), "\n"));
  }
  if (!footer.ends_with('\n') && !text.empty()) text.pop_back();
  return text;
}

}  // namespace

std::string ScreenHelp::make_help(const CLI::App* app, std::string name,
                                  CLI::AppFormatMode mode) const {
  const std::string subject = asked_for(*app);
  if (mode == CLI::AppFormatMode::Normal && !subject.empty()) {
    for (const auto& group : groups_of(*app)) {
      if (subject_of(group) == subject) return make_group(group, false, options_of(*app, group));
    }
  }
  if (mode != CLI::AppFormatMode::Normal || app->get_options().size() < kMany) {
    return Formatter::make_help(app, name, mode);
  }
  const std::string command = full_name(*app);
  std::string text = make_description(app) + make_usage(app, name) + make_positionals(app);
  if (const auto used = most_used().find(command); used != most_used().end()) {
    std::vector<const CLI::Option*> options;
    for (const auto& one : used->second) {
      if (const CLI::Option* option = app->get_option_no_throw(one)) options.push_back(option);
    }
    text += make_group("Most used", false, options);
  }
  text += fmt::format("\nAll options by subject, in full with {} --help=SUBJECT (or --help-all):\n",
                      command);
  for (const std::string& group : groups_of(*app)) text += subject_line(*app, group);
  // Without the line that CLI11 2.4 begins its footer with.
  return text + "\n" + fitted(app->get_footer()) + "\n";
}

std::string ScreenHelp::make_footer(const CLI::App* app) const {
  return fitted(Formatter::make_footer(app));
}

std::string unknown_subject(const CLI::App& app) {
  const CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  const std::string subject = asked_for(*last);
  if (subject.empty()) return {};
  for (const auto& group : groups_of(*last)) {
    if (subject_of(group) == subject) return {};
  }
  return fmt::format("--help={}: {} has help on {}", subject, last->get_name(), subjects_of(*last));
}

std::string ScreenHelp::make_option(const CLI::Option* option, bool positional) const {
  return in_columns(make_option_name(option, positional) + make_option_opts(option),
                    make_option_desc(option), get_column_width());
}

std::string ScreenHelp::make_subcommand(const CLI::App* command) const {
  return in_columns(command->get_name(), command->get_description(), get_column_width());
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
