#include "label_joules.hpp"

#include <chrono>
#include <cmath>
#include <cstdlib>

namespace ww::kokkos {
namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::string environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

void Sum::add(const wirewatt_joules& joules, const char* why) {
  if (std::isnan(joules.value)) {
    ++without;
    reason = why;
    return;
  }
  ++with;
  value += joules.value;
  low += joules.low;
  high += joules.high;
}

void LabelJoules::push_region(const char* name) {
  const std::lock_guard lock(mutex_);
  regions_.emplace_back(name == nullptr ? "" : name);
}

void LabelJoules::pop_region() {
  const std::lock_guard lock(mutex_);
  if (!regions_.empty()) regions_.pop_back();
}

// Not before the first kernel, because the virtual GPU's driver comes with the program's device.
void LabelJoules::open() {
  if (opened_) return;
  opened_ = true;
  if (wirewatt_open(environment("WIREWATT_DEVICE").c_str(), environment("WIREWATT_MODEL").c_str(),
                    &session_) != WIREWATT_OK) {
    trouble_ = wirewatt_error();
    return;
  }
  device_ = wirewatt_device(session_);
  is_virtual_ = device_.starts_with("virtual:");
  if (is_virtual_) return;
  in_stretch_ = wirewatt_begin(session_) == WIREWATT_OK;
  if (!in_stretch_) trouble_ = wirewatt_error();
}

std::uint64_t LabelJoules::begin(const char* label) {
  const std::lock_guard lock(mutex_);
  open();
  std::string name;
  for (const auto& region : regions_) name += region + "/";
  name += label == nullptr ? "" : label;
  Launch launch{std::move(name), 0, false};
  if (session_ != nullptr) {
    if (!is_virtual_) {
      launch.measured = in_stretch_;
    } else if (!in_stretch_) {
      launch.measured = in_stretch_ = wirewatt_begin(session_) == WIREWATT_OK;
      if (!in_stretch_) trouble_ = wirewatt_error();
    }
  }
  launch.start_ns = now_ns();
  running_.emplace(next_, std::move(launch));
  return next_++;
}

void LabelJoules::take(Label& label) {
  in_stretch_ = false;
  wirewatt_reading reading{};
  reading.size = sizeof reading;
  if (wirewatt_end(session_, &reading) != WIREWATT_OK) {
    trouble_ = wirewatt_error();
    return;
  }
  label.seconds += reading.seconds;
  label.device.add(reading.device, wirewatt_reason(session_, -1));
  label.wires.add(reading.interconnect, wirewatt_reason(session_, -2));
  for (int s = 0; s < WIREWATT_SEGMENTS; ++s) {
    label.segments[s].add(reading.segment[s], wirewatt_reason(session_, s));
  }
}

void LabelJoules::end(std::uint64_t launch) {
  const std::int64_t end_ns = now_ns();
  const std::lock_guard lock(mutex_);
  const auto found = running_.find(launch);
  if (found == running_.end()) return;
  const Launch done = std::move(found->second);
  running_.erase(found);
  Label& label = labels_[done.label];
  ++label.launches;
  if (!done.measured) {
    ++label.overlapping;
    return;
  }
  if (is_virtual_) {
    take(label);
    return;
  }
  label.seconds += static_cast<double>(end_ns - done.start_ns) * 1e-9;
  if (wirewatt_add_launch(session_, done.label.c_str(), done.start_ns, end_ns) != WIREWATT_OK) {
    trouble_ = wirewatt_error();
  }
}

void LabelJoules::take_kernels() {
  in_stretch_ = false;
  wirewatt_reading reading{};
  reading.size = sizeof reading;
  if (wirewatt_end(session_, &reading) != WIREWATT_OK) {
    trouble_ = wirewatt_error();
    return;
  }
  for (std::size_t i = 0; i < wirewatt_kernels(session_); ++i) {
    wirewatt_kernel kernel{};
    kernel.size = sizeof kernel;
    if (wirewatt_kernel_at(session_, i, &kernel) != WIREWATT_OK) continue;
    labels_[kernel.name].device.add(kernel.energy, kernel.reason);
  }
  for (auto& [name, label] : labels_) {
    const wirewatt_joules none{WIREWATT_FIGURE_UNAVAILABLE, 0, std::nan(""), std::nan(""),
                               std::nan("")};
    label.wires.add(none, wirewatt_reason(session_, -2));
    for (int s = 0; s < WIREWATT_SEGMENTS; ++s) {
      label.segments[s].add(none, wirewatt_reason(session_, s));
    }
  }
}

void LabelJoules::finish() {
  const std::lock_guard lock(mutex_);
  if (session_ != nullptr && in_stretch_ && !is_virtual_) take_kernels();
}

}  // namespace ww::kokkos
