#include "host/child_view.hpp"

#include <algorithm>
#include <chrono>

#include "host/call_deadline.hpp"
#include "ww/measure/child.hpp"

namespace ww::microbench {

Result<std::string> in_child(const std::function<std::string()>& body) {
  constexpr unsigned kPatienceS = 20;  // a driver may hang at its first call
  const std::chrono::seconds patience(std::min(kPatienceS, driver_deadline_s()));
  auto text = measure::run_in_child(body, patience);
  if (!text) {
    text.error().message = "the driver: " + text.error().message;
  }
  return text;
}

}  // namespace ww::microbench
