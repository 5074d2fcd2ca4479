#include "open_page.hpp"

#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdlib>

#include "output.hpp"
#include "ww/core/process.hpp"

namespace ww::cli {

CLI::Option* add_open_flag(CLI::App& command, bool& open) {
  return command.add_flag("--open", open, "Show the page in a browser ($BROWSER, or xdg-open)");
}

int open_page(const std::string& page) {
  const char* set = std::getenv("BROWSER");
  const std::string browser = set != nullptr && *set != '\0' ? set : "xdg-open";
  if (find_program(browser).empty()) {
    return report_error(
        {ErrorCode::missing_dependency,
         fmt::format("there is no {} to open it with; set BROWSER to a browser", browser), page});
  }
  // A browser may stay, so it is left alone: the process that starts it in a session of its own
  // ends at once.
  ProcessSetup setup;
  setup.in = setup.out = setup.err = kNullStream;
  auto starter = Process::fork(
      [&] {
        ::setsid();
        const pid_t child = ::fork();
        if (child == 0) ::execlp(browser.c_str(), browser.c_str(), page.c_str(), nullptr);
        return child < 0 ? 1 : 0;
      },
      setup);
  if (!starter) return report_error(starter.error());
  const int code = starter->wait().exit_code;
  return code == 0 ? 0 : report_error({ErrorCode::io_error, "cannot start " + browser, page});
}

}  // namespace ww::cli
