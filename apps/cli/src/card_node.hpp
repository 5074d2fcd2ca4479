// The technology node of the card that a calibration is of: what its wires are scaled from. A
// model.json does not have it.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "ww/core/result.hpp"

namespace ww::cli {

// --card-node, which is the same in every command that scales a calibration's wires.
CLI::Option* add_card_node_option(CLI::App& command, std::string& card_node);

// A node as `option` has it: "7nm" or "7", 3 to 28. Error invalid_argument, key `option`.
[[nodiscard]] Result<double> node_of(const std::string& text, std::string_view option);

// The node [nm] of the card: `card_node` as --card-node has it, else that of the data sheet of the
// architecture: that of a virtual `device`, which may execute the code of an older card than those
// of its class, else `target` ("sm_80"). Nothing where all are unknown. Errors: as node_of.
[[nodiscard]] Result<std::optional<double>> node_of_card(const std::string& card_node,
                                                         std::string_view device,
                                                         std::string_view target = {});

}  // namespace ww::cli
