// The doctor in real time on cards that are faked as files and as a library: a process of its own
// feeds the files, a command is the load. Takes minutes and needs an idle machine, so it is a
// benchmark: ctest --test-dir build/release -L bench -R doctor -V
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "process.hpp"
#include "testing/fake_amd_tree.hpp"
#include "testing/simulated_power.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;
using measure::testing::FakeAmdTree;
using measure::testing::SensorShape;
using measure::testing::SteppedPower;
using nlohmann::json;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Writes what the card's files would show, a millisecond at a time, while it lives.
class Feeder {
 public:
  Feeder(const FakeAmdTree& tree, fs::path load, SensorShape shape, bool frozen_energy)
      : thread_([=, this] {
          SteppedPower power(60);
          const double began = now_s();
          bool loaded = false;
          // Runs as punctually as a driver, where this user may.
          sched_param priority{};
          priority.sched_priority = 20;
          static_cast<void>(pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority));
          while (!stop_) {
            if (fs::exists(load) != loaded) {
              loaded = !loaded;
              power.step(now_s(), loaded ? 130 : 60);
            }
            const double at = now_s();
            tree.set_power(std::llround(measure::testing::shown_power(power, shape, at) * 1e6));
            if (!frozen_energy) {
              tree.set_energy(std::llround(power.energy(began - 1000, at) * 65536));
            }
            std::this_thread::sleep_for(std::chrono::microseconds(500));
          }
        }) {}
  ~Feeder() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

std::string load_command(const fs::path& load) {
  return "trap 'rm -f " + load.string() + "; exit' TERM; touch " + load.string() +
         "; while :; do sleep 1; done";
}

// How unequally long the machine takes to start a program, as the load's edges are made of.
class StartTimes {
 public:
  StartTimes()
      : thread_([this] {
          while (!stop_) {
            const double began = now_s();
            static_cast<void>(run({"sh", "-c", ":"}));
            taken_s_.push_back(now_s() - began);
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
          }
        }) {}
  ~StartTimes() { end(); }
  // Spread from the median to what one start in twenty exceeds [s]. Ends the thread.
  double spread() {
    end();
    std::ranges::sort(taken_s_);
    return taken_s_.at(taken_s_.size() * 19 / 20) - taken_s_.at(taken_s_.size() / 2);
  }

 private:
  void end() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::vector<double> taken_s_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

class DoctorInRealTime : public ::testing::Test {
 protected:
  // The window is found from the time between the load's order and the reading. Where programs
  // start less equally than the window is judged, the machine is to blame.
  void skip_if_busy(double tolerance_s) {
    const double spread = starts_.spread();
    if (spread > tolerance_s) {
      GTEST_SKIP() << "the machine is not idle: programs start " << spread * 1e3
                   << " ms apart, and the window is judged to " << tolerance_s * 1e3 << " ms";
    }
  }

 private:
  StartTimes starts_;
};

json examine(const SensorShape& shape, bool frozen_energy, int expected_exit) {
  const TemporaryFolder folder;
  const FakeAmdTree tree(folder.path() / "sys");
  const auto load = folder.path() / "load";
  const Feeder feeder(tree, load, shape, frozen_energy);
  const auto finished = run({wirewatt(), "doctor", "--json", "--no-clock-control", "--device",
                             "pci:0000:03:00.0", "--load", load_command(load)},
                            {{"WIREWATT_SYSFS", (folder.path() / "sys").string()}});
  EXPECT_EQ(finished.exit_code, expected_exit) << finished.err;
  return finished.json();
}

TEST_F(DoctorInRealTime, AnAveragedMi210) {
  const json report =
      examine({.period_s = 0.003, .window_s = 4.0, .delay_s = 0.19, .noise_w = 0.05}, false, 0);
  skip_if_busy(0.4);
  if (IsSkipped()) return;
  const json& power = report["columns"].at(0);
  EXPECT_EQ(power["verdict"], "limited") << power;
  EXPECT_NEAR(power["window_s"].get<double>(), 4.0, 0.4);
  EXPECT_NEAR(power["period_s"].get<double>(), 0.003, 0.0003);
  EXPECT_NEAR(power["delay_s"].get<double>(), 0.19, 0.05);
  EXPECT_EQ(report["columns"].at(1)["verdict"], "good") << report["columns"];
}

TEST_F(DoctorInRealTime, AFrozenAccumulatorBesideAHealthySensor) {
  const json report = examine({.period_s = 0.010, .window_s = 0.040, .noise_w = 0.3}, true, 1);
  skip_if_busy(0.004);
  if (IsSkipped()) return;
  const json& power = report["columns"].at(0);
  EXPECT_EQ(power["verdict"], "good") << power;
  EXPECT_NEAR(power["window_s"].get<double>(), 0.040, 0.004);
  EXPECT_NEAR(power["period_s"].get<double>(), 0.010, 0.001);
  EXPECT_EQ(report["columns"].at(1)["status"], "frozen");
  EXPECT_EQ(report["columns"].at(1)["verdict"], "bad");
}

TEST_F(DoctorInRealTime, AnH100ThatSeesAQuarterOfTheTime) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "config") << "average 3\n";
  const auto finished = run({wirewatt(), "doctor", "--json", "--no-clock-control", "--device",
                             "pci:0000:c1:00.0", "--load", load_command(folder.path() / "load")},
                            {{"LD_LIBRARY_PATH", (build_folder() / "lib/nvml_stub").string()},
                             {"WW_NVML_STUB", folder.path().string()}});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const json report = finished.json();
  skip_if_busy(0.0025);
  if (IsSkipped()) return;
  const json& power = report["columns"].at(0);
  EXPECT_EQ(power["verdict"], "limited") << power;
  EXPECT_NEAR(power["period_s"].get<double>(), 0.100, 0.001);
  EXPECT_NEAR(power["window_s"].get<double>(), 0.025, 0.0025);
  EXPECT_NEAR(power["seen"].get<double>(), 0.25, 0.03);
}

}  // namespace
}  // namespace ww::e2e
