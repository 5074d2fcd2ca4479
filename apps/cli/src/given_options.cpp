#include "given_options.hpp"

namespace ww::cli {

std::vector<std::string> given_options(const CLI::App& command) {
  std::vector<std::string> given;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    given.push_back(option->get_positional() ? "a program after --" : option->get_name());
  }
  return given;
}

}  // namespace ww::cli
