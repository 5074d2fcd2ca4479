#include "ww/measure/pci_address.hpp"

#include <fmt/format.h>

#include <charconv>
#include <vector>

namespace ww::measure {

std::string to_string(const PciAddress& address) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", address.domain, address.bus, address.device,
                     address.function);
}

std::optional<PciAddress> parse_pci_address(std::string_view text) {
  std::vector<std::uint32_t> parts;
  std::string separators;
  while (true) {
    std::uint32_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (read.ec != std::errc{}) return {};
    parts.push_back(value);
    text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
    if (text.empty()) break;
    separators += text.front();
    text.remove_prefix(1);
  }
  if (separators == ":.") parts.insert(parts.begin(), 0);
  if (separators != ":." && separators != "::.") return {};
  const PciAddress address{parts[0], parts[1], parts[2], parts[3]};
  if (address.bus > 0xff || address.device > 0x1f || address.function > 7) return {};
  return address;
}

}  // namespace ww::measure
