#include "hip/stream.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "hip/graph_work.hpp"

namespace ww::sim::icd::hip {
namespace {

// hipStreamLegacy.
constexpr std::uintptr_t kLegacyStream = 1;
// A GCN device offers these; lower numbers come first.
constexpr int kLowestPriority = 1;
constexpr int kHighestPriority = -1;

struct Stream {
  unsigned flags{};
  int priority{};
  std::shared_ptr<Capture> capture;  // null: commands run
  std::vector<GraphNode*> last;      // nodes that the next one runs after
  bool began{};                      // the stream that the program told to capture
  int device{};                      // that runs its commands
  bool stands_in{};                  // for a thread's default stream, while that captures
  CuMask cus{};                      // that run its kernels
};

// A host function that a thread was given to run once it has left the library. That thread itself
// never waits for it.
struct HostCall {
  std::thread::id thread;
  std::vector<const void*> streams;  // whose later work comes after it
  bool returned{};
};
using HostCalls = std::vector<std::shared_ptr<HostCall>>;

struct Event {
  unsigned flags{};
  std::optional<std::int64_t> time_ns;
  HostCalls after;  // recorded behind these
  int device{};
  std::shared_ptr<Capture> capture;  // recorded in a capturing stream, which had noted `last`
  std::vector<GraphNode*> last;
};

std::unordered_map<const void*, std::unique_ptr<Stream>>& streams() {
  static auto& all = *new std::unordered_map<const void*, std::unique_ptr<Stream>>;
  return all;
}

std::unordered_map<const void*, std::unique_ptr<Event>>& hip_events() {
  static auto& all = *new std::unordered_map<const void*, std::unique_ptr<Event>>;
  return all;
}

// Those that have not returned.
HostCalls& host_calls() {
  static auto& all = *new HostCalls;
  return all;
}

Event* event_of(const void* handle) {
  const auto found = hip_events().find(handle);
  return found == hip_events().end() ? nullptr : found->second.get();
}

// Bits of a mask that stand for compute units.
std::uint32_t known_bits(std::size_t word) {
  const auto units =
      static_cast<std::size_t>(device().chip().architecture().compute_units_of_device());
  if (units <= 32 * word) return 0;
  return units - 32 * word >= 32 ? UINT32_MAX : (1U << (units - 32 * word)) - 1;
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

// What stands for the calling thread's default stream while it captures: that handle is the same in
// all threads.
const void* own_handle(const void* handle) {
  thread_local const char of_thread{};
  return reinterpret_cast<std::uintptr_t>(handle) == kPerThreadStream ? &of_thread : handle;
}

// Null for a default stream that captures nothing.
Stream* made_stream(const void* handle) {
  const auto found = streams().find(own_handle(handle));
  return found == streams().end() ? nullptr : found->second.get();
}

// Null for the legacy default stream, which cannot capture.
Stream* stream_that_captures(const void* handle) {
  Stream* const found = made_stream(handle);
  if (found != nullptr || own_handle(handle) == handle) return found;
  auto made = std::make_unique<Stream>();
  made->device = chosen_device();
  made->stands_in = true;
  return streams().emplace(own_handle(handle), std::move(made)).first->second.get();
}

bool is_legacy(const void* handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  return value == 0 || value == kLegacyStream;
}

bool is_blocking(const void* handle) {
  const Stream* stream = made_stream(handle);
  return stream == nullptr || stream->flags != kStreamNonBlocking;
}

// Whether one stream's work waits for what the other was given before.
bool waits_for(const void* stream, const void* other) {
  if (stream == other) return true;
  return (is_legacy(stream) || is_legacy(other)) && is_blocking(stream) && is_blocking(other);
}

bool is_running(const HostCall& call) {
  return !call.returned && call.thread != std::this_thread::get_id();
}

HostCalls calls_before(const void* stream) {
  HostCalls before;
  for (const auto& call : host_calls()) {
    if (std::ranges::any_of(call->streams,
                            [&](const void* other) { return waits_for(stream, other); })) {
      before.push_back(call);
    }
  }
  return before;
}

bool all_returned(const HostCalls& calls) {
  return std::ranges::none_of(calls, [](const auto& call) { return is_running(*call); });
}

// Its end is the call's, even by an exception.
class RunningCall {
 public:
  explicit RunningCall(std::shared_ptr<HostCall> call) : call_(std::move(call)) {}
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;
  ~RunningCall() {
    const auto lock = Runtime::get().lock();
    call_->returned = true;
    std::erase(host_calls(), call_);
    Runtime::get().changed.notify_all();
  }

 private:
  std::shared_ptr<HostCall> call_;
};

void call_host(const void* stream, std::function<void()> function) {
  auto call = std::make_shared<HostCall>(HostCall{std::this_thread::get_id(), {stream}});
  host_calls().push_back(call);
  Runtime::get().callbacks.emplace_back([call = std::move(call), function = std::move(function)] {
    const RunningCall running(call);
    function();
  });
}

// The stream whose work runs now; for work that does not say it.
const void*& stream_of_work() {
  static const void* stream = nullptr;
  return stream;
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

// What a thread may do while some stream captures (hipThreadExchangeStreamCaptureMode).
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

// Whether every node that any of the streams noted lies before the last ones of this stream, or is
// one of them.
bool joined(const Stream& origin) {
  const std::unordered_set<const GraphNode*> before = and_all_before(origin.last);
  return std::ranges::all_of(origin.capture->graph()->nodes, [&](const auto& node) {
    return !origin.capture->noted.contains(node->number) || before.contains(node.get());
  });
}

// Takes nodes out that the program has destroyed in the graph that a capture adds to.
void keep_living(std::vector<GraphNode*>& nodes, const Capture& capture) {
  const Graph* graph = capture.graph();
  std::erase_if(nodes, [graph](const GraphNode* node) {
    return graph == nullptr || find_node(*graph, node) == nullptr;
  });
}

// Lets go of a capture: every stream runs its commands again.
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
  for (auto& [handle, event] : hip_events()) {
    if (event->capture != capture) continue;
    event->capture = nullptr;
    event->last.clear();
  }
}

// `graph`: that the nodes are added to; null: one of its own.
int begin_capture(const void* handle, int mode, Graph* graph = nullptr) {
  if (!is_stream(handle)) return kContextIsDestroyed;
  if (mode < kCaptureGlobal || mode > kCaptureRelaxed) return kInvalidValue;
  Stream* stream = stream_that_captures(handle);
  if (stream == nullptr) return kStreamCaptureUnsupported;
  if (stream->capture != nullptr) return kIllegalState;
  auto capture = std::make_shared<Capture>();
  if (graph == nullptr) {
    capture->own = std::make_unique<Graph>();
  } else {
    capture->added_to = graph;
    capture->number = graph->number;
  }
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  stream->capture = std::move(capture);
  stream->began = true;
  return kSuccess;
}

int begin_capture_to(const void* handle, void* graph_handle, const void* const* nodes,
                     const void* edges, std::size_t count, int mode) {
  if (edges != nullptr) return refuse_form("hipStreamBeginCaptureToGraph with data of edges");
  Graph* graph = find_graph(graph_handle);
  if (graph == nullptr || !graph->published) return kInvalidValue;
  if ((nodes == nullptr) != (count == 0)) return kInvalidValue;
  std::vector<GraphNode*> last;
  for (const void* node : std::span(nodes, count)) {
    last.push_back(find_node(*graph, node));
    if (last.back() == nullptr) return kInvalidValue;
  }
  if (const int bad = begin_capture(handle, mode, graph); bad != kSuccess) return bad;
  made_stream(handle)->last = std::move(last);
  return kSuccess;
}

int finish_capture(void* handle, void** graph) {
  if (!is_stream(handle)) return kContextIsDestroyed;
  if (graph == nullptr) return kInvalidValue;
  *graph = nullptr;
  Stream* stream = made_stream(handle);
  if (stream == nullptr || stream->capture == nullptr) return kIllegalState;
  if (!stream->began) return kStreamCaptureUnmatched;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture->mode != kCaptureRelaxed && capture->thread != std::this_thread::get_id()) {
    return kStreamCaptureWrongThread;
  }
  if (capture->graph() == nullptr) capture->failed = true;
  keep_living(stream->last, *capture);
  const bool whole = !capture->failed && joined(*stream);
  end_capture(capture);
  if (capture->failed) return kStreamCaptureInvalidated;
  if (!whole) return kStreamCaptureUnjoined;
  if (capture->own == nullptr) {
    *graph = capture->added_to;
    return kSuccess;
  }
  *graph = publish_graph(std::move(capture->own));
  return kSuccess;
}

int destroy_stream(void* handle) {
  if (!is_stream(handle)) return kContextIsDestroyed;
  Stream* stream = made_stream(handle);
  if (stream == nullptr) return kInvalidHandle;  // a default stream
  if (stream->began) end_capture(std::shared_ptr<Capture>(stream->capture));
  streams().erase(handle);
  return kSuccess;
}

// The stream's own settings; those of the default stream for the fixed handles.
std::optional<Stream> find_stream(const void* handle) {
  if (!is_stream(handle)) return std::nullopt;
  const Stream* found = made_stream(handle);
  return found == nullptr ? Stream{} : *found;
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

Graph* Capture::graph() const {
  if (own != nullptr) return own.get();
  Graph* const found = find_graph(added_to);
  return found != nullptr && found->number == number ? found : nullptr;
}

tl::expected<NodeWork, int> host_work(HostFunction function, void* user_data) {
  if (function == nullptr) return tl::unexpected<int>(kInvalidValue);
  return NodeWork{[=]() -> int {
                    call_host(stream_of_work(), [=] { function(user_data); });
                    return kSuccess;
                  },
                  HostNodeParameters{function, user_data}, nullptr};
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

tl::expected<CaptureOfStream, int> capture_of(const void* handle) {
  if (!is_stream(handle)) return tl::unexpected<int>(kContextIsDestroyed);
  Stream* stream = made_stream(handle);
  if (stream == nullptr) return CaptureOfStream{};
  if (stream->capture != nullptr) keep_living(stream->last, *stream->capture);
  return CaptureOfStream{stream->capture.get(), &stream->last};
}

bool is_stream(const void* stream) {
  const auto value = reinterpret_cast<std::uintptr_t>(stream);
  return value == 0 || value == kLegacyStream || value == kPerThreadStream ||
         streams().contains(stream);
}

int device_of_stream(const void* handle) {
  const Stream* stream = made_stream(handle);
  return stream != nullptr ? stream->device : chosen_device();
}

const CuMask& cus_of_work() {
  static const CuMask all;
  const Stream* stream = made_stream(stream_of_work());
  return stream != nullptr && stream->device == device().selected_device() ? stream->cus : all;
}

void wait_for_host_functions(Entry& entry) {
  entry.wait([] { return all_returned(host_calls()); });
}

void wait_for_host_functions(Entry& entry, const void* stream) {
  entry.wait([before = calls_before(stream)] { return all_returned(before); });
}

tl::expected<Capture*, int> capture_for_work(const void* handle) {
  stream_of_work() = handle;
  if (!is_stream(handle)) return tl::unexpected<int>(kContextIsDestroyed);
  if (Stream* stream = made_stream(handle); stream != nullptr) {
    if (stream->capture == nullptr) {
      device().select_device(stream->device);
      return nullptr;
    }
    if (stream->capture->graph() == nullptr) stream->capture->failed = true;
    if (stream->capture->failed) return tl::unexpected<int>(kStreamCaptureInvalidated);
    keep_living(stream->last, *stream->capture);
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
  GraphNode& node = add_node(*stream.capture->graph(), kind, std::move(what), stream.last);
  node.device = stream.device;
  stream.capture->noted.insert(node.number);
  stream.last = {&node};
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

void reset_streams(int ordinal) {
  std::erase_if(streams(), [&](const auto& entry) { return entry.second->device == ordinal; });
  std::erase_if(hip_events(), [&](const auto& entry) { return entry.second->device == ordinal; });
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
    if (const int bad = refuse_in_capture(stream); bad != kSuccess) return bad;
    wait_for_host_functions(entry, stream);
    return device_error();
  });
}
WW_HIP_EXPORT int hipStreamQuery(void* stream) {
  return guarded_work([&]() -> int {
    if (const int bad = refuse_in_capture(stream); bad != kSuccess) return bad;
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
WW_HIP_EXPORT int hipStreamWaitEvent(void* stream, void* event, unsigned flags) {
  return guarded_work([&]() -> int {
    const Event* found = event_of(event);
    if (!is_stream(stream) || found == nullptr) return kInvalidHandle;
    return flags > 1 ? kInvalidValue : wait_for_event(stream, *found);
  });
}
WW_HIP_EXPORT int hipStreamBeginCapture(void* stream, int mode) {
  return guarded_work([&] { return begin_capture(stream, mode); });
}
WW_HIP_EXPORT int hipStreamBeginCaptureToGraph(void* stream, void* graph, const void* const* nodes,
                                               const void* edges, std::size_t count, int mode) {
  return guarded_work([&] { return begin_capture_to(stream, graph, nodes, edges, count, mode); });
}
WW_HIP_EXPORT int hipStreamEndCapture(void* stream, void** graph) {
  return guarded_work([&] { return finish_capture(stream, graph); });
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
WW_HIP_EXPORT int hipStreamAddCallback(void* stream, StreamCallback callback, void* user_data,
                                       unsigned flags) {
  return guarded_work([&]() -> int {
    if (callback == nullptr || flags != 0)
      return is_stream(stream) ? kInvalidValue : kContextIsDestroyed;
    if (const int bad = refuse_in_capture(stream); bad != kSuccess) return bad;
    call_host(stream, [=] { callback(stream, kSuccess, user_data); });
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipLaunchHostFunc(void* stream, HostFunction function, void* user_data) {
  return guarded_work([&]() -> int {
    if (!is_stream(stream)) return kContextIsDestroyed;
    auto work = host_work(function, user_data);
    return work ? submit(stream, NodeKind::host, std::move(work->run), std::move(work->parameters))
                : work.error();
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

}  // namespace ww::sim::icd::hip
