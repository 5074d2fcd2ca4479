// The PCI address of a GPU, which connects a compute device to its sensor.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ww::measure {

struct PciAddress {
  std::uint32_t domain{};
  std::uint32_t bus{};
  std::uint32_t device{};
  std::uint32_t function{};
  // NOLINTNEXTLINE(modernize-use-nullptr): version 14 reads a comparison with 0 into it
  auto operator<=>(const PciAddress&) const = default;
};

// "0000:03:00.0", as the kernel writes it.
[[nodiscard]] std::string to_string(const PciAddress& address);
// "0000:03:00.0", "00000000:03:00.0" (NVML), "03:00.0"; hexadecimal in either case.
[[nodiscard]] std::optional<PciAddress> parse_pci_address(std::string_view text);

}  // namespace ww::measure
