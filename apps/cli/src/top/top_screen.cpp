#include "top/top_screen.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "terminal.hpp"

// Last: its macros take short names.
#define NCURSES_NOMACROS 1
#include <curses.h>

namespace ww::cli {
namespace {

std::string figure(double value) {
  return fmt::format("{:.3g}", value);
}

constexpr int kName = 14, kPower = 10, kInterval = 20, kStatus = 15;  // widths of columns

// The columns that a screen has room for.
struct TopColumns {
  explicit TopColumns(int columns) {
    constexpr int kMinHistory = 8, kMaxHistory = 120;
    status = columns >= kName + kPower + kStatus;
    if (status) left += kStatus;
    interval = columns >= left + kInterval + kMinHistory;
    if (interval) left += kInterval;
    const int rest = std::min(columns - left, kMaxHistory);
    history = status && rest >= kMinHistory ? static_cast<std::size_t>(rest) : 0;
  }
  bool interval{}, status{};
  int left = kName + kPower;
  std::size_t history{};  // 0: none
};

std::string top_head(int columns) {
  const TopColumns shown(columns);
  constexpr const char* kScaled = "HISTORY, each to its most";
  return fmt::format("{:<{}}{:>{}}", "SEGMENT", kName, "POWER [W]", kPower) +
         (shown.interval ? fmt::format("  {:<{}}", "95%", kInterval - 2) : "") +
         (shown.status ? fmt::format(" {:<{}}", "STATUS", kStatus - 1) : "") +
         (shown.history == 0                                 ? ""
          : shown.history < std::string_view(kScaled).size() ? "HISTORY"
                                                             : kScaled);
}

// Without room for its status, a row without power has it in the power's place.
std::string top_line(const TopRow& row, int columns) {
  const TopColumns shown(columns);
  const std::string none = shown.status ? "-" : row.status;
  std::string interval = "-";
  if (row.power_w) interval = figure(row.power_w->low) + ".." + figure(row.power_w->high);
  return fmt::format("{:<{}}{:>{}}", row.name, kName,
                     row.power_w ? figure(row.power_w->value) : none, kPower) +
         (shown.interval ? fmt::format("  {:<{}}", interval, kInterval - 2) : "") +
         (shown.status ? fmt::format(" {:<{}}", row.status, kStatus - 1) : "");
}

class CursesScreen final : public TopScreen {
 public:
  explicit CursesScreen(SCREEN* screen) : screen_(screen) {
    const char* no_color = std::getenv("NO_COLOR");
    colours_ = (no_color == nullptr || *no_color == '\0') && has_colors();
    if (colours_) {
      start_color();
      use_default_colors();
      init_pair(1, COLOR_CYAN, -1);
      init_pair(2, COLOR_YELLOW, -1);
    }
    cbreak();
    noecho();
    curs_set(0);
    keypad(stdscr, TRUE);
  }
  ~CursesScreen() override {
    endwin();
    delscreen(screen_);
  }
  CursesScreen(const CursesScreen&) = delete;
  CursesScreen& operator=(const CursesScreen&) = delete;

  void draw(const TopFrame& frame) override {
    erase();
    const int columns = getmaxx(stdscr);
    int y = 0;
    put(y++, "wirewatt top  " + frame.title, A_BOLD);
    put(y++, frame.source, A_DIM);
    ++y;
    put(y++, top_head(columns), A_UNDERLINE);
    for (const TopRow& row : frame.rows) {
      put(y, top_line(row, columns), A_NORMAL);
      const TopColumns shown(columns);
      if (shown.history > 0) {
        put(y, sparkline(row.history, shown.history), colours_ ? COLOR_PAIR(1) : A_NORMAL,
            shown.left);
      }
      ++y;
    }
    ++y;
    for (const auto& line : frame.lines) put(y++, line, A_NORMAL);
    write(getmaxy(stdscr) - 1, 0, "q quits   " + frame.state, colours_ ? COLOR_PAIR(2) : A_REVERSE);
    refresh();
  }

  int key(int milliseconds) override {
    timeout(milliseconds);
    const int pressed = getch();
    return pressed == ERR ? 0 : pressed;
  }

 private:
  // The last line is the footer's.
  static void put(int y, const std::string& text, attr_t how, int x = 0) {
    if (y < getmaxy(stdscr) - 1) write(y, x, text, how);
  }
  static void write(int y, int x, const std::string& text, attr_t how) {
    const int room = getmaxx(stdscr) - x;
    if (room <= 0) return;
    attr_on(how, nullptr);
    mvaddnstr(y, x, cut(text, static_cast<std::size_t>(room)).c_str(), -1);
    attr_off(how, nullptr);
  }
  SCREEN* screen_;
  bool colours_{};
};

}  // namespace

std::string sparkline(const std::deque<double>& values, std::size_t width) {
  static constexpr const char* steps[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t first = values.size() > width ? values.size() - width : 0;
  double most = 0;
  for (std::size_t i = first; i < values.size(); ++i) {
    if (std::isfinite(values[i])) most = std::max(most, values[i]);
  }
  std::string line;
  for (std::size_t i = first; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      line += "·";
    } else {
      const double share = most > 0 ? std::max(0.0, values[i]) / most : 0;
      line += steps[std::min<std::size_t>(7, static_cast<std::size_t>(share * 8))];
    }
  }
  return line;
}

Result<std::unique_ptr<TopScreen>> TopScreen::open() {
  if (::isatty(STDOUT_FILENO) != 1 || ::isatty(STDIN_FILENO) != 1) {
    return fail(ErrorCode::unsupported, "needs a terminal; use --json elsewhere", "wirewatt top");
  }
  // Bars of the sparkline are UTF-8; the user's own locale first.
  if (std::setlocale(LC_ALL, "") == nullptr || MB_CUR_MAX < 2) std::setlocale(LC_CTYPE, "C.UTF-8");
  SCREEN* screen = newterm(nullptr, stdout, stdin);
  if (screen == nullptr) {
    const char* name = std::getenv("TERM");
    return fail(ErrorCode::unsupported,
                fmt::format("the terminal '{}' is not known here; set TERM, or use --json",
                            name != nullptr ? name : ""),
                "wirewatt top");
  }
  return std::make_unique<CursesScreen>(screen);
}

}  // namespace ww::cli
