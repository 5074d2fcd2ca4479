#include "hip/stream/stream_table.hpp"

namespace ww::sim::driver::hip {
namespace {

// Returns a handle for the calling thread's default stream while it captures: the program's handle
// is the same in all threads.
const void* own_handle(const void* handle) {
  thread_local const char of_thread{};
  return reinterpret_cast<std::uintptr_t>(handle) == kPerThreadStream ? &of_thread : handle;
}

bool is_blocking(const void* handle) {
  const Stream* stream = made_stream(handle);
  return stream == nullptr || stream->flags != kStreamNonBlocking;
}

}  // namespace

std::unordered_map<const void*, std::unique_ptr<Stream>>& streams() {
  static auto& all = *new std::unordered_map<const void*, std::unique_ptr<Stream>>;
  return all;
}

Stream* made_stream(const void* handle) {
  const auto found = streams().find(own_handle(handle));
  return found == streams().end() ? nullptr : found->second.get();
}

Stream* stream_that_captures(const void* handle) {
  Stream* const found = made_stream(handle);
  if (found != nullptr || own_handle(handle) == handle) return found;
  auto made = std::make_unique<Stream>();
  made->device = chosen_device();
  made->stands_in = true;
  return streams().emplace(own_handle(handle), std::move(made)).first->second.get();
}

std::optional<Stream> find_stream(const void* handle) {
  if (!is_stream(handle)) return std::nullopt;
  const Stream* found = made_stream(handle);
  return found == nullptr ? Stream{} : *found;
}

bool is_stream(const void* stream) {
  const auto value = reinterpret_cast<std::uintptr_t>(stream);
  return value == 0 || value == kLegacyStream || value == kPerThreadStream ||
         streams().contains(stream);
}

bool is_legacy(const void* handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  return value == 0 || value == kLegacyStream;
}

bool waits_for(const void* stream, const void* other) {
  if (stream == other) return true;
  return (is_legacy(stream) || is_legacy(other)) && is_blocking(stream) && is_blocking(other);
}

int device_of_stream(const void* handle) {
  const Stream* stream = made_stream(handle);
  return stream != nullptr ? stream->device : chosen_device();
}

const void*& stream_of_work() {
  static const void* stream = nullptr;
  return stream;
}

const CuMask& cus_of_work() {
  static const CuMask all;
  const Stream* stream = made_stream(stream_of_work());
  return stream != nullptr && stream->device == device().selected_device() ? stream->cus : all;
}

}  // namespace ww::sim::driver::hip
