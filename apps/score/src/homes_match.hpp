// Compares the homes of memory that a campaign found with the true ones.
#pragma once

#include <cstddef>
#include <map>
#include <set>

namespace ww::score {

// Which homes lines share, added line by line. The numbers of found homes and of true ones need not
// be the same: a campaign cannot know how the chip counts its quadrants.
class HomesMatch {
 public:
  void add(int found, int real) {
    true_of_[found].insert(real);
    found_of_[real].insert(found);
  }
  [[nodiscard]] std::size_t found() const { return true_of_.size(); }
  [[nodiscard]] std::size_t real() const { return found_of_.size(); }
  // Found homes whose lines are of several true ones.
  [[nodiscard]] std::ptrdiff_t mixed() const { return mixed(true_of_); }
  // Whether each found home is one true home, and the other way round.
  [[nodiscard]] bool exact() const { return mixed() == 0 && mixed(found_of_) == 0; }
  // By true home, in order: the homes that were found for its lines.
  [[nodiscard]] const std::map<int, std::set<int>>& found_of() const { return found_of_; }

 private:
  static std::ptrdiff_t mixed(const std::map<int, std::set<int>>& sets);

  std::map<int, std::set<int>> true_of_, found_of_;
};

}  // namespace ww::score
