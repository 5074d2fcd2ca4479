// Declares the parts of a commit (MemorySystem): requests that arrived, answers of the channels,
// and where both lie until several threads have handed them over.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fast/host/host_cache.hpp"
#include "machine/compute_unit/compute_unit.hpp"

namespace ww::sim::gpu::exec {

// A request, with those of its fields that a channel needs of a read: who looks them up need not
// fetch the request from another core.
struct Arrival {
  Request* request{};
  std::uint32_t delay{};  // since the quantum began
  std::uint32_t line{};
  std::uint32_t first{};  // slot of the first line's set in the L2
  std::uint16_t cu{};
  std::uint16_t channel{};
  Request::Kind kind{};
  std::uint8_t lines{};
  bool pair{};

  [[nodiscard]] bool is_merge() const {
    return kind == Request::Kind::merge || kind == Request::Kind::scalar_merge;
  }
  [[nodiscard]] bool is_store() const {
    return kind == Request::Kind::write || kind == Request::Kind::atomic;
  }
};

// Result of looking a request up, for the thread that hands it over.
struct alignas(kHostLine) Answer {
  std::int64_t slot;                       // the channel's, in which the first line crosses
  std::int64_t ready[Request::kMaxLines];  // when each line that was read leaves the L2
  const std::byte* payload;                // of a load null: what memory has
  const std::byte* reply;                  // as CrossbarTransfer has it
  std::uint8_t bytes;                      // of payload, in a line
  bool loaded;                             // the load's operation has its bytes already
};

// Payloads that are in no other place until they are handed over.
class Payloads {
 public:
  struct Line {
    std::byte bytes[kHostLine];
  };
  // Room for `lines` lines in a row, until clear().
  Line* take(std::size_t lines);
  void clear() { block_ = used_ = 0; }

 private:
  static constexpr std::size_t kLinesOfBlock = 256;
  std::vector<std::unique_ptr<Line[]>> blocks_;
  std::size_t block_{}, used_{};
};

// Rows of lines that something writes to in a commit; may also name others.
class WrittenRows {
 public:
  void clear();
  void add(const Arrival& arrival) { set(row(arrival.line)); }
  // Whether it may have a line in them.
  [[nodiscard]] bool has(const Arrival& arrival) const {
    return any_ && (is_set(row(arrival.line)) || is_set(row(arrival.line + arrival.lines - 1)) ||
                    is_set(row(arrival.line ^ (arrival.pair ? 1U : 0U))));
  }

 private:
  static constexpr std::uint32_t kBits = 4096;
  static std::uint32_t row(std::uint32_t line) {
    return line / Request::kMaxLines * 0x9E3779B1U / (0xFFFFFFFFU / kBits + 1);
  }
  void set(std::uint32_t row) {
    any_ = true;
    bits_[row / 64] |= std::uint64_t{1} << row % 64;
  }
  [[nodiscard]] bool is_set(std::uint32_t row) const {
    return (bits_[row / 64] >> row % 64 & 1U) != 0;
  }
  bool any_{};
  std::array<std::uint64_t, kBits / 64> bits_{};
};

struct Pending {
  Arrival arrival;
  Answer* answer{};
};

// Channels are looked up in this many groups: more than there are threads, for a core can be slower
// than another one.
inline constexpr std::uint32_t kMaxGroups = 8;
// Counts of what left a compute unit's L1 in a quantum. Other cores read the number first: it lies
// side by side for all compute units. Where the rest is seldom changes.
struct GatheredCount {
  std::int64_t until{};  // the quantum's end
  std::uint32_t latest{};
  std::uint32_t arrivals{};
  std::array<std::uint32_t, kMaxGroups> of_group{};
};

struct alignas(kHostLine) Gathered {
  std::unique_ptr<Arrival[]> arrivals;
  std::unique_ptr<Answer[]> answers;
  std::unique_ptr<std::uint32_t[]> places;  // in `arrivals`, group after group
  std::size_t room{};
};

}  // namespace ww::sim::gpu::exec
