// A number that stands for the contents of device memory: the start condition of a replay.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace ww::sim::gpu::exec {

// Sums one hash for each line, so that a few changed lines cost little and contents that return get
// their old number back. After more changes than are followed the number is one that never was.
class ContentVersion {
 public:
  static constexpr std::size_t kLine = 64;  // bytes that are hashed together
  static constexpr std::size_t kMaxChanges = 4096;

  [[nodiscard]] std::uint64_t value() const { return value_; }
  void set(std::uint64_t value) { value_ = value; }

  // Returns the sum that lines in a row add to the number.
  [[nodiscard]] static std::uint64_t sum(std::uint64_t address, const std::byte* bytes,
                                         std::size_t lines) {
    std::uint64_t sum = 0;
    for (std::size_t at = 0; at < lines * kLine; at += kLine) sum += hash(address + at, bytes + at);
    return sum;
  }

  // The contents are others in a way that is not followed.
  void renew() { value_ = mixed(value_ + ++renewals_); }

  // The line at this address was `before` and is `after`.
  void replace(std::uint64_t address, const std::byte* before, const std::byte* after) {
    value_ += hash(address, after) - hash(address, before);
  }

  // Follows the changes of a launch from now on, or only notes that there were some.
  void begin_launch(bool follow) {
    lines_.clear();
    room_ = follow ? kMaxChanges : 0;
    lost_ = false;
  }
  // Changes of a launch by one of several threads, which absorb() adds to the others'.
  class Part {
   public:
    // Follows changes until absorb() for `whole`.
    void begin(const ContentVersion& whole) {
      follows_ = !whole.lost_;
      room_ = whole.room_ - whole.lines_.size();
    }
    // Whether replace() does anything.
    [[nodiscard]] bool follows() const { return follows_; }
    void replace(std::uint64_t address, const std::byte* before, const std::byte* after) {
      if (!follows_) return;
      if (lines_.size() == room_) {
        lost_ = true;
        follows_ = false;
        return;
      }
      lines_.push_back(address);
      sum_ += hash(address, after) - hash(address, before);
    }

   private:
    friend class ContentVersion;
    std::vector<std::uint64_t> lines_;
    std::uint64_t sum_{};
    std::size_t room_{};
    bool follows_{};
    bool lost_{};
  };
  void absorb(Part& part) {
    const bool lost = part.lost_ || part.lines_.size() > room_ - lines_.size();
    if (lost && !lost_) {
      lost_ = true;
      renew();
    } else if (!lost_) {
      value_ += part.sum_;
      lines_.insert(lines_.end(), part.lines_.begin(), part.lines_.end());
    }
    part.lines_.clear();
    part.sum_ = 0;
    part.lost_ = false;
  }

  // There were more changes than were followed: not all are known.
  [[nodiscard]] bool lost() const { return lost_; }
  // The addresses that changed since begin_launch(), each once, in order, unless they were lost.
  [[nodiscard]] std::span<const std::uint64_t> changed_lines() {
    std::ranges::sort(lines_);
    lines_.erase(std::unique(lines_.begin(), lines_.end()), lines_.end());
    return lines_;
  }

 private:
  static std::uint64_t mixed(std::uint64_t value) {  // the finaliser of splitmix64 (Vigna)
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31U);
  }
  // Both halves of the product: together they depend on all bits of both factors.
  static std::uint64_t folded(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
  }
  // Pairs of words by one product each, which do not wait for one another. The odd numbers
  // distinguish the pairs and their words: the first 64 bits of the fractions of the square roots
  // of 2, 3, 5 and so on, their last bit set.
  static std::uint64_t hash(std::uint64_t address, const std::byte* line) {
    static constexpr std::uint64_t kApart[kLine / 8] = {
        0x6A09E667F3BCC909U, 0xBB67AE8584CAA73BU, 0x3C6EF372FE94F82BU, 0xA54FF53A5F1D36F1U,
        0x510E527FADE682D1U, 0x9B05688C2B3E6C1FU, 0x1F83D9ABFB41BD6BU, 0x5BE0CD19137E2179U};
    std::uint64_t words[kLine / 8];
    std::memcpy(words, line, sizeof words);
    const auto pair = [&words](std::size_t i) {
      return folded(words[i] ^ kApart[i], words[i + 1] ^ kApart[i + 1]);
    };
    return mixed((pair(0) ^ pair(2) ^ pair(4) ^ pair(6)) + mixed(address));
  }

  std::uint64_t value_{1};
  std::uint64_t renewals_{};
  std::vector<std::uint64_t> lines_;
  std::size_t room_{};
  bool lost_{};
};

}  // namespace ww::sim::gpu::exec
