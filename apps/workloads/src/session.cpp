#include "session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "embedded.hpp"
#include "ww/binpatch/code_object.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/measure/counter_map.hpp"

namespace ww::workloads {
namespace {

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
// CPU time of all threads of the process.
double cpu_seconds() {
  return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}
double wall_seconds() {
  return seconds_of(CLOCK_MONOTONIC);
}

}  // namespace

Session::Session(microbench::ComputeDevice& device, Input input, std::uint64_t seed,
                 bool time_launches)
    : random(seed),
      device_(device),
      input_(input),
      time_launches_(time_launches),
      first_dispatch_(device.counters ? device.counters->dispatch_count() : 0),
      changed_before_(changed_replies()) {}

Session::~Session() {
  // Queued launches may still use what is about to go; an error here was reported by finish().
  static_cast<void>(device_.host->finish());
}

void Session::keep(const Status& status) {
  if (status || failed_) return;
  failed_ = true;
  error_ = status.error();
}

void Session::wrong(std::string reason) {
  if (!failed_ && wrong_.empty()) wrong_ = std::move(reason);
}

void Session::build(std::string_view file, const std::string& defines) {
  if (failed_) return;
  const std::string_view text = embedded_text(file);
  if (text.empty()) {
    return keep(fail(ErrorCode::not_found, fmt::format("no OpenCL source {}", file)));
  }
  auto binary = device_.host->build(defines + std::string(text), std::string(file));
  if (!binary) return keep(tl::unexpected(binary.error()));
  binary_ = std::move(*binary);
  wave_size_ = 64;
  barriers_empty_l1_ = false;
  const auto object = binpatch::CodeObject::parse(binary_);
  if (object && !object->kernels().empty()) {
    wave_size_ = object->kernels().front().wavefront_size;
    barriers_empty_l1_ = object->target().major >= 10;
  }
  kernels_.clear();
}

Buffer Session::create(std::size_t bytes) {
  if (failed_) return {0, bytes};
  auto buffer = device_.host->create_buffer(bytes);
  if (!buffer) {
    keep(tl::unexpected(buffer.error()));
    return {0, bytes};
  }
  buffers_.push_back(std::move(*buffer));
  return {buffers_.size() - 1, bytes};
}

void Session::write(Buffer buffer, std::span<const std::byte> data) {
  if (!failed_) keep(buffers_[buffer.index]->write(0, data));
}

void Session::read(Buffer buffer, std::span<std::byte> data) {
  if (!failed_) keep(buffers_[buffer.index]->read(0, data));
}

void Session::approximable(Buffer buffer, microbench::ApproximableType type) {
  constexpr float as_the_run_chooses = -1;
  if (!failed_) keep(buffers_[buffer.index]->set_approximable(type, as_the_run_chooses));
}

void Session::output(const char* what, const char* type, std::span<const std::byte> data,
                     std::size_t count) {
  if (outputs_.empty() || failed_) return;
  const std::string stem = fmt::format("{}.{}", name_, output_count_++);
  const nlohmann::json header{{"workload", name_},
                              {"what", what},
                              {"type", type},
                              {"count", count},
                              {"size", size_name_},
                              {"device", device_.name},
                              {"virtual", device_.is_virtual},
                              {"file", stem + ".raw"}};
  const std::string_view bytes(reinterpret_cast<const char*>(data.data()), data.size());
  keep(write_file_atomically(outputs_ / (stem + ".raw"), bytes));
  keep(write_file_atomically(outputs_ / (stem + ".json"), header.dump(2) + "\n"));
}

// Read replies that a network has delivered with other bytes than memory held, so far.
std::uint64_t Session::changed_replies() const {
  const char* const report = device_.timing_report ? device_.timing_report() : nullptr;
  if (report == nullptr) return 0;
  return nlohmann::json::parse(report)["total"]["changed_replies"].get<std::uint64_t>();
}

// Coherent L1s keep lines from launch to launch and stores in them: less crosses than a workload
// states for L1s that every launch begins without.
bool Session::l1s_are_coherent() const {
  const char* const report = device_.timing_report ? device_.timing_report() : nullptr;
  if (report == nullptr) return false;
  const auto settings = nlohmann::json::parse(report)["settings"].get<std::string>();
  return settings.find("l1_policy = \"coherent\"") != std::string::npos;
}

std::string Session::difference_text() const {
  std::string text;
  for (const auto& [what, difference, elements] : differences_) {
    if (difference.differ == 0) continue;
    const std::size_t summed = elements - difference.from_zero;
    text +=
        fmt::format("{}{}: {} of {} differ, mean relative error {:.4g}%", text.empty() ? "" : "; ",
                    what, difference.differ, elements,
                    summed == 0 ? 0.0 : 100 * difference.relative / static_cast<double>(summed));
    if (difference.from_zero != 0) {
      text += fmt::format(" ({} that should be 0 apart)", difference.from_zero);
    }
  }
  return text;
}

void Session::launch_list(const char* kernel, Range global, Range local,
                          std::span<const Argument> args) {
  if (failed_) return;
  if (interrupted()) return keep(fail(ErrorCode::cancelled, "interrupted"));
  auto& loaded = kernels_[kernel];
  if (!loaded) {
    auto created = device_.host->load(binary_, kernel);
    if (!created) return keep(tl::unexpected(created.error()));
    loaded = std::move(*created);
  }
  for (unsigned i = 0; i < args.size() && !failed_; ++i) {
    keep(args[i].buffer != nullptr ? loaded->set(i, *buffers_[args[i].buffer->index])
                                   : loaded->set(i, args[i].bytes));
  }
  if (failed_) return;
  if (time_launches_) keep(device_.host->finish());
  const double begin = time_launches_ ? cpu_seconds() : 0;
  const double wall_begin = time_launches_ ? wall_seconds() : 0;
  keep(loaded->launch_grid({global.x, global.y, global.z}, {local.x, local.y, local.z}));
  if (time_launches_) {
    keep(device_.host->finish());
    launch_cpu_seconds_ += cpu_seconds() - begin;
    launch_wall_seconds_ += wall_seconds() - wall_begin;
  }
  ++launches_;
  const std::size_t group = local.x * local.y * local.z;
  const std::size_t groups = global.x * global.y * global.z / group;
  const std::size_t waves_of_group = (group + wave_size_ - 1) / wave_size_;
  waves_ += static_cast<double>(groups * waves_of_group);
}

void Session::require(bool holds, const char* what) {
  if (!holds) wrong(what);
}

void Session::mismatch(const char* what, std::size_t index, double got, double want) {
  wrong(fmt::format("{}[{}] is {:.9g}, expected {:.9g}", what, index, got, want));
}

void Session::mismatch(const char* what, std::size_t got, std::size_t want) {
  wrong(fmt::format("{} has {} elements, expected {}", what, got, want));
}

void Session::check_counters(Report& report) {
  const auto sum = device_.counters->sum(first_dispatch_, device_.counters->dispatch_count());
  if (!sum) return keep(tl::unexpected(sum.error()));
  const auto bytes = measure::l1_l2_requests(*sum);
  if (!bytes) return keep(tl::unexpected(bytes.error()));
  report.read_bytes = bytes->read;
  report.write_bytes = bytes->write;
  report.atomic_bytes = bytes->atomic;
  const auto counted_waves = sum->find("SQ_WAVES");
  if (counted_waves == sum->end()) {
    return keep(fail(ErrorCode::unsupported, "the device has no counter SQ_WAVES"));
  }
  const double waves = counted_waves->second;
  if (waves != waves_) wrong(fmt::format("{} waves ran, expected {}", waves, waves_));
  const bool keeps = l1s_are_coherent();
  const auto within = [&](const char* what, double bytes, const Bounds& bounds) {
    if ((keeps || bytes >= bounds.at_least) && bytes <= bounds.at_most) return;
    wrong(fmt::format("{} {:.0f} B between L1 and L2, stated {:.0f} to {:.0f}", what, bytes,
                      bounds.at_least, bounds.at_most));
  };
  if (!reads_.stated() && !writes_.stated() && !atomics_.stated()) {
    wrong("the workload states no traffic");
  }
  // Traffic that is not stated does not happen. A
  // line of 64 bytes, by which the most is stated,
  // may cost a whole request where those are larger.
  Bounds reads = reads_;
  reads.at_most *= bytes->of_a_read / 64;
  within("reads", report.read_bytes, reads);
  within("writes", report.write_bytes, writes_);
  within("atomics", report.atomic_bytes, atomics_);
}

Report Session::finish(std::string_view name) {
  if (!failed_) keep(device_.host->finish());
  Report report;
  report.name = name;
  report.launches = launches_;
  report.launch_cpu_seconds = launch_cpu_seconds_;
  report.launch_wall_seconds = launch_wall_seconds_;
  if (!failed_ && device_.counters) check_counters(report);
  report.outcome = failed_ ? Outcome::error : !wrong_.empty() ? Outcome::fail : Outcome::pass;
  report.reason = failed_ ? error_.text() : wrong_;
  // The network changed what the loads got, as the program allowed: its results are not judged.
  if (!failed_ && changed_replies() != changed_before_) {
    report.outcome = Outcome::approximate;
    report.reason = difference_text();
  }
  return report;
}

}  // namespace ww::workloads
