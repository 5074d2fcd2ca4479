#include "ww/measure/command_load.hpp"

#include <signal.h>

#include <algorithm>
#include <cmath>

#include "ww/core/interrupt.hpp"
#include "ww/core/process.hpp"

namespace ww::measure {
namespace {

class CommandLoad final : public Load {
 public:
  CommandLoad(std::string command, Sensor& sensor)
      : command_(std::move(command)), sensor_(sensor) {}

  std::string name() const override { return command_; }

  Result<LoadStep> run_for(double seconds) override {
    LoadStep step;
    WW_ASSIGN(process, start());
    step.on_ns = sensor_.now_ns();
    const std::int64_t end_ns = step.on_ns + std::llround(seconds * 1e9);
    constexpr std::int64_t nap_ns = 100'000'000;
    bool ended = false;
    while (!ended && !interrupted() && sensor_.now_ns() < end_ns) {
      sensor_.sleep_until(std::min(end_ns, sensor_.now_ns() + nap_ns));
      ended = process.poll().has_value();
    }
    step.off_ns = sensor_.now_ns();
    if (ended) {
      return fail(ErrorCode::io_error, "the load ended by itself; it must run until it is stopped",
                  command_);
    }
    stop(process);
    if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
    return step;
  }

 private:
  Result<Process> start() {
    ProcessSetup setup;
    setup.out = kNullStream;
    setup.own_group = true;  // so that all it starts ends with it
    auto process = Process::start({"/bin/sh", "-c", command_}, setup);
    if (!process) {
      process.error().context = command_;
    }
    return process;
  }

  void stop(Process& process) {
    process.signal(SIGTERM);
    constexpr std::int64_t patience_ns = 1'000'000'000;
    const std::int64_t until_ns = sensor_.now_ns() + patience_ns;
    while (!process.poll()) {
      if (sensor_.now_ns() > until_ns) process.signal(SIGKILL);
      sensor_.sleep_until(sensor_.now_ns() + 1'000'000);
    }
  }

  std::string command_;
  Sensor& sensor_;
};

}  // namespace

std::unique_ptr<Load> make_command_load(std::string command, Sensor& sensor) {
  return std::make_unique<CommandLoad>(std::move(command), sensor);
}

}  // namespace ww::measure
