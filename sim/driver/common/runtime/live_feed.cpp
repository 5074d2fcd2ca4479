#include "common/runtime/live_feed.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <vector>

#include "common/runtime/runtime.hpp"

namespace ww::sim::driver {
namespace {

const char* feed_name() {
  const char* name = std::getenv("WIREWATT_LIVE");
  return name != nullptr && *name != '\0' ? name : nullptr;
}

class LiveFeed {
 public:
  LiveFeed() {
    const char* name = feed_name();
    if (name == nullptr) return;
    process_ = ::getpid();
    file_ = ::open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0) complain(std::string("WIREWATT_LIVE: ") + name + ": " + std::strerror(errno));
  }

  void append(const gpu::VirtualGpu& gpu) {
    if (file_ < 0 || ::getpid() != process_) return;
    std::string text;
    if (!begun_) {
      const auto& names = gpu.counter_names();
      text = fmt::format("wirewatt-live/1 {}\ncounters {}\n", process_, fmt::join(names, " "));
      values_.resize(names.size());
      begun_ = true;
    }
    const auto out = std::back_inserter(text);
    for (const std::uint64_t count = gpu.dispatch_count(); next_dispatch_ < count;
         ++next_dispatch_) {
      const auto dispatch = gpu.dispatch(next_dispatch_);
      if (!dispatch || !gpu.counters(next_dispatch_, values_)) continue;
      std::string kernel = dispatch->kernel;
      std::ranges::replace(kernel, '\n', ' ');
      fmt::format_to(out, "dispatch {} {} {} {:.17g} {}\n", next_dispatch_, dispatch->start_ns,
                     dispatch->end_ns, fmt::join(values_, " "), kernel);
    }
    while (const auto count = gpu.samples_since(next_sample_, samples_)) {
      next_sample_ = samples_[count - 1].index + 1;
      if (count == samples_.size()) continue;
      for (std::uint64_t i = 0; i < count; ++i) append(samples_[i], out);
    }
    write(text);
  }

 private:
  static void append(const ww_vgpu_sample& sample, std::back_insert_iterator<std::string> out) {
    if ((sample.flags & WW_VGPU_SAMPLE_VALID) == 0) return;
    const bool counted = (sample.flags & WW_VGPU_SAMPLE_NO_ENERGY) == 0;
    fmt::format_to(out, "sample {} {} {} {} {}\n", sample.time_ns, sample.power_uw,
                   counted ? sample.energy_ticks : -1, sample.temperature_mc, sample.clock_khz);
  }

  void write(const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      const auto written = ::write(file_, text.data() + at, text.size() - at);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        complain(std::string("WIREWATT_LIVE: ") + std::strerror(errno) + "; no more is written");
        ::close(file_);
        file_ = -1;
        return;
      }
      at += static_cast<std::size_t>(written);
    }
  }

  int file_{-1};
  pid_t process_{};
  bool begun_{};
  std::uint64_t next_dispatch_{}, next_sample_{};
  std::vector<double> values_;
  std::vector<ww_vgpu_sample> samples_ = std::vector<ww_vgpu_sample>(1024);
};

}  // namespace

bool watched() {
  return feed_name() != nullptr;
}

void feed_watcher(const gpu::VirtualGpu& gpu) {
  static LiveFeed& feed = *new LiveFeed;
  feed.append(gpu);
}

}  // namespace ww::sim::driver
