// Images memory as far as the trace has shown it: most loads find what was loaded or stored before,
// and then need no bytes in the file. Writer and reader keep the same image, of bounded size: a
// page that another one displaces starts again from zeros.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace ww::sim::trace {

class MemoryImage {
 public:
  MemoryImage() : pages_(kPages) {}

  [[nodiscard]] bool equals(std::uint64_t address, const std::byte* bytes, std::size_t count) {
    return each(address, count, [&](std::byte* held, std::size_t at, std::size_t length) {
      return std::memcmp(held, bytes + at, length) == 0;
    });
  }
  void set(std::uint64_t address, const std::byte* bytes, std::size_t count) {
    each(address, count, [&](std::byte* held, std::size_t at, std::size_t length) {
      std::memcpy(held, bytes + at, length);
      return true;
    });
  }
  // Whether reading these bytes would displace no page.
  [[nodiscard]] bool has(std::uint64_t address, std::size_t count) const {
    const std::uint64_t last = (address + count - 1) / kPageBytes;
    for (std::uint64_t number = address / kPageBytes; number <= last; ++number) {
      if (pages_[number % kPages].number != number) return false;
    }
    return true;
  }
  void get(std::uint64_t address, std::byte* bytes, std::size_t count) {
    each(address, count, [&](std::byte* held, std::size_t at, std::size_t length) {
      std::memcpy(bytes + at, held, length);
      return true;
    });
  }

 private:
  static constexpr std::size_t kPageBytes = 4096;
  static constexpr std::size_t kPages = 16384;  // 64 MiB in all
  struct Page {
    std::uint64_t number{~std::uint64_t{0}};
    std::unique_ptr<std::array<std::byte, kPageBytes>> bytes;
  };

  std::byte* page(std::uint64_t number) {
    Page& page = pages_[number % kPages];
    if (page.number == number) return page.bytes->data();
    if (!page.bytes) {
      page.bytes = std::make_unique<std::array<std::byte, kPageBytes>>();
    } else {
      page.bytes->fill(std::byte{0});
    }
    page.number = number;
    return page.bytes->data();
  }
  // f(bytes of the page, offset of the part, its length) for each page, until one gives false.
  template <class F>
  bool each(std::uint64_t address, std::size_t count, F&& f) {
    for (std::size_t at = 0; at < count;) {
      const std::size_t in_page = (address + at) % kPageBytes;
      const std::size_t length = std::min(count - at, kPageBytes - in_page);
      if (!f(page((address + at) / kPageBytes) + in_page, at, length)) return false;
      at += length;
    }
    return true;
  }

  std::vector<Page> pages_;
};

}  // namespace ww::sim::trace
