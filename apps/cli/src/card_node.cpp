#include "card_node.hpp"

#include <fmt/format.h>

#include "ww/core/device_name.hpp"
#include "ww/model/technology.hpp"
#include "ww/runner/chip_architecture.hpp"

namespace ww::cli {

CLI::Option* add_card_node_option(CLI::App& command, std::string& card_node) {
  return command.add_option("--card-node", card_node,
                            "Node of the card that was calibrated (default: its data sheet's)");
}

Result<double> node_of(const std::string& text, std::string_view option) {
  std::size_t end = 0;
  double value = 0;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  const auto unit = text.substr(end);
  if (end == 0 || (!unit.empty() && unit != "nm") || !(value >= 3 && value <= 28)) {
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("'{}' is not a technology node; give one from 3nm to 28nm, such as 7nm", text),
        std::string(option));
  }
  return value;
}

Result<std::optional<double>> node_of_card(const std::string& card_node, std::string_view device,
                                           std::string_view target) {
  if (!card_node.empty()) {
    WW_ASSIGN(node_nm, node_of(card_node, "--card-node"));
    return node_nm;
  }
  std::string architecture(target);
  if (DeviceName(device).is_virtual()) {
    microbench::DeviceRequest request;
    request.name = device;
    architecture = runner::card_generation(request);
  }
  const model::DeviceSheet* sheet = model::device_sheet(architecture);
  return sheet != nullptr ? std::optional(sheet->node_nm) : std::nullopt;
}

}  // namespace ww::cli
