// Events: points in a stream's work, and the chip time at which it came to them.
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "hip/stream/capture.hpp"
#include "hip/stream/host_calls.hpp"
#include "hip/stream/stream_table.hpp"
#include "hip/stream/work.hpp"

namespace ww::sim::driver::hip {
namespace {

struct Event {
  unsigned flags{};
  std::optional<std::int64_t> time_ns;
  HostCalls after;  // recorded behind these
  int device{};
  std::shared_ptr<Capture> capture;  // recorded in a capturing stream, which had noted `last`
  std::vector<GraphNode*> last;
};

std::unordered_map<const void*, std::unique_ptr<Event>>& hip_events() {
  static auto& all = *new std::unordered_map<const void*, std::unique_ptr<Event>>;
  return all;
}

Event* event_of(const void* handle) {
  const auto found = hip_events().find(handle);
  return found == hip_events().end() ? nullptr : found->second.get();
}

// Whether a capture has only noted what the event waits for.
bool captured(const Event& event) {
  return event.capture != nullptr;
}

int wait_for_event(const void* handle, const Event& event) {
  if (!captured(event)) {  // recorded outside: it has happened, but for host functions before it
    for (const auto& call : event.after) {
      if (!call->returned) call->streams.push_back(handle);
    }
    return kSuccess;
  }
  Stream* stream = stream_that_captures(handle);
  if (stream == nullptr) return kStreamCaptureImplicit;
  if (stream->capture != nullptr && stream->capture != event.capture) return kStreamCaptureMerge;
  stream->capture = event.capture;
  for (GraphNode* node : event.last) {
    if (std::ranges::find(stream->last, node) == stream->last.end()) stream->last.push_back(node);
  }
  return kSuccess;
}

int create_event(void** handle, unsigned flags) {
  if (handle == nullptr || (flags & ~kKnownEventFlags) != 0) return kInvalidValue;
  // Other processes cannot have it (hipIpcGetEventHandle), which is no matter here.
  const bool shared = (flags & kEventInterprocess) != 0;
  if (shared && (flags & kEventDisableTiming) == 0) return kInvalidValue;
  if ((flags & kEventReleaseFlags) == kEventReleaseFlags) return kInvalidValue;  // one of them
  auto made = std::make_unique<Event>(Event{flags, {}, {}, chosen_device(), {}, {}});
  *handle = made.get();
  hip_events().emplace(*handle, std::move(made));
  return kSuccess;
}

int check_event(const void* event) {
  if (event == nullptr) return kInvalidValue;
  return event_of(event) != nullptr ? kSuccess : kInvalidHandle;
}

// The host functions that an event waits for. Errors kInvalidHandle, kCapturedEvent.
tl::expected<HostCalls, int> calls_before_event(const void* handle) {
  const Event* event = event_of(handle);
  if (event == nullptr) return tl::unexpected<int>(kInvalidHandle);
  if (!captured(*event)) return event->after;
  event->capture->failed = true;
  return tl::unexpected<int>(kCapturedEvent);
}

}  // namespace

void forget_capture_in_events(const std::shared_ptr<Capture>& capture) {
  for (auto& [handle, event] : hip_events()) {
    if (event->capture != capture) continue;
    event->capture = nullptr;
    event->last.clear();
  }
}

int record_event(void* handle, const void* stream_handle) {
  Event* event = event_of(handle);
  if (event == nullptr) return kInvalidHandle;
  const Stream* stream = made_stream(stream_handle);
  if (stream != nullptr && stream->capture != nullptr) {
    event->capture = stream->capture;
    event->last = stream->last;
    return kSuccess;
  }
  event->capture = nullptr;
  event->last.clear();
  event->time_ns = device().now_ns();
  event->after = calls_before(stream_handle);
  return kSuccess;
}

tl::expected<NodeWork, int> record_work(void* event) {
  if (const int bad = check_event(event); bad != kSuccess) return tl::unexpected<int>(bad);
  return NodeWork{[event] { return record_event(event, stream_of_work()); }, EventOfNode{event},
                  nullptr};
}

tl::expected<NodeWork, int> wait_work(void* event) {
  if (const int bad = check_event(event); bad != kSuccess) return tl::unexpected<int>(bad);
  return NodeWork{[event]() -> int {
                    const Event* found = event_of(event);
                    return found == nullptr ? kInvalidHandle
                                            : wait_for_event(stream_of_work(), *found);
                  },
                  EventOfNode{event}, nullptr};
}

void reset_events(int ordinal) {
  std::erase_if(hip_events(), [&](const auto& entry) { return entry.second->device == ordinal; });
}

WW_HIP_EXPORT int hipStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return guarded_work([&]() -> int {
    const Event* found = event_of(event);
    if (!is_stream(stream) || found == nullptr) return kInvalidHandle;
    return flags > 1 ? kInvalidValue : wait_for_event(stream, *found);
  });
}
WW_HIP_EXPORT int hipEventCreateWithFlags(void** event, unsigned flags) {
  return guarded_work([&] { return create_event(event, flags); });
}
WW_HIP_EXPORT int hipEventCreate(void** event) {
  return guarded_work([&] { return create_event(event, 0); });
}
WW_HIP_EXPORT int hipEventDestroy(void* event) {
  return guarded([&]() -> int {
    if (event == nullptr) return kInvalidHandle;
    return hip_events().erase(event) != 0 ? kSuccess : kContextIsDestroyed;
  });
}
WW_HIP_EXPORT int hipEventRecord(void* event, void* stream) {
  return guarded_work([&]() -> int {
    return is_stream(stream) ? record_event(event, stream) : kContextIsDestroyed;
  });
}
WW_HIP_EXPORT int hipEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  return flags == 0 ? hipEventRecord(event, stream) : finish(kInvalidValue);
}
WW_HIP_EXPORT int hipEventSynchronize(void* event) {
  return guarded_work([&](Entry& entry) -> int {
    const auto before = calls_before_event(event);
    if (!before) return before.error();
    entry.wait([&] { return all_returned(*before); });
    return device_error();
  });
}
WW_HIP_EXPORT int hipEventQuery(void* event) {
  return guarded_work([&]() -> int {
    const auto before = calls_before_event(event);
    if (!before) return before.error();
    return all_returned(*before) ? kSuccess : kNotReady;
  });
}
WW_HIP_EXPORT int hipEventElapsedTime(float* milliseconds, void* start, void* stop) {
  return guarded_work([&]() -> int {
    if (milliseconds == nullptr) return kInvalidValue;
    const Event* from = event_of(start);
    const Event* to = event_of(stop);
    if (from == nullptr || to == nullptr) return kInvalidHandle;
    if (captured(*from) || captured(*to)) return kCapturedEvent;
    if (!from->time_ns || !to->time_ns) return kInvalidHandle;
    if (((from->flags | to->flags) & kEventDisableTiming) != 0) return kInvalidHandle;
    *milliseconds = static_cast<float>(static_cast<double>(*to->time_ns - *from->time_ns) * 1e-6);
    return kSuccess;
  });
}

}  // namespace ww::sim::driver::hip
