#include "hip/stream/stream.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "hip/stream/capture.hpp"
#include "hip/stream/host_calls.hpp"
#include "hip/stream/stream_table.hpp"

namespace ww::sim::driver::hip {
namespace {

// A GCN device offers these; lower numbers come first.
constexpr int kLowestPriority = 1;
constexpr int kHighestPriority = -1;

// Bits of a mask that stand for compute units.
std::uint32_t known_bits(std::size_t word) {
  const auto units =
      static_cast<std::size_t>(device().chip().architecture().compute_units_of_device());
  if (units <= 32 * word) return 0;
  return units - 32 * word >= 32 ? UINT32_MAX : (1U << (units - 32 * word)) - 1;
}

// A call that waits for a stream or asks how far it is: in a capture of that stream, and as a call
// that may wait in captures of others. Of the default stream AMD's library does not ask that.
int refuse_wait_in_capture(const void* stream) {
  const int bad = refuse_in_capture(stream);
  return bad == kSuccess && stream != nullptr ? refuse_unsafe_in_capture() : bad;
}

std::size_t words_of_mask() {
  return static_cast<std::size_t>(device().chip().architecture().compute_units_of_device() + 31) /
         32;
}

// A mask that names none is as good as no mask.
CuMask known_cus(std::span<const std::uint32_t> mask) {
  CuMask known;
  bool any = false;
  for (std::size_t word = 0; word < std::min(mask.size(), words_of_mask()); ++word) {
    known.push_back(mask[word] & known_bits(word));
    any = any || known.back() != 0;
  }
  return any ? known : CuMask{};
}

int create_stream(void** handle, unsigned flags, int priority, CuMask cus = {}) {
  if (handle == nullptr || flags > kStreamNonBlocking) return kInvalidValue;
  auto made = std::make_unique<Stream>();
  made->flags = flags;
  made->priority = std::min(std::max(priority, kHighestPriority), kLowestPriority);
  made->device = chosen_device();
  made->cus = std::move(cus);
  *handle = made.get();
  streams().emplace(*handle, std::move(made));
  return kSuccess;
}

int destroy_stream(void* handle) {
  if (!is_stream(handle)) return kContextIsDestroyed;
  Stream* stream = made_stream(handle);
  if (stream == nullptr) return kInvalidHandle;  // a default stream
  end_capture_of(*stream);
  streams().erase(handle);
  return kSuccess;
}

}  // namespace

void reset_streams(int ordinal) {
  std::erase_if(streams(), [&](const auto& entry) { return entry.second->device == ordinal; });
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
WW_HIP_EXPORT int hipExtStreamCreateWithCUMask(void** stream, std::uint32_t words,
                                               const std::uint32_t* mask) {
  return guarded_work([&]() -> int {
    if (stream == nullptr) return kInvalidHandle;
    if (words == 0 || mask == nullptr) return kInvalidValue;
    return create_stream(stream, 0, 0, known_cus(std::span(mask, words)));
  });
}
WW_HIP_EXPORT int hipExtStreamGetCUMask(void* stream, std::uint32_t words, std::uint32_t* mask) {
  return guarded([&]() -> int {
    if (mask == nullptr || words < words_of_mask()) return kInvalidValue;
    const auto found = find_stream(stream);
    if (!found) return kContextIsDestroyed;
    for (std::size_t word = 0; word < words_of_mask(); ++word) {
      const bool named = word < found->cus.size();
      mask[word] = named ? found->cus[word] : found->cus.empty() ? known_bits(word) : 0;
    }
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return guarded([&]() -> int {
    if (least != nullptr) *least = kLowestPriority;
    if (greatest != nullptr) *greatest = kHighestPriority;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipStreamDestroy(void* stream) {
  return guarded([&]() -> int { return destroy_stream(stream); });
}
WW_HIP_EXPORT int hipStreamSynchronize(void* stream) {
  return guarded_work([&](Entry& entry) -> int {
    if (const int bad = refuse_wait_in_capture(stream); bad != kSuccess) return bad;
    wait_for_host_functions(entry, stream);
    return device_error();
  });
}
WW_HIP_EXPORT int hipStreamQuery(void* stream) {
  return guarded_work([&]() -> int {
    if (const int bad = refuse_wait_in_capture(stream); bad != kSuccess) return bad;
    return all_returned(calls_before(stream)) ? kSuccess : kNotReady;
  });
}
WW_HIP_EXPORT int hipStreamGetFlags(void* stream, unsigned* flags) {
  return guarded([&]() -> int {
    if (stream == nullptr) return kInvalidValue;
    const auto found = find_stream(stream);
    if (!found) return kContextIsDestroyed;
    if (flags == nullptr) return kInvalidValue;
    *flags = found->flags;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipStreamGetPriority(void* stream, int* priority) {
  return guarded([&]() -> int {
    const auto found = find_stream(stream);
    if (!found) return kContextIsDestroyed;
    if (priority == nullptr) return kInvalidValue;
    *priority = found->priority;
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipStreamGetDevice(void* stream, int* ordinal) {
  return guarded([&]() -> int {
    if (!is_stream(stream)) return kContextIsDestroyed;
    if (ordinal == nullptr) return kInvalidValue;
    *ordinal = device_of_stream(stream);
    return kSuccess;
  });
}
// Not a code: the device, or -1 for a stream that is gone.
WW_HIP_EXPORT int hipGetStreamDeviceId(void* stream) {
  int ordinal = -1;
  static_cast<void>(guarded([&]() -> int {
    if (is_stream(stream)) ordinal = device_of_stream(stream);
    return kSuccess;
  }));
  return ordinal;
}

}  // namespace ww::sim::driver::hip
