#include "ww/measure/counted/killed_rows.hpp"

#include <cstddef>

namespace ww::measure {

std::string_view whole_launches(std::string_view rows) {
  constexpr auto none = std::string_view::npos;
  rows = rows.substr(0, rows.rfind('\n') + 1);
  const std::size_t header = rows.find('\n');
  if (header == none) return rows;
  std::size_t rows_of_first = 0, rows_of_last = 0;
  std::size_t last = header + 1;
  std::string_view id;
  for (std::size_t at = last; at < rows.size(); at = rows.find('\n', at) + 1) {
    const std::string_view its_id = rows.substr(at, rows.find(',', at) - at);
    if (its_id != id) {
      if (rows_of_first == 0) rows_of_first = rows_of_last;
      id = its_id;
      last = at;
      rows_of_last = 0;
    }
    ++rows_of_last;
  }
  return rows_of_last < rows_of_first ? rows.substr(0, last) : rows;
}

}  // namespace ww::measure
