// Captures: streams that note their work instead of running it. The graph that notes it is in
// hip_more/graph. Needs the lock.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "hip/stream/work.hpp"

namespace ww::sim::driver::hip {

struct GraphNode;
struct Stream;

inline constexpr int kCaptureGlobal = 0;
inline constexpr int kCaptureThreadLocal = 1;
inline constexpr int kCaptureRelaxed = 2;

// Where a capturing stream notes its work. The capture fails as a whole when the program does what
// a capture cannot contain.
class Capture {
 public:
  explicit Capture(int wanted_mode) : mode(wanted_mode), thread(std::this_thread::get_id()) {}
  virtual ~Capture() = default;
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // False once the program has destroyed the graph that the capture adds to.
  [[nodiscard]] virtual bool has_graph() const = 0;
  // Takes those nodes out that the program has destroyed.
  virtual void keep_living(std::vector<GraphNode*>& nodes) const = 0;
  // Adds a node that runs after others, on that device. There is a graph.
  virtual GraphNode* note(NodeKind kind, NodeWork what, const std::vector<GraphNode*>& after,
                          int ordinal) = 0;

  int mode;
  std::thread::id thread;  // that began it
  bool failed{};
};

// Lets go of a capture: every stream runs its commands again.
void end_capture(const std::shared_ptr<Capture>& capture);
// Lets go of the capture that the program began with this stream, if any.
void end_capture_of(const Stream& stream);
// Lets events go that were recorded in a capture which has ended.
void forget_capture_in_events(const std::shared_ptr<Capture>& capture);

}  // namespace ww::sim::driver::hip
