// The node's own meters on machines of HPE Cray (Frontier, LUMI, El Capitan, Perlmutter):
// /sys/cray/pm_counters, which every user may read. Each file holds `VALUE UNIT TIME us`, refreshed
// ten times a second. The accelerators are metered where the board feeds them, upstream of their
// regulators: an MI250X is seen to draw 5.5% more there than by its own counter.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/measure/pci_address.hpp"
#include "ww/measure/power_source.hpp"

namespace ww::measure {

struct CrayValue {
  std::int64_t value{};
  std::string unit;                     // "J", "W"
  std::optional<std::int64_t> time_ns;  // since 1970, of the refresh; absent: the file has none
};
// The content of a file. Error parse_error on `file`.
[[nodiscard]] Result<CrayValue> parse_cray_value(std::string_view text, const std::string& file);

// The folder under a tree of kernel files.
[[nodiscard]] std::string cray_folder(const std::string& sysfs);

// The accelerator of a card there: both count cards by their PCI addresses, and two dies of a
// package are one accelerator. `cards`: the addresses of all packages. Errors: not_found (no such
// folder), unsupported (there are not as many accelerators as packages, so that the order may be
// another).
[[nodiscard]] Result<std::size_t> cray_accelerator(const std::string& folder,
                                                   std::vector<PciAddress> cards,
                                                   const PciAddress& card);

// Power and energy of an accelerator as a source of its own. Errors: not_found, permission_denied,
// parse_error.
[[nodiscard]] Result<std::unique_ptr<PowerSource>> open_cray_accelerator(const std::string& folder,
                                                                         std::size_t accelerator);

// Adds the node's meters to a source as rails: "cray_node_energy", "cray_cpu_energy",
// "cray_memory_energy" and, where `accelerator` says which one is the card, "cray_accel_energy".
// They are a second witness, stamped with the times of their own refreshes. Without the folder the
// source is returned as it is.
[[nodiscard]] std::unique_ptr<PowerSource> with_cray_meters(std::unique_ptr<PowerSource> source,
                                                            const std::string& folder,
                                                            std::optional<std::size_t> accelerator);

}  // namespace ww::measure
