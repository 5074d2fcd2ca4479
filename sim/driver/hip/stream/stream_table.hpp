// The streams that are alive, by their handles. Needs the lock.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "hip/stream/capture.hpp"
#include "hip/stream/stream.hpp"

namespace ww::sim::driver::hip {

// hipStreamLegacy.
inline constexpr std::uintptr_t kLegacyStream = 1;

struct Stream {
  unsigned flags{};
  int priority{};
  std::shared_ptr<Capture> capture;  // null: commands run
  std::vector<GraphNode*> last;      // nodes that the next one runs after
  bool began{};                      // the stream on which the program began it
  int device{};                      // that runs its commands
  bool stands_in{};                  // for a thread's default stream, while that captures
  CuMask cus{};                      // that run its kernels
};

// Streams that the program has made, and those that stand in for threads' default streams.
[[nodiscard]] std::unordered_map<const void*, std::unique_ptr<Stream>>& streams();

// Null for a default stream that captures nothing.
[[nodiscard]] Stream* made_stream(const void* handle);
// Returns the stream that captures; a thread's default stream gets one that stands in for it. Null
// for the legacy default stream, which cannot capture.
[[nodiscard]] Stream* stream_that_captures(const void* handle);
// The stream's own settings; those of the default stream for the fixed handles. Nothing for what is
// no stream.
[[nodiscard]] std::optional<Stream> find_stream(const void* handle);

[[nodiscard]] bool is_legacy(const void* handle);
// Whether one stream's work waits for what the other was given before.
[[nodiscard]] bool waits_for(const void* stream, const void* other);

// The stream whose work runs now; for work that does not say it.
[[nodiscard]] const void*& stream_of_work();

}  // namespace ww::sim::driver::hip
