// The pages of device memory whose bytes a launch used, for as long as somebody follows them: what
// has to be as it was where the launch is replayed although the host may have written memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ww::sim::gpu::exec {

class UsedPages {
 public:
  static constexpr std::uint32_t kLinesOfPage = 64;  // pages of 4096 bytes, lines of 64

  // Follows a launch from now on, or nothing. `pages`: that device memory has.
  void begin_launch(bool follow, std::uint64_t pages) {
    for (const std::uint32_t page : pages_) used_[page] = false;
    pages_.clear();
    following_ = follow;
    if (follow) used_.resize(pages);
  }
  // `line` is a line's number from the start of device memory.
  void use(std::uint32_t line) {
    if (!following_) return;
    const std::uint32_t page = line / kLinesOfPage;
    if (used_[page]) return;
    used_[page] = true;
    pages_.push_back(page);
  }
  // Numbers from the start of device memory, each once.
  [[nodiscard]] std::span<const std::uint32_t> pages() const { return pages_; }

 private:
  bool following_{};
  std::vector<bool> used_;
  std::vector<std::uint32_t> pages_;
};

}  // namespace ww::sim::gpu::exec
