// The vector memory instructions of one CU since the last commit, for the trace. The CU's thread
// fills it; between quanta the logs go to the writer in order of CUs, so that any number of threads
// gives the same trace.
#pragma once

#include <cstdint>
#include <vector>

#include "exec/launch.hpp"
#include "exec/wave.hpp"

namespace ww::sim::trace {
class Writer;
}

namespace ww::sim::gpu::exec {

class AccessLog {
 public:
  void clear();
  // An instruction goes to memory. Loads are logged when they complete, the others now.
  void issued(const Wave& wave, MemoryOperation& operation);
  // A load's data are there; does nothing for what was not issued.
  void completed(const Wave& wave, MemoryOperation& operation);

  // Gives everything to the writer. `index` holds each instruction's index in the trace plus one,
  // by its dword, for the present launch.
  void drain(trace::Writer& writer, const LaunchState& launch, std::vector<std::uint32_t>& index);

 private:
  struct Entry {
    std::uint32_t instruction;  // dword
    std::uint32_t group;
    std::uint32_t wave;
    std::uint16_t value_words;  // of a lane
    bool contiguous;
    std::uint64_t lanes;
    std::uint64_t base;
  };
  void add(const Wave& wave, const MemoryOperation& operation, std::uint64_t lanes);

  std::vector<Entry> entries_;
  std::vector<std::uint64_t> addresses_;  // 64 an entry that is not contiguous
  std::vector<std::uint32_t> values_;     // 64 * value_words an entry, lane by lane
};

}  // namespace ww::sim::gpu::exec
