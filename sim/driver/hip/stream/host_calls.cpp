#include "hip/stream/host_calls.hpp"

#include <algorithm>
#include <utility>

#include "hip/stream/stream_table.hpp"
#include "hip/stream/work.hpp"

namespace ww::sim::driver::hip {
namespace {

// Calls that have not returned.
HostCalls& host_calls() {
  static auto& all = *new HostCalls;
  return all;
}

bool is_running(const HostCall& call) {
  return !call.returned && call.thread != std::this_thread::get_id();
}

// Ends the call when it ends, even by an exception.
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

}  // namespace

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

void wait_for_host_functions(Entry& entry) {
  entry.wait([] { return all_returned(host_calls()); });
}

void wait_for_host_functions(Entry& entry, const void* stream) {
  entry.wait([before = calls_before(stream)] { return all_returned(before); });
}

tl::expected<NodeWork, int> host_work(HostFunction function, void* user_data) {
  if (function == nullptr) return tl::unexpected<int>(kInvalidValue);
  return NodeWork{[=]() -> int {
                    call_host(stream_of_work(), [=] { function(user_data); });
                    return kSuccess;
                  },
                  HostNodeParameters{function, user_data}, nullptr};
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

}  // namespace ww::sim::driver::hip
