#include "testing/fake_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <string>

#include "ww/core/energy_tick.hpp"
#include "ww/measure/health.hpp"

namespace ww::microbench::testing {
namespace {

constexpr int kEngines = 4;
constexpr int kCus = 11;
constexpr std::uint32_t kMarker = 0x5EC0DE01u;
constexpr double kClockHz = 930e6;
constexpr double kPeakBytesPerNs = 4 * 64 * kClockHz * 1e-9;
constexpr std::int64_t kTickNs = 1'000'000;
// The device whose L2 has two sides. Reductions of 32 lanes at a line queue up at their SM; far
// ones take longer. Energies are those of a board.
constexpr unsigned sms = 8;
constexpr std::uint32_t kSideBits = 1u << 12 | 1u << 14 | 1u << 17;
constexpr double kNearNs = 40, far_ns = 60, wait_ns = 20;
constexpr double kAwakeW = 20;
constexpr double kJoulesPerUpdate = 1024 * 0.4e-12, joules_per_far_update = 1024 * 0.3e-12;
constexpr double kShareOfZeros = 0.6;  // of an update's energy, where all operands are zeros
constexpr double kWaitingW = 8;        // loops that wait and update nothing
// The package. Pages go to the I/O dies in turn.
constexpr unsigned kDies = 8;
constexpr unsigned kIoDies = 4;
constexpr double kNearPageNs = 1200, hop_page_ns = 480, page_wait_ns = 120;
constexpr double kAidIdleW = 10, joules_per_near_bit = 0.5e-12, joules_per_hop_bit = 0.6e-12;
// Parts that are devices of their own. Each and its memory have something of their own.
constexpr double kPartPageNs = 1000, far_page_ns = 4000;
constexpr double kJoulesPerPartBit = 8e-12, joules_per_far_bit = 1.6e-12;

unsigned hops_of(unsigned die, std::uint32_t offset) {
  const unsigned apart = ((offset >> 12) + kIoDies - die / 2) % kIoDies;
  return apart == 3 ? 1 : apart;
}

unsigned side_of_sm(std::size_t sm) {
  return static_cast<unsigned>(sm >> 1 & 1);
}
unsigned side_of_word(std::uint32_t word) {
  return static_cast<unsigned>(std::popcount(4 * word & kSideBits)) & 1;
}

const std::string patched_prefix = "patched ";
// Names binaries whose place begins at bit 10 of the hardware id.
const std::string fours = " by fours";
const std::string fours_define = "#define WW_ENGINE_SHIFT 10";

// Engines in the corners with their CUs in a row, channels in two columns of
// the middle.
std::string made_up_floorplan() {
  std::string text = R"(
name = "fake"
estimated = true
source = "made up for tests"
width_mm = 20.0
height_mm = 20.0
registers_to_l1_mm = 1.0
position_error_95_mm = 0.2
quadrants = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]
)";
  for (int engine = 0; engine < kEngines; ++engine) {
    text += "[[engine]]\ncu = [";
    for (int cu = 0; cu < kCus; ++cu) {
      text += fmt::format("{}[{}.0, {}.5]", cu == 0 ? "" : ", ", engine % 2 == 0 ? 2 : 18,
                          engine < 2 ? cu / 2 : 19 - cu / 2);
    }
    text += "]\n";
  }
  for (int channel = 0; channel < 16; ++channel) {
    text += fmt::format("[[l2]]\nat = [{}.0, {}.0]\nmemory_controller = [{}.0, {}.0]\n",
                        channel % 8 < 4 ? 9 : 11, 2 + channel, channel % 8 < 4 ? 0 : 20,
                        channel % 4 * 6);
  }
  return text;
}

// Time, heat, power and counters.
struct Chip {
  FakeOptions options;
  std::int64_t now_ns{};
  std::int64_t next_tick_ns{};
  std::int64_t ticks{};
  double temperature_c{40};
  double energy_j{};
  double shown_w{50};
  std::uint32_t random{1};
  std::deque<SensorReading> unread;
  double aid_load_w{};  // of the load of a launch
  double aid_energy_j{};
  std::vector<RailReading> unread_rails;
  bool throttled{};  // in one of those
  int part{};        // on which launches run
  struct Done {
    measure::Dispatch dispatch;
    double hits{}, misses{};
  };
  std::vector<Done> dispatches;

