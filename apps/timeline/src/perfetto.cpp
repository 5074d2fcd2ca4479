#include "perfetto.hpp"

#include <algorithm>

#include "perfetto_trace.pb.h"
#include "ww/core/streamed_file.hpp"

namespace ww::timeline {
namespace {

// All packets are of one sequence: one writer, whose packets are in order.
constexpr std::uint32_t kSequence = 1;
// Nothing before this packet is referred to.
constexpr std::uint32_t kIncrementalStateCleared = 1;

constexpr std::array<const char*, 3> kJoulesOf = {"registers-L1 [J]", "L1-L2 [J]", "L2-memory [J]"};

class PacketFile {
 public:
  explicit PacketFile(StreamedFile file) : file_(std::move(file)) {}

  Status put(wire::TracePacket& packet) {
    packet.set_trusted_packet_sequence_id(kSequence);
    if (first_) packet.set_sequence_flags(kIncrementalStateCleared);
    first_ = false;
    wire::Trace trace;
    trace.add_packet()->Swap(&packet);
    bytes_.clear();
    trace.AppendToString(&bytes_);
    return file_.write(bytes_);
  }

  // Declares a track and gives its number.
  Result<std::uint64_t> process(const std::string& title, std::int32_t pid) {
    wire::TracePacket packet;
    auto& track = *packet.mutable_track_descriptor();
    track.set_uuid(++tracks_);
    track.set_name(title);
    track.mutable_process()->set_pid(pid);
    track.mutable_process()->set_process_name(title);
    WW_TRY(put(packet));
    return tracks_;
  }
  Result<std::uint64_t> row(std::uint64_t process, const std::string& name, bool of_numbers) {
    wire::TracePacket packet;
    auto& track = *packet.mutable_track_descriptor();
    track.set_uuid(++tracks_);
    track.set_parent_uuid(process);
    track.set_name(name);
    if (of_numbers) track.mutable_counter();
    WW_TRY(put(packet));
    return tracks_;
  }

  Status number(std::uint64_t track, std::int64_t time_ns, double value) {
    wire::TracePacket packet;
    packet.set_timestamp(static_cast<std::uint64_t>(time_ns));
    auto& event = *packet.mutable_track_event();
    event.set_type(wire::TrackEvent::TYPE_COUNTER);
    event.set_track_uuid(track);
    event.set_double_counter_value(value);
    return put(packet);
  }
  Status begin(std::uint64_t track, const Stretch& stretch, const std::string& name) {
    wire::TracePacket packet;
    packet.set_timestamp(static_cast<std::uint64_t>(stretch.start_ns));
    auto& event = *packet.mutable_track_event();
    event.set_type(wire::TrackEvent::TYPE_SLICE_BEGIN);
    event.set_track_uuid(track);
    event.set_name(name);
    auto& dispatch = *event.add_debug_annotations();
    dispatch.set_name("dispatch");
    dispatch.set_uint_value(stretch.dispatch);
    for (std::size_t s = 0; s < stretch.energy_j.size(); ++s) {
      if (!stretch.energy_j[s]) continue;
      auto& joules = *event.add_debug_annotations();
      joules.set_name(kJoulesOf[s]);
      joules.set_double_value(stretch.energy_j[s]->value);
    }
    return put(packet);
  }
  Status end(std::uint64_t track, std::int64_t time_ns) {
    wire::TracePacket packet;
    packet.set_timestamp(static_cast<std::uint64_t>(time_ns));
    auto& event = *packet.mutable_track_event();
    event.set_type(wire::TrackEvent::TYPE_SLICE_END);
    event.set_track_uuid(track);
    return put(packet);
  }

  Status keep() { return file_.keep(); }

