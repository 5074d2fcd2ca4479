// Numbers as bytes: little-endian base-128, signed ones zigzag.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace ww::sim::trace {

[[nodiscard]] inline std::uint64_t zigzag(std::uint64_t difference) {
  const auto value = static_cast<std::int64_t>(difference);
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
[[nodiscard]] inline std::uint64_t unzigzag(std::uint64_t value) {
  return value >> 1 ^ (~(value & 1) + 1);
}

inline void put_varint(std::string& out, std::uint64_t value) {
  if (value < 0x80) {  // most often
    out.push_back(static_cast<char>(value));
    return;
  }
  std::array<char, 10> bytes;
  std::size_t count = 0;
  for (; value >= 0x80; value >>= 7) bytes[count++] = static_cast<char>(value | 0x80);
  bytes[count++] = static_cast<char>(value);
  out.append(bytes.data(), count);
}
inline void put_text(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  out += text;
}

// Reads from the front; once anything was missing, ok() is false and all further values are 0.
class Cursor {
 public:
  Cursor() = default;
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

  std::uint8_t byte() {
    if (rest_.empty()) {
      ok_ = false;
      return 0;
    }
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t part = byte();
      value |= std::uint64_t{part & 0x7FU} << shift;
      if (part < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  std::string_view bytes(std::uint64_t count) {
    if (count > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const auto part = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return part;
  }
  std::string_view text() { return bytes(varint()); }

 private:
  std::string_view rest_;
  bool ok_{true};
};

}  // namespace ww::sim::trace