  double noise() {
    random = random * 1664525u + 1013904223u;
    return static_cast<double>(random >> 16) / 65536.0 - 0.5;
  }

  void advance(std::int64_t until_ns, double load_w) {
    while (next_tick_ns <= until_ns) {
      const double power = 50 + 0.3 * (temperature_c - 40) + load_w;
      temperature_c += 1e-3 * ((40 + 0.2 * (power - 50) - temperature_c) / 8.0);
      energy_j += power * 1e-3;
      aid_energy_j += (kAidIdleW + (load_w > 0 ? aid_load_w : 0)) * 1e-3;
      shown_w += (power - shown_w) * std::min(1.0, 1e-3 / options.sensor_window_s);
      tick(shown_w + 0.4 * noise());
      next_tick_ns += kTickNs;
    }
    now_ns = std::max(now_ns, until_ns);
  }

  void tick(double shown) {
    SensorReading sample;
    sample.time_ns = next_tick_ns;
    sample.power_uw = std::llround(shown * 1e6);
    sample.energy_ticks = std::llround(energy_j * kTicksPerJoule);
    sample.temperature_mc = static_cast<std::int32_t>(std::floor(temperature_c)) * 1000;
    sample.voltage_uv = 1'168'700;
    sample.clock_khz = 930'000;
    ++ticks;
    const double now_s = static_cast<double>(next_tick_ns) * 1e-9;
    if (options.dies && ticks % 10 == 0) {
      unread_rails.push_back({next_tick_ns, next_tick_ns, "aid_energy", "2^-16 J",
                              std::llround(aid_energy_j * kTicksPerJoule)});
    }
    if (now_s >= options.healthy_s) spoil(sample);
    if (now_s >= options.throttled_from_s && now_s < options.throttled_until_s) throttled = true;
    if (unread.size() < options.sensor_room) unread.push_back(sample);
  }

  void spoil(SensorReading& sample) const {
    switch (options.sensor) {
      case SensorFault::none:
      case SensorFault::not_a_number: return;
      case SensorFault::no_answer:
        sample.power_uw.reset();
        sample.energy_ticks.reset();
        return;
      case SensorFault::gaps:
        if (ticks % 10 < 3) {
          sample.power_uw.reset();
          sample.energy_ticks.reset();
        }
        return;
      case SensorFault::no_counter: sample.energy_ticks.reset(); return;
      case SensorFault::zeros: sample.power_uw = 0; return;
      case SensorFault::negative: sample.power_uw = -1; return;
      case SensorFault::frozen:
        sample.power_uw = 61'000'000;
        sample.energy_ticks = 1;
        return;
      case SensorFault::time_backwards: sample.time_ns = -sample.time_ns; return;
      case SensorFault::energy_backwards: sample.energy_ticks = -ticks; return;
    }
  }

  void launch(const std::string& kernel, double ns, double load_w, double lines) {
    advance(now_ns + 4000, 0);  // overhead
    const std::int64_t start = now_ns;
    advance(now_ns + std::llround(ns), load_w);
    dispatches.push_back(
        {{kernel, start, now_ns}, lines * options.l2_hit_rate, lines * (1 - options.l2_hit_rate)});
  }
};

class FakeBuffer final : public DeviceBuffer {
 public:
  // The host has only the used pages of a large buffer.
  explicit FakeBuffer(std::size_t size, int of_part = 0)
      : part(of_part),
        memory_(static_cast<std::byte*>(std::calloc(size, 1)), std::free),
        bytes(memory_.get(), size) {}
  const int part;  // whose memory it is
  std::size_t size() const override { return bytes.size(); }
  Status write(std::size_t offset, std::span<const std::byte> data) override {
    std::ranges::copy(data, bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    return {};
  }
  Status read(std::size_t offset, std::span<std::byte> data) override {
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), data.size(), data.begin());
    return {};
  }

 private:
  std::unique_ptr<std::byte, decltype(&std::free)> memory_;

 public:
  std::span<std::byte> bytes;
};

class FakeKernel final : public LoadedKernel {
 public:
  FakeKernel(Chip& chip, std::string name, bool patched, bool by_fours)
      : chip_(chip), name_(std::move(name)), patched_(patched), by_fours_(by_fours) {}