 private:
  StreamedFile file_;
  std::string bytes_;
  std::uint64_t tracks_{};
  bool first_{true};
};

Status write_kernels(PacketFile& file, std::uint64_t process, const std::vector<Stretch>& by_start,
                     const std::vector<std::string>& kernels) {
  std::vector<Stretch> named;
  std::ranges::copy_if(by_start, std::back_inserter(named),
                       [](const Stretch& stretch) { return stretch.kernel != Stretch::kNoKernel; });
  const auto lanes = lanes_of(named);
  std::vector<std::uint64_t> rows;
  for (std::size_t i = 0; i < named.size(); ++i) {
    // Slices of one track must nest. The viewer draws tracks of one name together.
    if (lanes[i] == rows.size()) {
      WW_ASSIGN(row, file.row(process, "kernels", false));
      rows.push_back(row);
    }
    WW_TRY(file.begin(rows[lanes[i]], named[i], kernels[named[i].kernel]));
    WW_TRY(file.end(rows[lanes[i]], named[i].end_ns));
  }
  return {};
}

Status write_power(PacketFile& file, std::uint64_t process, const std::vector<Stretch>& by_start,
                   const std::string& name, std::size_t segment) {
  struct Bound {
    const char* suffix;
    double model::Interval::*member;
  };
  constexpr std::array<Bound, 3> kBounds{{{" [W]", &model::Interval::value},
                                          {", lower [W]", &model::Interval::low},
                                          {", upper [W]", &model::Interval::high}}};
  const auto steps = power_steps(by_start, segment);
  if (steps.empty()) return {};
  for (const Bound& bound : kBounds) {
    WW_ASSIGN(row, file.row(process, name + bound.suffix, true));
    for (const PowerStep& step : steps) {
      WW_TRY(file.number(row, step.time_ns, step.power_w.*bound.member));
    }
  }
  return {};
}

Status write_readings(PacketFile& file, std::uint64_t process,
                      const std::vector<SensorPoint>& readings) {
  struct Quantity {
    const char* name;
    std::optional<double> SensorPoint::*member;
  };
  constexpr std::array<Quantity, 3> kQuantities{
      {{"device power, by its sensor [W]", &SensorPoint::power_w},
       {"temperature [C]", &SensorPoint::temperature_c},
       {"core clock [MHz]", &SensorPoint::clock_mhz}}};
  for (const Quantity& quantity : kQuantities) {
    std::optional<std::uint64_t> row;
    for (const SensorPoint& reading : readings) {
      const auto& value = reading.*quantity.member;
      if (!value) continue;
      if (!row) {
        WW_ASSIGN(declared, file.row(process, quantity.name, true));
        row = declared;
      }
      WW_TRY(file.number(*row, reading.time_ns, *value));
    }
  }
  return {};
}

}  // namespace

std::vector<PowerStep> power_steps(const std::vector<Stretch>& by_start, std::size_t segment) {
  std::vector<std::int64_t> times;
  for (const Stretch& stretch : by_start) {
    if (!stretch.energy_j[segment]) continue;
    times.push_back(stretch.start_ns);
    times.push_back(stretch.end_ns);
  }
  std::ranges::sort(times);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  std::vector<PowerStep> steps;
  std::vector<const Stretch*> running;
  auto next = by_start.begin();
  for (const std::int64_t time : times) {
    std::erase_if(running, [time](const Stretch* stretch) { return stretch->end_ns <= time; });
    for (; next != by_start.end() && next->start_ns <= time; ++next) {
      if (next->energy_j[segment]) running.push_back(&*next);
    }
    // Summed anew: differences of a running sum would leave a remainder where nothing runs.
    model::Interval power;
    for (const Stretch* stretch : running) {
      const double seconds = static_cast<double>(stretch->end_ns - stretch->start_ns) * 1e-9;
      power = model::together(power, stretch->energy_j[segment]->times(1 / seconds));
    }
    steps.push_back({time, power});
  }
  return steps;
}

std::vector<std::size_t> lanes_of(const std::vector<Stretch>& by_start) {
  std::vector<std::int64_t> free_from;  // of each lane
  std::vector<std::size_t> lanes;
  lanes.reserve(by_start.size());
  for (const Stretch& stretch : by_start) {
    const auto lane = std::ranges::find_if(
        free_from, [&stretch](std::int64_t free) { return free <= stretch.start_ns; });
    lanes.push_back(static_cast<std::size_t>(lane - free_from.begin()));
    if (lane == free_from.end()) {
      free_from.push_back(stretch.end_ns);
    } else {
      *lane = stretch.end_ns;
    }
  }
  return lanes;
}

Status write_trace(const TraceContent& content, const std::filesystem::path& file) {
  WW_ASSIGN(streamed, StreamedFile::create(file));
  PacketFile packets(std::move(streamed));
  std::int32_t number = 0;
  for (const auto& [name, domain] : content.domains) {
    ++number;
    WW_ASSIGN(process, packets.process(content.title, process_number(name, number)));
    auto by_start = domain.stretches;
    std::ranges::stable_sort(by_start, {}, &Stretch::start_ns);
    WW_TRY(write_kernels(packets, process, by_start, content.kernels));
    for (std::size_t s = 0; s < content.tracks.size(); ++s) {
      if (content.tracks[s]) {
        WW_TRY(write_power(packets, process, by_start, *content.tracks[s], s));
      }
    }
    WW_TRY(write_readings(packets, process, domain.readings));
  }
  return packets.keep();
}

}  // namespace ww::timeline
