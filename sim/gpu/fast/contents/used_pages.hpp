// The pages of device memory whose bytes a launch used, for as long as somebody follows them: what
// has to be as it was where the launch is replayed although the host may have written memory. Each
// page has the sum of its lines from before the launch changed any of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fast/contents/content_version.hpp"

namespace ww::sim::gpu::exec {

class UsedPages {
 public:
  static constexpr std::uint32_t kLinesOfPage = 64;  // pages of 4096 bytes, lines of 64

  // Follows a launch from now on, or nothing. `pages`: that device memory has.
  void begin_launch(bool follow, std::uint64_t pages) {
    for (const Page& page : pages_) used_[page.number] = false;
    pages_.clear();
    following_ = follow;
    if (follow) used_.resize(pages);
  }
  // Comes before a change of the line, whose number is that from `memory`, the first byte of device
  // memory at this device address.
  void use(std::uint32_t line, const std::byte* memory, std::uint64_t address) {
    if (!following_) return;
    const std::uint32_t page = line / kLinesOfPage;
    if (used_[page]) return;
    used_[page] = true;
    const std::uint64_t offset = page * kLinesOfPage * std::uint64_t{ContentVersion::kLine};
    pages_.push_back({page, ContentVersion::sum(address + offset, memory + offset, kLinesOfPage)});
  }
  [[nodiscard]] bool following() const { return following_; }
  struct Page {
    std::uint32_t number{};  // from the start of device memory
    std::uint64_t sum{};
  };
  // Each once.
  [[nodiscard]] std::span<const Page> pages() const { return pages_; }

 private:
  bool following_{};
  std::vector<bool> used_;
  std::vector<Page> pages_;
};

}  // namespace ww::sim::gpu::exec
