// Feeds a watcher beside the program: the newest sensor readings and the counters of every
// dispatch, appended to a file as each ends. Lines of words, the form in docs/files.md.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "ww/sim/gpu/virtual_gpu.hpp"

namespace ww::sim::driver {

class LiveFeed {
 public:
  // Appends to `file`; to none where it is empty. One that cannot be written is reported once on
  // stderr.
  explicit LiveFeed(const std::string& file);
  ~LiveFeed();
  LiveFeed(const LiveFeed&) = delete;
  LiveFeed& operator=(const LiveFeed&) = delete;

  // Appends what is new since the last call; nothing in a process forked from the one that began.
  void append(const gpu::VirtualGpu& gpu);

 private:
  void write(const std::string& text);

  int file_{-1};
  pid_t process_{};
  bool begun_{};
  std::uint64_t next_dispatch_{}, next_sample_{};
  std::vector<double> values_;
  std::vector<ww_vgpu_sample> samples_;
};

}  // namespace ww::sim::driver
