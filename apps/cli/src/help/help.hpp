// Help that fits one screen: a command with very many options shows those that most runs need and
// names its subjects; --help=SUBJECT has the options of one, --help-all has them all.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ww::cli {

class ScreenHelp : public CLI::Formatter {
 public:
  // Makes the help of the subject that the application's help flag was given, if any.
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  // Two columns, the second in lines that fit.
  std::string make_option(const CLI::Option* option, bool positional) const override;
  std::string make_subcommand(const CLI::App* command) const override;
  std::string make_footer(const CLI::App* app) const override;
  // Type and default; what excludes what is said when it happens.
  std::string make_option_opts(const CLI::Option* option) const override;
};

// Returns after a call for help what is wrong with its subject, or empty.
[[nodiscard]] std::string unknown_subject(const CLI::App& app);

}  // namespace ww::cli
