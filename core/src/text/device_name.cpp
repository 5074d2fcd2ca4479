#include "ww/core/device_name.hpp"

#include <array>
#include <charconv>

namespace ww {
namespace {

using Kind = DeviceName::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 6> kPrefixes{{
    {kVirtualPrefix, Kind::virtual_chip},
    {"opencl:", Kind::opencl},
    {"hip:", Kind::hip},
    {"cuda:", Kind::cuda},
    {"gpu:", Kind::sensor},
    {"pci:", Kind::pci},
}};

// The whole text as a number from 0 up.
std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || value < 0) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

DeviceName::DeviceName(std::string_view text) : text_(text) {
  for (const auto& [prefix, kind] : kPrefixes) {
    if (text.starts_with(prefix)) {
      kind_ = kind;
    }
  }
}

std::string_view DeviceName::rest() const {
  const auto colon = text_.find(':');
  return colon == std::string::npos ? std::string_view{}
                                    : std::string_view(text_).substr(colon + 1);
}

std::string DeviceName::chip() const {
  return is_virtual() ? std::string(rest()) : std::string();
}

std::optional<int> DeviceName::index() const {
  if (kind_ != Kind::hip && kind_ != Kind::cuda && kind_ != Kind::sensor) {
    return std::nullopt;
  }
  return whole_number(rest());
}

std::optional<std::pair<int, int>> DeviceName::opencl_place() const {
  const auto dot = rest().find('.');
  if (kind_ != Kind::opencl || dot == std::string_view::npos) {
    return std::nullopt;
  }
  const auto platform = whole_number(rest().substr(0, dot));
  const auto device = whole_number(rest().substr(dot + 1));
  if (!platform || !device) {
    return std::nullopt;
  }
  return std::pair(*platform, *device);
}

std::string virtual_device_name(std::string_view chip) {
  return std::string(kVirtualPrefix).append(chip);
}

}  // namespace ww
