// Records who has a line, for coherent L1s: the slices' directory. A line has one owner, whose L1
// may store to it, or any number of sharers. L1s drop clean lines without a word, so a sharer may
// have lost its copy; an invalidation then finds nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace ww::sim::gpu::timing {

class Directory {
 public:
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  using Cores = std::vector<std::uint32_t>;

  // A load of `core`, whose L1 keeps the line. Returns the owner that has to give the line back
  // first, or kNobody.
  std::uint32_t read(std::uint32_t line, std::uint32_t core) {
    Entry& entry = entry_of(line);
    const std::uint32_t owner = entry.owner == core ? kNobody : entry.owner;
    if (owner != kNobody) entry.owner = kNobody;
    if (std::ranges::find(entry.cores, core) == entry.cores.end()) entry.cores.push_back(core);
    return owner;
  }
  // A store or an atomic of `core`, which becomes the owner if its L1 keeps the line. Returns the
  // others that have it: their copies are no longer valid.
  [[nodiscard]] Cores write(std::uint32_t line, std::uint32_t core, bool keeps) {
    Entry& entry = entry_of(line);
    Cores others = std::move(entry.cores);
    std::erase(others, core);
    entry.cores.clear();
    if (keeps) entry.cores.push_back(core);
    entry.owner = keeps ? core : kNobody;
    return others;
  }
  // The owner wrote the line back and no longer has it. Another may own it by now.
  void written_back(std::uint32_t line, std::uint32_t core) {
    if (owns(line, core)) entry_of(line) = {};
  }
  [[nodiscard]] bool owns(std::uint32_t line, std::uint32_t core) const {
    const std::size_t page = line / kPageLines;
    return page < pages_.size() && pages_[page] != nullptr &&
           (*pages_[page])[line % kPageLines].owner == core;
  }

 private:
  struct Entry {
    std::uint32_t owner{kNobody};
    Cores cores;  // that have the line, the owner among them
  };
  // Programs touch most lines of few pages.
  static constexpr std::uint32_t kPageLines = 1024;

  Entry& entry_of(std::uint32_t line) {
    const std::size_t page = line / kPageLines;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) pages_[page] = std::make_unique<std::array<Entry, kPageLines>>();
    return (*pages_[page])[line % kPageLines];
  }

  std::vector<std::unique_ptr<std::array<Entry, kPageLines>>> pages_;
};

}  // namespace ww::sim::gpu::timing
