#include "top/top_screen.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstdlib>

// Last: its macros take short names.
#define NCURSES_NOMACROS 1
#include <curses.h>

namespace ww::cli {
namespace {

std::string figure(double value) {
  return fmt::format("{:.3g}", value);
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
    int y = 0;
    put(y++, 0, "wirewatt top  " + frame.title, A_BOLD);
    put(y++, 0, frame.source, A_DIM);
    ++y;
    const int columns = std::max(40, getmaxx(stdscr));
    const auto width = static_cast<std::size_t>(std::clamp(columns - 58, 8, 120));
    put(y++, 0,
        fmt::format("{:<14}{:>10}  {:<20} {:<12}{}", "SEGMENT", "POWER [W]", "95%", "STATUS",
                    "HISTORY"),
        A_UNDERLINE);
    for (const TopRow& row : frame.rows) {
      const auto interval = row.power_w
                                ? figure(row.power_w->low) + " .. " + figure(row.power_w->high)
                                : std::string("-");
      put(y, 0,
          fmt::format("{:<14}{:>10}  {:<20} {:<12}", row.name,
                      row.power_w ? figure(row.power_w->value) : "-", interval, row.status),
          A_NORMAL);
      put(y++, 59, sparkline(row.history, width), colours_ ? COLOR_PAIR(1) : A_NORMAL);
    }
    ++y;
    for (const auto& line : frame.lines) put(y++, 0, line, A_NORMAL);
    put(getmaxy(stdscr) - 1, 0, frame.state + "   q quits", colours_ ? COLOR_PAIR(2) : A_REVERSE);
    refresh();
  }

  int key(int milliseconds) override {
    timeout(milliseconds);
    const int pressed = getch();
    return pressed == ERR ? 0 : pressed;
  }

 private:
  static void put(int y, int x, const std::string& text, attr_t how) {
    if (y >= getmaxy(stdscr)) return;
    attron(how);
    mvaddnstr(y, x, text.c_str(), -1);
    attroff(how);
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
