// The parts of the test. Each runs in a process of its own, opens the device anew, and fills its
// own fields of an archive.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "ww/microbench/device_request.hpp"
#include "ww/selftest/selftest.hpp"

namespace ww::selftest {

struct Part {
  std::string_view name;
  std::chrono::seconds patience;
  // Whether it can run on a card on which nothing computes ("pci:ADDRESS").
  bool by_sensor_alone;
  void (*fill)(const microbench::DeviceRequest& request, Archive& archive);
  // Takes its fields from what the process gave.
  void (*take)(Archive& into, Archive&& from);
  // Where it failed: the fields say why there is nothing.
  void (*note_absence)(Archive& into, const std::string& why);
};
[[nodiscard]] const std::array<Part, 10>& parts();

// Nobody's name goes into the archive: homes are written as "~".
[[nodiscard]] std::string without_home(std::string text);

}  // namespace ww::selftest