  Status set(unsigned index, std::span<const std::byte> value) override {
    std::uint64_t number = 0;
    std::memcpy(&number, value.data(), std::min(value.size(), sizeof number));
    numbers_.at(index) = number;
    return {};
  }
  Status set(unsigned index, const DeviceBuffer& buffer) override {
    buffers_.at(index) = const_cast<FakeBuffer*>(dynamic_cast<const FakeBuffer*>(&buffer));
    return {};
  }

  Status launch(std::size_t groups, std::size_t group_size) override {
    if (chip_.options.fail_at_launch >= 0 &&
        std::cmp_greater_equal(chip_.dispatches.size(), chip_.options.fail_at_launch)) {
      return fail(ErrorCode::device_error, "the device is lost", "fake");
    }
    if (name_ == "l2_stream") {
      stream(groups, group_size);
    } else if (name_ == "l2_sweep") {
      chip_.launch(name_, 500'000, 5, 0);
    } else if (name_ == "register_stream") {
      chip_.launch(name_, static_cast<double>(numbers_[2]) * 1000, 120, 1e4);
    } else if (name_.starts_with("class_")) {
      chip_.launch(name_, static_cast<double>(numbers_[0]) * 1000, 90, 0);
    } else if (name_ == "furnace") {
      chip_.launch(name_, static_cast<double>(numbers_[0]) * 2000, 150, 0);
    } else if (name_ == "contend") {
      chip_.launch(name_, 5'000, 10, 0);
    } else if (name_ == "places") {
      log_places(groups * group_size / 64, group_size / 64);
    } else if (name_ == "probe") {
      probe();
    } else if (name_ == "cross") {
      cross(groups * group_size / 64 / sms);
    } else if (name_ == "fabric_probe") {
      probe_pages();
    } else if (name_ == "fabric_stream") {
      stream_pages();
    } else if (name_ == "part_stream") {
      stream_part();
    } else {
      for (std::size_t i = 0; i < buffers_[0]->bytes.size(); ++i) {
        buffers_[1]->bytes[i] = buffers_[0]->bytes[i] ^ std::byte{0xA5};
      }
      chip_.launch(
          name_, 10'000, 40,
          chip_.options.traffic_factor * 2 * static_cast<double>(buffers_[0]->bytes.size()) / 64);
    }
    return {};
  }

  Result<double> time_launch(std::size_t groups, std::size_t group_size) override {
    WW_TRY(launch(groups, group_size));
    const measure::Dispatch& done = chip_.dispatches.back().dispatch;
    return static_cast<double>(done.end_ns - done.start_ns) * 1e-9;
  }

 private:
  [[nodiscard]] std::uint32_t word(unsigned buffer, std::size_t index) const {
    std::uint32_t value = 0;
    std::memcpy(&value, buffers_[buffer]->bytes.data() + index * sizeof value, sizeof value);
    return value;
  }
  void set_word(unsigned buffer, std::size_t index, std::uint32_t value) {
    std::memcpy(buffers_[buffer]->bytes.data() + index * sizeof value, &value, sizeof value);
  }

  void log_places(std::size_t waves, std::size_t per_group) {
    for (std::size_t wave = 0; wave < waves; ++wave) {
      const auto group = static_cast<std::uint32_t>(wave / per_group);
      set_word(0, wave, patched_ ? group % sms : group ^ kMarker);
    }
    chip_.launch(name_, 10'000, 10, 0);
  }

  // One wavefront of the SM that is asked for times every line.
  void probe() {
    set_word(6, 0, 1);
    for (std::size_t line = 0; line < numbers_[2]; ++line) {
      const bool far = side_of_word(word(1, line)) != side_of_sm(numbers_[5]);
      // No two ways through a chip are equal.
      const std::size_t smear = (line * 7 + numbers_[5] * 5) % 16;
      const auto ticks = static_cast<std::uint32_t>((far ? 430 : 200) + smear);
      set_word(7, line, ticks * static_cast<std::uint32_t>(numbers_[3]));
    }
    chip_.launch(name_, 100'000, 10, 0);
  }

  // One wavefront of a die times the first word of every page. The die's L2 answers for few.
  void probe_pages() {
    const auto die = static_cast<unsigned>(numbers_[3]);
    if (die >= kDies) return;
    set_word(4, 0, 1);
    set_word(4, 1, die + 1);
    constexpr std::size_t kHeldLines = 128;
    const bool held = numbers_[2] <= kHeldLines;
    for (std::size_t page = 0; page < numbers_[2]; ++page) {
      const std::uint32_t ticks = held ? 200 : 600 + 259 * hops_of(die, word(1, page));
      set_word(5, page, ticks + static_cast<std::uint32_t>(page % 7));
    }
    chip_.launch(name_, 100'000, 10, 0);
  }

  void stream_pages() {
    const auto pages = static_cast<std::size_t>(numbers_[2]);
    double aid_j = 0;
    double ns = 0;
    for (unsigned die = 0; die < kDies; ++die) {
      const auto list = static_cast<std::size_t>(numbers_[3] >> (8 * die) & 255);
      if (list == 0) continue;
      if (numbers_[10] != 0) set_word(9, die, static_cast<std::uint32_t>(numbers_[8]));
      const unsigned hops = hops_of(die, word(1, (list - 1) * pages));
      const double page_ns = (numbers_[6] == 0 ? 20 : kNearPageNs + hop_page_ns * hops) +
                             page_wait_ns * static_cast<double>(numbers_[5]);
      const double read = static_cast<double>(pages) * static_cast<double>(numbers_[4]);
      ns = std::max(ns, page_ns * read / static_cast<double>(numbers_[8]));
      if (numbers_[6] == 0) continue;
      aid_j += 8 * 4096 * read * (joules_per_near_bit + joules_per_hop_bit * hops);
    }
    chip_.aid_load_w = aid_j / (ns * 1e-9);
    chip_.launch(name_, ns, 20 + chip_.aid_load_w, 0);
    chip_.aid_load_w = 0;
  }

  void stream_part() {
    const int home = buffers_[0]->part;
    const bool reads = numbers_[5] != 0;
    const double pages = static_cast<double>(numbers_[1]) * static_cast<double>(numbers_[3]);
    const double page_ns = (!reads               ? 20
                            : home == chip_.part ? kPartPageNs
                                                 : far_page_ns) +
                           page_wait_ns * static_cast<double>(numbers_[4]);
    const double ns = page_ns * pages / static_cast<double>(numbers_[2]);
    double bit_j = kJoulesPerPartBit * (1 + 0.1 * chip_.part + 0.05 * home);
    if (home != chip_.part) bit_j += joules_per_far_bit;
    const double joules = reads ? 8 * 4096 * pages * bit_j : 0;
    chip_.launch(name_, ns, 20 + joules / (ns * 1e-9), 0);
  }

  void cross(std::size_t waves_per_sm) {
    const auto loops = static_cast<std::uint32_t>(numbers_[3]);
    const bool empty = numbers_[2] == 0;
    double working = 0;
    bool far = false;
    for (std::size_t sm = 0; sm < sms; ++sm) {
      if ((word(6, 0) >> sm & 1) == 0) continue;
      working += static_cast<double>(waves_per_sm);
      far = !empty && side_of_word(word(1, 0)) != side_of_sm(sm);
      set_word(7, sm, word(7, sm) + loops * static_cast<std::uint32_t>(waves_per_sm));
    }
    const double queue_ns =
        empty ? kNearNs : (far ? far_ns : kNearNs) * static_cast<double>(waves_per_sm);
    const double ns = loops * (queue_ns + wait_ns * static_cast<double>(numbers_[5]));
    const double joules = working * loops * (kJoulesPerUpdate + (far ? joules_per_far_update : 0)) *
                          (numbers_[4] == 0 ? kShareOfZeros : 1);
    chip_.launch(name_, ns, empty ? kAwakeW + kWaitingW : kAwakeW + joules / (ns * 1e-9), 0);
  }

  void stream(std::size_t groups, std::size_t group_size) {
    const std::size_t per_group = group_size / 64;
    const auto loops = static_cast<double>(numbers_[2]);
    const auto throttle = static_cast<double>(numbers_[3]);
    std::size_t working = 0;
    for (std::size_t wave = 0; wave < groups * per_group; ++wave) {
      const std::size_t group = wave / per_group;
      const auto engine = static_cast<std::uint32_t>(group % kEngines);
      const auto cu = static_cast<std::uint32_t>(group / kEngines) %
                      static_cast<std::uint32_t>(kCus - chip_.options.idle_cus);
      const std::uint32_t id =
          patched_ ? (engine << 13 | cu << 8 | static_cast<std::uint32_t>(wave % 4) << 4)
                   : (static_cast<std::uint32_t>(group) ^ kMarker);
      const std::uint32_t place = by_fours_ ? (id >> 10) & 0x1F : (id >> 13) & 3;
      if (place == numbers_[4]) ++working;
      if (chip_.options.unanswering_waves && wave % 2 == 0) continue;
      std::memcpy(buffers_[5]->bytes.data() + (numbers_[6] + wave) * sizeof id, &id, sizeof id);
    }
    const double bytes = static_cast<double>(working) * loops * 4 * 1024;
    const double saturated = bytes / (kPeakBytesPerNs * chip_.options.bandwidth_share);
    const double waiting = loops * (500 + 300 * throttle);
    const double ns = std::max(saturated, waiting);
    chip_.launch("l2_stream", ns, 40 * saturated / ns, chip_.options.traffic_factor * bytes / 64);
  }

  Chip& chip_;
  std::string name_;
  bool patched_;
  bool by_fours_;  // places are groups of four CUs
  static constexpr std::size_t kMaxArguments = 12;
  std::array<std::uint64_t, kMaxArguments> numbers_{};
  std::array<FakeBuffer*, kMaxArguments> buffers_{};
};

class FakeHost final : public ComputeHost {
 public:
  explicit FakeHost(std::shared_ptr<Chip> chip) : chip_(std::move(chip)) {}
  std::string device_name() const override { return "fake"; }
  std::string driver_version() const override { return "1"; }
  int parts() const override { return chip_->options.parts; }
  Status use_part(int part) override {
    chip_->part = part;
    return {};
  }
  HostFacts facts() const override {
    HostFacts facts = ComputeHost::facts();
    if (chip_->options.two_sides) facts.compute_units = sms;
    if (chip_->options.parts > 1) facts.compute_units = kEngines * kCus;
    return facts;
  }
  Result<std::unique_ptr<DeviceBuffer>> create_buffer(std::size_t bytes) override {
    return std::make_unique<FakeBuffer>(bytes, chip_->part);
  }
  Result<std::vector<std::byte>> build(const std::string& text, const std::string& name) override {
    const std::string binary = text.find(fours_define) == std::string::npos ? name : name + fours;
    const auto bytes = std::as_bytes(std::span(binary));
    return std::vector<std::byte>(bytes.begin(), bytes.end());
  }
  Result<std::unique_ptr<LoadedKernel>> load(std::span<const std::byte> binary,
                                             const std::string& kernel) override {
    const std::string text(reinterpret_cast<const char*>(binary.data()), binary.size());
    return std::make_unique<FakeKernel>(*chip_, kernel, text.starts_with(patched_prefix),
                                        text.ends_with(fours));
  }
  Status flush() override { return {}; }
  Status finish() override { return {}; }

 private:
  std::shared_ptr<Chip> chip_;
};

class FakeSensor final : public measure::Sensor {
 public:
  explicit FakeSensor(std::shared_ptr<Chip> chip) : chip_(std::move(chip)) {
    facts_.name = "fake telemetry";
    facts_.stated_period_s = 1e-3;
    facts_.power_resolution_w = 1e-3;
  }
  const measure::SensorFacts& facts() const override { return facts_; }
  std::int64_t now_ns() override { return chip_->now_ns; }
  void sleep_until(std::int64_t time_ns) override {
    constexpr std::int64_t nap_ns = 1'000'000'000;
    take();
    while (chip_->now_ns < time_ns) {
      chip_->advance(std::min(time_ns, chip_->now_ns + nap_ns), 0);
      take();
    }
  }
  Result<std::vector<SensorReading>> new_readings() override {
    if (chip_->options.sensor == SensorFault::not_a_number) {
      WW_TRY(measure::microwatts(std::numeric_limits<double>::quiet_NaN(), facts_.name));
    }
    take();
    std::vector<SensorReading> readings = std::exchange(taken_, {});
    for (SensorReading& reading : readings) reading.poll_ns = chip_->now_ns + 1;
    throttled_ = std::exchange(chip_->throttled, false);
    return readings;
  }
  std::vector<RailReading> new_rails() override { return std::exchange(chip_->unread_rails, {}); }
  std::string throttling() const override { return throttled_ ? "software power cap" : ""; }
  std::vector<DvfsState> dvfs_states() const override { return {{1.1687, kClockHz}}; }
  int dvfs_current() const override { return 0; }
  Status select_dvfs(int) override { return fail(ErrorCode::unsupported, "one state"); }

 private:
  void take() {
    taken_.insert(taken_.end(), chip_->unread.begin(), chip_->unread.end());
    chip_->unread.clear();
  }

  std::shared_ptr<Chip> chip_;
  std::vector<SensorReading> taken_;
  measure::SensorFacts facts_;
  bool throttled_{};
};

class FakeCounters final : public measure::Counters {
 public:
  explicit FakeCounters(std::shared_ptr<Chip> chip) : chip_(std::move(chip)) {}
  std::uint64_t dispatch_count() const override { return chip_->dispatches.size(); }
  Result<measure::Dispatch> dispatch(std::uint64_t id) const override {
    return chip_->dispatches.at(id).dispatch;
  }
  Result<std::map<std::string, double>> sum(std::uint64_t first, std::uint64_t end) const override {
    std::map<std::string, double> total{{"TCC_HIT_sum", 0}, {"TCC_MISS_sum", 0}};
    for (std::uint64_t id = first; id < end; ++id) {
      total["TCC_HIT_sum"] += chip_->dispatches.at(id).hits;
      total["TCC_MISS_sum"] += chip_->dispatches.at(id).misses;
    }
    return total;
  }

 private:
  std::shared_ptr<Chip> chip_;
};

class FakePinning : public Pinning {
 public:
  kernels::PinTarget target() const override { return {}; }
  Result<std::vector<std::byte>> patch(std::span<const std::byte> binary,
                                       const std::string&) const override {
    const auto prefix = std::as_bytes(std::span(patched_prefix));
    std::vector<std::byte> patched(prefix.begin(), prefix.end());
    patched.insert(patched.end(), binary.begin(), binary.end());
    return patched;
  }
  Result<Place> place(std::uint32_t id) const override {
    return Place{static_cast<int>((id >> 13) & 3), static_cast<int>((id >> 8) & 15)};
  }
  std::uint32_t place_mask() const override { return 0x6F00u; }
};

// The hardware id is the SM of a device whose L2 has two sides, or the compute die.
class FakeSmPinning final : public FakePinning {
 public:
  Result<Place> place(std::uint32_t id) const override { return Place{static_cast<int>(id), 0}; }
  std::uint32_t place_mask() const override { return 0xFFu; }
};

}  // namespace

Device make_fake_device(const FakeOptions& options) {
  auto chip = std::make_shared<Chip>();
  chip->options = options;
  Device device;
  device.name = "virtual:w9100";
  device.is_virtual = true;
  device.chip = {"fake", "gfx701", kEngines, kCus, 16, 256, 64, 16 * 1024, 1024 * 1024};
  if (options.two_sides) {
    device.chip = {"fake", "sm_90", static_cast<int>(sms), 1, 0, 0, 0, 0, 4 * 1024 * 1024};
  } else if (options.parts > 1) {
    device.chip = {"fake", "gfx90a", kEngines, kCus, 32, 256, 128, 16 * 1024, 8 * 1024 * 1024};
  } else if (options.dies) {
    device.chip = {"fake", "gfx942", kEngines, kCus, 16, 256, 128, 32 * 1024, 4 * 1024 * 1024};
  } else {
    device.floorplan_toml = made_up_floorplan();
    device.quadrants = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}};
  }
  device.host = std::make_unique<FakeHost>(chip);
  device.sensor = std::make_unique<FakeSensor>(chip);
  device.counters = std::make_unique<FakeCounters>(chip);
  return device;
}

std::unique_ptr<Pinning> make_fake_pinning(const Device& device) {
  if (device.chip.target == "gfx942") return std::make_unique<FakeSmPinning>();
  if (device.chip.target == "sm_90") return std::make_unique<FakeSmPinning>();
  return std::make_unique<FakePinning>();
}

}  // namespace ww::microbench::testing
