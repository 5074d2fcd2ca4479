#include "hip/stream.hpp"

#include <memory>
#include <optional>
#include <unordered_map>

namespace ww::sim::icd::hip {
namespace {

// hipStreamLegacy and hipStreamPerThread.
constexpr std::uintptr_t kLegacyStream = 1;
constexpr std::uintptr_t kPerThreadStream = 2;
// A GCN device offers these; lower numbers come first.
constexpr int kLowestPriority = 1;
constexpr int kHighestPriority = -1;

struct Stream {
  unsigned flags{};
  int priority{};
};

struct Event {
  unsigned flags{};
  std::optional<std::int64_t> time_ns;
};

std::unordered_map<const void*, std::unique_ptr<Stream>>& streams() {
  static auto& all = *new std::unordered_map<const void*, std::unique_ptr<Stream>>;
  return all;
}

std::unordered_map<const void*, std::unique_ptr<Event>>& hip_events() {
  static auto& all = *new std::unordered_map<const void*, std::unique_ptr<Event>>;
  return all;
}

Event* event_of(const void* handle) {
  const auto found = hip_events().find(handle);
  return found == hip_events().end() ? nullptr : found->second.get();
}

int create_stream(void** handle, unsigned flags, int priority) {
  if (handle == nullptr || flags > kStreamNonBlocking) return kInvalidValue;
  auto made = std::make_unique<Stream>(
      Stream{flags, std::min(std::max(priority, kHighestPriority), kLowestPriority)});
  *handle = made.get();
  streams().emplace(*handle, std::move(made));
  return kSuccess;
}

// The stream's own settings; those of the default stream for the fixed handles.
std::optional<Stream> find_stream(const void* handle) {
  if (!is_stream(handle)) return std::nullopt;
  const auto found = streams().find(handle);
  return found == streams().end() ? Stream{} : *found->second;
}

int create_event(void** handle, unsigned flags) {
  if (handle == nullptr || (flags & ~kKnownEventFlags) != 0) return kInvalidValue;
  if ((flags & kEventInterprocess) != 0) return kNotSupported;
  auto made = std::make_unique<Event>(Event{flags, {}});
  *handle = made.get();
  hip_events().emplace(*handle, std::move(made));
  return kSuccess;
}

}  // namespace

bool is_stream(const void* stream) {
  const auto value = reinterpret_cast<std::uintptr_t>(stream);
  return value == 0 || value == kLegacyStream || value == kPerThreadStream ||
         streams().contains(stream);
}

int record_event(void* handle) {
  Event* event = event_of(handle);
  if (event == nullptr) return kInvalidHandle;
  event->time_ns = device().now_ns();
  return kSuccess;
}

void reset_streams() {
  streams().clear();
  hip_events().clear();
}

WW_HIP_EXPORT int hipStreamCreate(void** stream) {
  return guarded_work([&] { return create_stream(stream, 0, 0); });
}
WW_HIP_EXPORT int hipStreamCreateWithFlags(void** stream, unsigned flags) {
  return guarded_work([&] { return create_stream(stream, flags, 0); });
}
WW_HIP_EXPORT int hipStreamCreateWithPriority(void** stream, unsigned flags, int priority) {
  return guarded_work([&] { return create_stream(stream, flags, priority); });
}
WW_HIP_EXPORT int hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return guarded([&]() -> int {
    if (least != nullptr) *least = kLowestPriority;
    if (greatest != nullptr) *greatest = kHighestPriority;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipStreamDestroy(void* stream) {
  return guarded([&]() -> int { return streams().erase(stream) != 0 ? kSuccess : kInvalidHandle; });
}
WW_HIP_EXPORT int hipStreamSynchronize(void* stream) {
  return guarded_work([&]() -> int { return is_stream(stream) ? kSuccess : kInvalidHandle; });
}
WW_HIP_EXPORT int hipStreamQuery(void* stream) {
  return guarded_work([&]() -> int { return is_stream(stream) ? kSuccess : kInvalidHandle; });
}
WW_HIP_EXPORT int hipStreamGetFlags(void* stream, unsigned* flags) {
  return guarded([&]() -> int {
    const auto found = find_stream(stream);
    if (!found) return kInvalidHandle;
    if (flags == nullptr) return kInvalidValue;
    *flags = found->flags;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipStreamGetPriority(void* stream, int* priority) {
  return guarded([&]() -> int {
    const auto found = find_stream(stream);
    if (!found) return kInvalidHandle;
    if (priority == nullptr) return kInvalidValue;
    *priority = found->priority;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipStreamGetDevice(void* stream, int* ordinal) {
  return guarded([&]() -> int {
    if (!is_stream(stream)) return kInvalidHandle;
    if (ordinal == nullptr) return kInvalidValue;
    *ordinal = 0;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return guarded_work([&]() -> int {
    if (!is_stream(stream) || event_of(event) == nullptr) return kInvalidHandle;
    return flags > 1 ? kInvalidValue : kSuccess;
  });
}
WW_HIP_EXPORT int hipStreamIsCapturing(void* stream, int* status) {
  return guarded([&]() -> int {
    if (!is_stream(stream)) return kInvalidHandle;
    if (status == nullptr) return kInvalidValue;
    *status = 0;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipStreamAddCallback(void* stream, StreamCallback callback, void* user_data,
                                       unsigned flags) {
  return guarded_work([&]() -> int {
    if (!is_stream(stream)) return kInvalidHandle;
    if (callback == nullptr || flags != 0) return kInvalidValue;
    Runtime::get().callbacks.emplace_back([=] { callback(stream, kSuccess, user_data); });
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipLaunchHostFunc(void* stream, HostFunction function, void* user_data) {
  return guarded_work([&]() -> int {
    if (!is_stream(stream)) return kInvalidHandle;
    if (function == nullptr) return kInvalidValue;
    Runtime::get().callbacks.emplace_back([=] { function(user_data); });
    return kSuccess;
  });
}

WW_HIP_EXPORT int hipEventCreateWithFlags(void** event, unsigned flags) {
  return guarded_work([&] { return create_event(event, flags); });
}
WW_HIP_EXPORT int hipEventCreate(void** event) {
  return guarded_work([&] { return create_event(event, 0); });
}
WW_HIP_EXPORT int hipEventDestroy(void* event) {
  return guarded(
      [&]() -> int { return hip_events().erase(event) != 0 ? kSuccess : kInvalidHandle; });
}
WW_HIP_EXPORT int hipEventRecord(void* event, void* stream) {
  return guarded_work(
      [&]() -> int { return is_stream(stream) ? record_event(event) : kInvalidHandle; });
}
WW_HIP_EXPORT int hipEventRecordWithFlags(void* event, void* stream, unsigned flags) {
  return flags == 0 ? hipEventRecord(event, stream) : finish(kInvalidValue);
}
WW_HIP_EXPORT int hipEventSynchronize(void* event) {
  return guarded_work(
      [&]() -> int { return event_of(event) != nullptr ? kSuccess : kInvalidHandle; });
}
WW_HIP_EXPORT int hipEventQuery(void* event) {
  return hipEventSynchronize(event);
}
WW_HIP_EXPORT int hipEventElapsedTime(float* milliseconds, void* start, void* stop) {
  return guarded_work([&]() -> int {
    if (milliseconds == nullptr) return kInvalidValue;
    const Event* from = event_of(start);
    const Event* to = event_of(stop);
    if (from == nullptr || to == nullptr || !from->time_ns || !to->time_ns) return kInvalidHandle;
    if (((from->flags | to->flags) & kEventDisableTiming) != 0) return kInvalidHandle;
    *milliseconds = static_cast<float>(static_cast<double>(*to->time_ns - *from->time_ns) * 1e-6);
    return kSuccess;
  });
}

}  // namespace ww::sim::icd::hip
