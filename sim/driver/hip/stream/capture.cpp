#include "hip/stream/capture.hpp"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "hip/stream/stream_table.hpp"

namespace ww::sim::driver::hip {
namespace {

// A thread's permissions while some stream captures (hipThreadExchangeStreamCaptureMode).
int& capture_mode_of_thread() {
  thread_local int mode = kCaptureGlobal;
  return mode;
}

// Whether the legacy default stream would have to wait for work that is only noted.
bool capture_blocks_legacy() {
  return std::ranges::any_of(streams(), [](const auto& entry) {
    return entry.second->capture != nullptr && entry.second->flags != kStreamNonBlocking;
  });
}

}  // namespace

void end_capture(const std::shared_ptr<Capture>& capture) {
  std::erase_if(streams(), [&](const auto& entry) {
    return entry.second->capture == capture && entry.second->stands_in;
  });
  for (auto& [handle, stream] : streams()) {
    if (stream->capture != capture) continue;
    stream->capture = nullptr;
    stream->last.clear();
    stream->began = false;
  }
  forget_capture_in_events(capture);
}

void end_capture_of(const Stream& stream) {
  if (stream.began) end_capture(std::shared_ptr<Capture>(stream.capture));
}

tl::expected<Capture*, int> capture_for_work(const void* handle) {
  stream_of_work() = handle;
  if (!is_stream(handle)) return tl::unexpected<int>(kContextIsDestroyed);
  if (Stream* stream = made_stream(handle); stream != nullptr) {
    if (stream->capture == nullptr) {
      device().select_device(stream->device);
      return nullptr;
    }
    if (!stream->capture->has_graph()) stream->capture->failed = true;
    if (stream->capture->failed) return tl::unexpected<int>(kStreamCaptureInvalidated);
    stream->capture->keep_living(stream->last);
    return stream->capture.get();
  }
  if (reinterpret_cast<std::uintptr_t>(handle) == kPerThreadStream) return nullptr;
  for (auto& [other, stream] : streams()) {
    if (stream->capture == nullptr || stream->flags == kStreamNonBlocking) continue;
    stream->capture->failed = true;
    return tl::unexpected<int>(kStreamCaptureImplicit);
  }
  return nullptr;
}

void note_work(const void* handle, NodeKind kind, NodeWork what) {
  Stream& stream = *made_stream(handle);
  stream.last = {stream.capture->note(kind, std::move(what), stream.last, stream.device)};
}

int refuse_in_capture(const void* handle) {
  if (!is_stream(handle)) return kContextIsDestroyed;
  Stream* stream = made_stream(handle);
  if (stream == nullptr || stream->capture == nullptr) return kSuccess;
  stream->capture->failed = true;
  return kStreamCaptureUnsupported;
}

int refuse_in_any_capture() {
  int code = kSuccess;
  for (auto& [handle, stream] : streams()) {
    if (stream->capture == nullptr) continue;
    stream->capture->failed = true;
    code = kStreamCaptureUnsupported;
  }
  return code;
}

int refuse_unsafe_in_capture() {
  const int mode = capture_mode_of_thread();
  if (mode == kCaptureRelaxed) return kSuccess;
  int code = kSuccess;
  for (auto& [handle, stream] : streams()) {
    Capture* const capture = stream->capture.get();
    if (capture == nullptr || capture->mode == kCaptureRelaxed) continue;
    const bool of_thread = capture->thread == std::this_thread::get_id();
    if (!of_thread && (mode != kCaptureGlobal || capture->mode != kCaptureGlobal)) continue;
    capture->failed = true;
    code = kStreamCaptureUnsupported;
  }
  return code;
}

WW_HIP_EXPORT int hipStreamIsCapturing(void* stream, int* status) {
  return guarded([&]() -> int {
    if (status == nullptr) return kInvalidValue;
    const auto found = find_stream(stream);
    if (!found) return kContextIsDestroyed;
    if (is_legacy(stream) && capture_blocks_legacy()) return kStreamCaptureImplicit;
    *status = found->capture == nullptr ? 0 : found->capture->failed ? 2 : 1;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id) {
  const int code = hipStreamIsCapturing(stream, status);
  if (code != kSuccess || *status == 0 || id == nullptr) return code;
  return guarded([&]() -> int {
    const auto found = find_stream(stream);
    if (!found) return kContextIsDestroyed;
    *id = reinterpret_cast<std::uintptr_t>(found->capture.get());
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipThreadExchangeStreamCaptureMode(int* mode) {
  return guarded([&]() -> int {
    if (mode == nullptr || *mode < kCaptureGlobal || *mode > kCaptureRelaxed) return kInvalidValue;
    std::swap(capture_mode_of_thread(), *mode);
    return kSuccess;
  });
}

}  // namespace ww::sim::driver::hip
