// Streams and events. Every command runs when it is given, in the order of the calls, which is an
// order that every program allows; so chip time has no overlap of streams. A stream that captures
// notes its commands in a graph instead.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "hip/session/session.hpp"
#include "hip/stream/work.hpp"

namespace ww::sim::driver::hip {

class Capture;

// hipStreamPerThread.
inline constexpr std::uintptr_t kPerThreadStream = 2;

// The stream that a call of a program with a default stream for each thread names.
[[nodiscard]] inline void* of_thread(void* stream) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the handle is a number
  return stream == nullptr ? reinterpret_cast<void*>(kPerThreadStream) : stream;
}

// Whether a stream handle is the default stream, one of the fixed ones, or one that is alive.
[[nodiscard]] bool is_stream(const void* stream);

// The device that runs the stream's work: for default streams, the one that the thread has chosen.
[[nodiscard]] int device_of_stream(const void* stream);

// Bits of compute units, as gpu::Grid has them; empty: all.
using CuMask = std::vector<std::uint32_t>;
// Compute units for the kernels of the work that runs now: those of its stream.
[[nodiscard]] const CuMask& cus_of_work();

// The capture that a stream's work goes to; null: the work runs now. Errors kContextIsDestroyed,
// kStreamCaptureInvalidated, and kStreamCaptureImplicit for work of the default stream while
// another stream captures that waits for it.
[[nodiscard]] tl::expected<Capture*, int> capture_for_work(const void* stream);
// Notes work in the graph that the stream captures.
void note_work(const void* stream, NodeKind kind, NodeWork what);

// Runs work of a stream (int(), with all it needs held by value), or notes it where it captures,
// with what calls may ask of the node.
template <class Body>
int submit(const void* stream, NodeKind kind, Body&& work, NodeParameters parameters = {}) {
  const auto capture = capture_for_work(stream);
  if (!capture) return capture.error();
  if (*capture == nullptr) return work();
  note_work(stream, kind, {std::forward<Body>(work), std::move(parameters), nullptr});
  return kSuccess;
}

// Refuses calls that no capture can contain, as they wait: lets the stream's capture, or every
// capture, fail. Errors kContextIsDestroyed, kStreamCaptureUnsupported.
int refuse_in_capture(const void* stream);
int refuse_in_any_capture();
// Refuses calls that only a relaxed capture allows, as they may wait: lets the captures fail that
// this thread began, and in the thread's global mode those that others began globally. Error
// kStreamCaptureUnsupported.
int refuse_unsafe_in_capture();

// Waits until host functions have returned that other threads run, for this stream or, without one,
// for any. The lock is free meanwhile.
void wait_for_host_functions(Entry& entry);
void wait_for_host_functions(Entry& entry, const void* stream);

// Notes the present chip time in an event, or what a capturing stream has noted so far. Error
// kInvalidHandle.
int record_event(void* event, const void* stream);

}  // namespace ww::sim::driver::hip
