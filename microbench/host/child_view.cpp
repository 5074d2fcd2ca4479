#include "host/child_view.hpp"

#include <chrono>

#include "ww/measure/child.hpp"

namespace ww::microbench {

Result<std::string> in_child(const std::function<std::string()>& body) {
  constexpr auto kPatience = std::chrono::seconds(20);  // a driver may hang at its first call
  auto text = measure::run_in_child(body, kPatience);
  if (!text) {
    text.error().message = "the driver: " + text.error().message;
  }
  return text;
}

}  // namespace ww::microbench
