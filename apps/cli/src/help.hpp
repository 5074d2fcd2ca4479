// Help that fits one screen: a command with very many options shows the first of each group, and
// the names of the others; --help-all has them all.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace ww::cli {

class ScreenHelp : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  // Type and default; what excludes what is said when it happens.
  std::string make_option_opts(const CLI::Option* option) const override;
};

}  // namespace ww::cli
