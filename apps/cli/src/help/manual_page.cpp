// Manual pages in roff, from the description of the commands.
#include <fmt/format.h>

#include <algorithm>

#include "help/description.hpp"

namespace ww::cli {
namespace {

std::string roff(const std::string& text) {
  std::string result;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) result += "\\&";
    line_begins = c == '\n';
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result;
}

// "wirewatt trace info" is the page wirewatt-trace-info.
std::string page_name(const std::string& command) {
  std::string name = "wirewatt-" + command;
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string head(const std::string& page, const std::string& help, const std::string& version) {
  std::string upper = page;
  std::ranges::transform(upper, upper.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  // No date: the same sources give the same page.
  return fmt::format(".TH {} 1 \"\" \"wirewatt {}\" \"wirewatt\"\n.SH NAME\n{} \\- {}\n",
                     roff(upper), roff(version), roff(page), roff(help));
}

std::string options_part(const std::vector<OptionText>& options) {
  std::string text;
  for (const auto& option : options) {
    if (option.names.empty()) continue;
    std::string names;
    for (const auto& name : option.names) {
      names += (names.empty() ? "" : ", ") + fmt::format("\\fB{}\\fR", roff(name));
    }
    if (!option.value.empty()) names += fmt::format(" \\fI{}\\fR", roff(option.value));
    text += ".TP\n" + names + "\n" + roff(option.help);
    if (!option.fallback.empty()) text += " (default: " + roff(option.fallback) + ")";
    text += "\n";
    if (!option.choices.empty()) {
      text += "One of: " + roff(fmt::format("{}", fmt::join(option.choices, ", "))) + ".\n";
    }
  }
  return text.empty() ? text : ".SH OPTIONS\n" + text;
}

std::string arguments_part(const std::vector<OptionText>& options) {
  std::string text;
  for (const auto& option : options) {
    if (option.positional.empty() || !option.names.empty()) continue;
    text += fmt::format(".TP\n\\fI{}\\fR\n{}\n", roff(option.positional), roff(option.help));
  }
  return text.empty() ? text : ".SH ARGUMENTS\n" + text;
}

std::string exit_part() {
  return ".SH EXIT STATUS\n0 done, 1 the result is bad, 2 usage, 3 environment (driver, "
         "permission, "
         "device).\n";
}

std::string footer_part(const std::string& footer) {
  return footer.empty() ? "" : ".SH EXAMPLES\n.nf\n" + roff(footer) + "\n.fi\n";
}

}  // namespace

std::string manual_page(const CommandText& command, const std::string& version) {
  std::string text = head(page_name(command.name), command.help, version);
  text += fmt::format(".SH SYNOPSIS\n\\fBwirewatt {}\\fR [\\fIOPTIONS\\fR]", roff(command.name));
  for (const auto& option : command.options) {
    if (option.positional.empty() || !option.names.empty()) continue;
    const auto name = fmt::format("\\fI{}\\fR", roff(option.positional));
    text += option.required ? " " + name : " [" + name + "]";
  }
  text += "\n.SH DESCRIPTION\n" + roff(command.help) + ".\n";
  if (!command.below.empty()) {
    text += "Commands: " + roff(fmt::format("{}", fmt::join(command.below, ", "))) + ".\n";
  }
  text += arguments_part(command.options) + options_part(command.options) +
          footer_part(command.footer) + exit_part() + ".SH SEE ALSO\nwirewatt(1)\n";
  return text;
}

std::string program_manual(const CommandText& program, const std::vector<CommandText>& commands,
                           const std::string& version) {
  std::string text = head("wirewatt", "on-chip interconnect energy of GPUs, measured", version);
  text += ".SH SYNOPSIS\n\\fBwirewatt\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n" +
          roff(program.help) + "\n.SH COMMANDS\n";
  for (const auto& command : commands) {
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(command.name), roff(command.help));
  }
  text += options_part(program.options) + footer_part(program.footer) + exit_part();
  text += ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nSet and not empty: no colours on a terminal.\n";
  text += ".SH SEE ALSO\n";
  for (std::size_t i = 0; i < commands.size(); ++i) {
    text += fmt::format("{}(1){}\n", roff(page_name(commands[i].name)),
                        i + 1 < commands.size() ? "," : "");
  }
  return text;
}

}  // namespace ww::cli
