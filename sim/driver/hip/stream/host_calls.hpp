// Host functions that streams run (callbacks, hipLaunchHostFunc, host nodes). A thread runs one
// once it has left the library; what comes after it in a stream is ready when it has returned.
// Needs the lock.
#pragma once

#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace ww::sim::driver::hip {

// A host function that a thread was given to run once it has left the library. That thread itself
// never waits for it.
struct HostCall {
  std::thread::id thread;
  std::vector<const void*> streams;  // whose later work comes after it
  bool returned{};
};
using HostCalls = std::vector<std::shared_ptr<HostCall>>;

// Calls that have not returned and that later work of the stream comes after.
[[nodiscard]] HostCalls calls_before(const void* stream);
// Whether none is left for which the calling thread has to wait.
[[nodiscard]] bool all_returned(const HostCalls& calls);

}  // namespace ww::sim::driver::hip
