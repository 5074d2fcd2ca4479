// The vector memory instructions of one CU since the last commit, for the trace. The CU's thread
// fills it; between quanta the logs go to the writer in order of CUs, so that any number of threads
// gives the same trace.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "machine/compute_unit/cu_observer.hpp"
#include "machine/isa/launch_state.hpp"
#include "machine/isa/wave.hpp"

namespace ww::sim::trace {
class Writer;
}

namespace ww::sim::gpu::exec {

// Indices in the trace, plus one, of the present launch's instructions by their dword. An image
// instruction is one for each size of texel that it met.
class TraceIndex {
 public:
  void reset(std::size_t dwords) {
    plain_.assign(dwords, 0);
    images_.clear();
  }
  std::uint32_t& at(std::uint32_t dword, std::uint8_t texel_bytes) {
    return texel_bytes == 0 ? plain_[dword] : images_[{dword, texel_bytes}];
  }

 private:
  std::vector<std::uint32_t> plain_;
  std::map<std::pair<std::uint32_t, std::uint8_t>, std::uint32_t> images_;
};

class AccessLog final : public CuObserver {
 public:
  [[nodiscard]] Watches watches() const override { return {.memory = true}; }
  void begin_launch(const LaunchState&) override { clear(); }
  // Loads are logged when they complete, the others now.
  void issued(const Wave& wave, MemoryOperation& operation) override;
  // Does nothing for what was not issued.
  void completed(const Wave& wave, MemoryOperation& operation) override;
  // Logs what memory holds now, which the load would have brought.
  void abandoned(const Wave& wave, MemoryOperation& operation) override;

  // Gives everything to the writer.
  void drain(trace::Writer& writer, const LaunchState& launch, TraceIndex& index);

 private:
  struct Entry {
    std::uint32_t instruction;  // dword
    std::uint32_t group;
    std::uint32_t wave;
    std::uint16_t value_words;  // of a lane
    bool contiguous;
    std::uint8_t texel_bytes;  // of an image instruction, else 0
    std::uint64_t lanes;
    std::uint64_t base;
  };
  void clear();
  void add(const Wave& wave, const MemoryOperation& operation, std::uint64_t lanes);
  // Each tap of a filtered sample is an access of its own.
  void add_taps(const Wave& wave, const MemoryOperation& operation);

  std::vector<Entry> entries_;
  std::vector<std::uint64_t> addresses_;  // 64 an entry that is not contiguous
  std::vector<std::uint32_t> values_;     // 64 * value_words an entry, lane by lane
};

}  // namespace ww::sim::gpu::exec
