#include "device/launch_log.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace ww::microbench {
namespace {

constexpr std::size_t remembered = std::size_t{1} << 16;

class Log {
 public:
  explicit Log(measure::Sensor& clock) : clock_(clock), entries_(remembered) {}
  void queued() {
    entries_[count_ % remembered] = {clock_.now_ns(), 0};
    ++count_;
  }
  void drained() {
    const std::int64_t now = clock_.now_ns();
    if (count_ - open_ > remembered) open_ = count_ - remembered;
    for (; open_ < count_; ++open_) entries_[open_ % remembered].end_ns = now;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] Result<measure::Dispatch> at(std::uint64_t id) const {
    if (id >= count_ || id + remembered < count_) {
      return fail(ErrorCode::not_found,
                  fmt::format("launch {} of {} is not remembered", id, count_));
    }
    const Entry& entry = entries_[id % remembered];
    return measure::Dispatch{{}, entry.start_ns, entry.end_ns};
  }

 private:
  struct Entry {
    std::int64_t start_ns{}, end_ns{};
  };
  measure::Sensor& clock_;
  std::vector<Entry> entries_;
  std::uint64_t count_{};
  std::uint64_t open_{};  // the first launch whose end is not known
};
using Shared = std::shared_ptr<Log>;

class LoggedKernel final : public LoadedKernel {
 public:
  LoggedKernel(Shared log, std::unique_ptr<LoadedKernel> kernel)
      : log_(std::move(log)), kernel_(std::move(kernel)) {}
  using LoadedKernel::set;
  Status set(unsigned index, std::span<const std::byte> value) override {
    return kernel_->set(index, value);
  }
  Status set(unsigned index, const DeviceBuffer& buffer) override {
    return kernel_->set(index, buffer);
  }
  Status launch(std::size_t groups, std::size_t group_size) override {
    log_->queued();
    return kernel_->launch(groups, group_size);
  }
  Result<double> time_launch(std::size_t groups, std::size_t group_size) override {
    log_->queued();
    auto seconds = kernel_->time_launch(groups, group_size);
    log_->drained();
    return seconds;
  }
  Status launch_grid(const std::array<std::size_t, 3>& global,
                     const std::array<std::size_t, 3>& local) override {
    log_->queued();
    return kernel_->launch_grid(global, local);
  }

 private:
  Shared log_;
  std::unique_ptr<LoadedKernel> kernel_;
};

class LoggingHost final : public ComputeHost {
 public:
  LoggingHost(Shared log, std::unique_ptr<ComputeHost> host)
      : log_(std::move(log)), host_(std::move(host)) {}
  std::string device_name() const override { return host_->device_name(); }
  std::string driver_version() const override { return host_->driver_version(); }
  HostFacts facts() const override { return host_->facts(); }
  int parts() const override { return host_->parts(); }
  Status use_part(int part) override {
    WW_TRY(host_->use_part(part));
    log_->drained();  // it has waited for the part that was used
    return {};
  }
  Result<std::unique_ptr<DeviceBuffer>> create_buffer(std::size_t bytes) override {
    return host_->create_buffer(bytes);
  }
  Result<std::vector<std::byte>> build(const std::string& text, const std::string& name) override {
    return host_->build(text, name);
  }
  Result<std::unique_ptr<LoadedKernel>> load(std::span<const std::byte> binary,
                                             const std::string& kernel) override {
    WW_ASSIGN(loaded, host_->load(binary, kernel));
    return std::make_unique<LoggedKernel>(log_, std::move(loaded));
  }
  Status flush() override { return host_->flush(); }
  Status finish() override {
    WW_TRY(host_->finish());
    log_->drained();
    return {};
  }

 private:
  Shared log_;
  std::unique_ptr<ComputeHost> host_;
};

class LaunchCounters final : public measure::Counters {
 public:
  explicit LaunchCounters(Shared log) : log_(std::move(log)) {}
  std::uint64_t dispatch_count() const override { return log_->count(); }
  Result<measure::Dispatch> dispatch(std::uint64_t id) const override { return log_->at(id); }
  Result<std::map<std::string, double>> sum(std::uint64_t, std::uint64_t) const override {
    return std::map<std::string, double>{};
  }

 private:
  Shared log_;
};

}  // namespace

LoggedHost log_launches(std::unique_ptr<ComputeHost> host, measure::Sensor& clock) {
  auto log = std::make_shared<Log>(clock);
  return {std::make_unique<LoggingHost>(log, std::move(host)),
          std::make_unique<LaunchCounters>(log)};
}

void attach_logged(Device& device, std::unique_ptr<measure::Sensor> sensor,
                   std::unique_ptr<ComputeHost> host) {
  device.sensor = std::move(sensor);
  LoggedHost logged = log_launches(std::move(host), *device.sensor);
  device.host = std::move(logged.host);
  device.counters = std::move(logged.launches);
}

}  // namespace ww::microbench
