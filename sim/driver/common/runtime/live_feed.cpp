#include "common/runtime/live_feed.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "common/runtime/runtime.hpp"

namespace ww::sim::driver {
namespace {

constexpr std::size_t kSamples = 1024;  // that are asked for at a time

void append(const ww_vgpu_sample& sample, std::back_insert_iterator<std::string> out) {
  if ((sample.flags & WW_VGPU_SAMPLE_VALID) == 0) return;
  const bool counted = (sample.flags & WW_VGPU_SAMPLE_NO_ENERGY) == 0;
  fmt::format_to(out, "sample {} {} {} {} {}\n", sample.time_ns, sample.power_uw,
                 counted ? sample.energy_ticks : -1, sample.temperature_mc, sample.clock_khz);
}

}  // namespace

LiveFeed::LiveFeed(const std::string& file) {
  if (file.empty()) return;
  process_ = ::getpid();
  file_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) print_line("live feed: " + file + ": " + std::strerror(errno));
}

LiveFeed::~LiveFeed() {
  if (file_ >= 0) ::close(file_);
}

void LiveFeed::append(const gpu::VirtualGpu& gpu) {
  if (file_ < 0 || ::getpid() != process_) return;
  std::string text;
  if (!begun_) {
    const auto& names = gpu.counter_names();
    text = fmt::format("wirewatt-live/1 {}\ncounters {}\n", process_, fmt::join(names, " "));
    values_.resize(names.size());
    begun_ = true;
  }
  const auto out = std::back_inserter(text);
  for (const std::uint64_t count = gpu.dispatch_count(); next_dispatch_ < count; ++next_dispatch_) {
    const auto dispatch = gpu.dispatch(next_dispatch_);
    if (!dispatch || !gpu.counters(next_dispatch_, values_)) continue;
    std::string kernel = dispatch->kernel;
    std::ranges::replace(kernel, '\n', ' ');
    fmt::format_to(out, "dispatch {} {} {} {:.17g} {}\n", next_dispatch_, dispatch->start_ns,
                   dispatch->end_ns, fmt::join(values_, " "), kernel);
  }
  samples_.resize(kSamples);
  while (const auto count = gpu.samples_since(next_sample_, samples_)) {
    next_sample_ = samples_[count - 1].index + 1;
    if (count == samples_.size()) continue;
    for (std::uint64_t i = 0; i < count; ++i) driver::append(samples_[i], out);
  }
  write(text);
}

void LiveFeed::write(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto written = ::write(file_, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      print_line(std::string("live feed: ") + std::strerror(errno) + "; no more is written");
      ::close(file_);
      file_ = -1;
      return;
    }
    at += static_cast<std::size_t>(written);
  }
}

}  // namespace ww::sim::driver
