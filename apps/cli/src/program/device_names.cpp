#include "program/device_names.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/device_name.hpp"
#include "ww/core/suggest.hpp"
#include "ww/microbench/virtual_chips.hpp"

namespace ww::cli {
namespace {

constexpr std::array<std::string_view, 4> kFirstCards{"gpu:0", "hip:0", "cuda:0", "opencl:0.0"};

// "; did you mean 'virtual:mi300x'?" for "mi300x" and "mi30x", and "gpu:0" for "gpu0".
std::string hint(const std::string& name) {
  std::vector<std::string_view> known(kFirstCards.begin(), kFirstCards.end());
  const auto chips = microbench::virtual_chips();
  if (chips) {
    for (const auto& chip : *chips) known.emplace_back(chip.name);
  }
  const std::string nearest(nearest_name(name, known));
  if (nearest.empty()) return {};
  const bool is_card = nearest.find(':') != std::string::npos;
  return fmt::format("; did you mean '{}'?", is_card ? nearest : virtual_device_name(nearest));
}

}  // namespace

Status check_device_name(const CLI::App& command) {
  const CLI::Option* option = command.get_option_no_throw("--device");
  if (option == nullptr || option->results().empty()) return {};
  const DeviceName name(option->results().back());
  if (name.text().empty() || name.kind() != DeviceName::Kind::other) return {};
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("there is no device '{}'; 'wirewatt devices' lists those that there are{}",
                  name.text(), hint(name.text())),
      "--device");
}

}  // namespace ww::cli
