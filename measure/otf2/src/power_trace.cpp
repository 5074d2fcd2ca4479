#include "ww/otf2/power_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>

#include "definitions.hpp"
#include "ww/core/named_file.hpp"

namespace ww::otf2 {
namespace {

constexpr const char* kAnchor = "traces.otf2";  // of Score-P

// The library's messages, which it would else print. They are one list in the whole program.
class Complaints {
 public:
  Complaints() : lock_(mutex()), before_(OTF2_Error_RegisterCallback(&Complaints::note, this)) {}
  ~Complaints() { OTF2_Error_RegisterCallback(before_, nullptr); }
  Complaints(const Complaints&) = delete;
  Complaints& operator=(const Complaints&) = delete;

  // The first one is nearest to the cause.
  [[nodiscard]] std::string first() const { return first_.empty() ? "it gives no reason" : first_; }

 private:
  static std::mutex& mutex() {
    static std::mutex only;
    return only;
  }
  static OTF2_ErrorCode note(void* self, const char* /*file*/, std::uint64_t /*line*/,
                             const char* /*function*/, OTF2_ErrorCode code, const char* format,
                             va_list values) {
    auto& complaints = *static_cast<Complaints*>(self);
    if (!complaints.first_.empty()) return code;
    std::array<char, 512> text{};
    std::vsnprintf(text.data(), text.size(), format, values);
    complaints.first_ = fmt::format("{}: {}", OTF2_Error_GetDescription(code), text.data());
    return code;
  }

  std::lock_guard<std::mutex> lock_;
  std::string first_;
  OTF2_ErrorCallback before_;
};

struct CloseReader {
  void operator()(OTF2_Reader* reader) const { OTF2_Reader_Close(reader); }
};
using Reader = std::unique_ptr<OTF2_Reader, CloseReader>;

struct DeleteCallbacks {
  void operator()(OTF2_GlobalDefReaderCallbacks* it) const {
    OTF2_GlobalDefReaderCallbacks_Delete(it);
  }
  void operator()(OTF2_GlobalEvtReaderCallbacks* it) const {
    OTF2_GlobalEvtReaderCallbacks_Delete(it);
  }
};

// A metric of power or energy as one location recorded it.
struct Stream {
  std::string metric;
  OTF2_LocationRef location{};
  MetricUnit unit;
  bool differences{};  // values are since the one before
  double scale{1};
  double sum{};
  std::vector<measure::PowerPoint> points;  // in watts or in joules
};

struct Events {
  const Definitions& definitions;
  std::map<std::tuple<OTF2_LocationRef, OTF2_MetricRef, std::uint8_t>, Stream> streams;
  std::map<OTF2_MetricRef, std::vector<std::optional<Stream>>> wanted;  // by member, as models
  bool backward{};
};

std::optional<double> number_of(OTF2_Type type, OTF2_MetricValue value) {
  switch (type) {
    case OTF2_TYPE_UINT64: return static_cast<double>(value.unsigned_int);
    case OTF2_TYPE_INT64: return static_cast<double>(value.signed_int);
    case OTF2_TYPE_DOUBLE:
      if (std::isfinite(value.floating_point)) return value.floating_point;
      return {};
    default: return {};
  }
}

OTF2_CallbackCode on_metric(OTF2_LocationRef location, OTF2_TimeStamp time, void* user,
                            OTF2_AttributeList* /*attributes*/, OTF2_MetricRef metric,
                            std::uint8_t count, const OTF2_Type* types,
                            const OTF2_MetricValue* values) {
  auto& events = *static_cast<Events*>(user);
  const auto models = events.wanted.find(metric);
  if (models == events.wanted.end()) return OTF2_CALLBACK_SUCCESS;
  const Clock& clock = *events.definitions.clock;
  const double time_s = (time >= clock.start ? static_cast<double>(time - clock.start)
                                             : -static_cast<double>(clock.start - time)) /
                        static_cast<double>(clock.ticks_per_s);
  for (std::uint8_t i = 0; i < count && i < models->second.size(); ++i) {
    const auto& model = models->second[i];
    const auto value = number_of(types[i], values[i]);
    if (!model || !value) continue;
    auto& stream = events.streams.try_emplace({location, metric, i}, *model).first->second;
    stream.location = location;
    if (!stream.points.empty() && time_s < stream.points.back().time_s) {
      events.backward = true;
      return OTF2_CALLBACK_INTERRUPT;
    }
    const double shown = *value * stream.scale * stream.unit.to_base;
    stream.sum += shown;
    stream.points.push_back({time_s, stream.differences ? stream.sum : shown});
  }
  return OTF2_CALLBACK_SUCCESS;
}

Status read_definitions(OTF2_Reader* reader, Definitions& definitions, const Complaints& complaints,
                        const std::string& path) {
  const auto bad = [&] {
    return fail(ErrorCode::parse_error,
                "the trace's definitions cannot be read (" + complaints.first() + ")", path);
  };
  const std::unique_ptr<OTF2_GlobalDefReaderCallbacks, DeleteCallbacks> callbacks(
      OTF2_GlobalDefReaderCallbacks_New());
  OTF2_GlobalDefReader* source = OTF2_Reader_GetGlobalDefReader(reader);
  std::uint64_t read = 0, expected = 0;
  if (source == nullptr || callbacks == nullptr ||
      set_definition_callbacks(callbacks.get()) != OTF2_SUCCESS ||
      OTF2_Reader_RegisterGlobalDefCallbacks(reader, source, callbacks.get(), &definitions) !=
          OTF2_SUCCESS ||
      OTF2_Reader_GetNumberOfGlobalDefinitions(reader, &expected) != OTF2_SUCCESS ||
      OTF2_Reader_ReadAllGlobalDefinitions(reader, source, &read) != OTF2_SUCCESS) {
    return bad();
  }
  OTF2_Reader_CloseGlobalDefReader(reader, source);
  if (read < expected) {
    return fail(
        ErrorCode::parse_error,
        fmt::format("the trace is cut short: {} of {} definitions are there", read, expected),
        path);
  }
  if (!definitions.clock || definitions.clock->ticks_per_s == 0) {
    return fail(ErrorCode::bad_data,
                "the trace does not say how long a tick of its clock is (no clock properties), so "
                "that its readings have no times",
                path);
  }
  return {};
}

// The metrics of power and energy, as streams without points.
void choose_metrics(Events& events, std::vector<std::string>& gaps) {
  const Definitions& definitions = events.definitions;
  const auto choose = [&](OTF2_MetricRef metric) {
    const auto* members = definitions.members_of(metric);
    if (members == nullptr) return;
    std::vector<std::optional<Stream>> models;
    bool any = false;
    for (const OTF2_MetricMemberRef reference : *members) {
      models.emplace_back();
      const auto found = definitions.members.find(reference);
      if (found == definitions.members.end()) continue;
      const Member& member = found->second;
      const std::string name = definitions.text(member.name);
      const std::string unit = definitions.text(member.unit);
      const auto measured = metric_unit(name, unit);
      const bool differences = (member.mode & OTF2_METRIC_VALUE_MASK) == OTF2_METRIC_VALUE_RELATIVE;
      std::string gap;
      if (!measured && sounds_like_power(name)) {
        gap = fmt::format("{} is left out: its unit '{}' is not known", name, unit);
      } else if (measured && measured->is_power && differences) {
        gap = fmt::format("{} is left out: it has differences of power, not power", name);
      }
      if (!gap.empty() && std::ranges::find(gaps, gap) == gaps.end()) gaps.push_back(gap);
      if (!measured || !gap.empty()) continue;
      models.back() = Stream{name, 0, *measured, differences, member.scale, 0, {}};
      any = true;
    }
    if (any) events.wanted.emplace(metric, std::move(models));
  };
  for (const auto& [metric, members] : definitions.classes) choose(metric);
  for (const auto& [metric, instance] : definitions.instances) choose(metric);
}

// The locations that may hold a wanted metric: the recorders of instances, else all.
std::set<OTF2_LocationRef> recorders(const Events& events) {
  const Definitions& definitions = events.definitions;
  std::set<OTF2_LocationRef> found;
  std::set<OTF2_MetricRef> instanced;
  for (const auto& [metric, instance] : definitions.instances) {
    instanced.insert(instance.of_class);
    if (events.wanted.contains(metric)) found.insert(instance.recorder);
  }
  for (const auto& [metric, models] : events.wanted) {
    if (definitions.instances.contains(metric) || instanced.contains(metric)) continue;
    for (const auto& [location, what] : definitions.locations) found.insert(location);
    break;
  }
  return found;
}

Status read_events(OTF2_Reader* reader, Events& events, const Complaints& complaints,
                   const std::string& path) {
  const auto bad = [&] {
    return fail(ErrorCode::parse_error,
                "the trace's events cannot be read: it is cut short or damaged (" +
                    complaints.first() + ")",
                path);
  };
  const auto locations = recorders(events);
  for (const OTF2_LocationRef location : locations) {
    if (OTF2_Reader_SelectLocation(reader, location) != OTF2_SUCCESS) return bad();
  }
  // Definitions of a location are numbers of its own for what the whole trace defines.
  const bool numbered = OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS;
  if (OTF2_Reader_OpenEvtFiles(reader) != OTF2_SUCCESS) return bad();
  for (const OTF2_LocationRef location : locations) {
    std::uint64_t read = 0;
    if (OTF2_DefReader* numbers = numbered ? OTF2_Reader_GetDefReader(reader, location) : nullptr) {
      if (OTF2_Reader_ReadAllLocalDefinitions(reader, numbers, &read) != OTF2_SUCCESS) return bad();
      OTF2_Reader_CloseDefReader(reader, numbers);
    }
    if (OTF2_Reader_GetEvtReader(reader, location) == nullptr) return bad();
  }
  if (numbered) OTF2_Reader_CloseDefFiles(reader);
  const std::unique_ptr<OTF2_GlobalEvtReaderCallbacks, DeleteCallbacks> callbacks(
      OTF2_GlobalEvtReaderCallbacks_New());
  OTF2_GlobalEvtReader* source = OTF2_Reader_GetGlobalEvtReader(reader);
  std::uint64_t read = 0;
  if (source == nullptr || callbacks == nullptr ||
      OTF2_GlobalEvtReaderCallbacks_SetMetricCallback(callbacks.get(), on_metric) != OTF2_SUCCESS ||
      OTF2_Reader_RegisterGlobalEvtCallbacks(reader, source, callbacks.get(), &events) !=
          OTF2_SUCCESS) {
    return bad();
  }
  const OTF2_ErrorCode done = OTF2_Reader_ReadAllGlobalEvents(reader, source, &read);
  if (events.backward) return fail(ErrorCode::bad_data, "time runs backwards", path);
  if (done != OTF2_SUCCESS) return bad();
  // The library takes the end of a file that is cut for that of its events.
  std::uint64_t expected = 0;
  for (const OTF2_LocationRef location : locations) {
    const auto found = events.definitions.locations.find(location);
    if (found != events.definitions.locations.end()) expected += found->second.events;
  }
  if (read < expected) {
    return fail(ErrorCode::parse_error,
                fmt::format("the trace is cut short: {} of {} events are there", read, expected),
                path);
  }
  OTF2_Reader_CloseGlobalEvtReader(reader, source);
  OTF2_Reader_CloseEvtFiles(reader);
  return {};
}

measure::SensorRecording recording_of(Events& events) {
  std::map<std::string, std::size_t> times;
  for (const auto& [key, stream] : events.streams) ++times[stream.metric];
  measure::SensorRecording recording;
  for (auto& [key, stream] : events.streams) {
    std::string name = stream.metric;
    if (times[name] > 1) {
      const auto location = events.definitions.locations.find(stream.location);
      if (location != events.definitions.locations.end()) {
        const auto process = events.definitions.groups.find(location->second.group);
        name = fmt::format("{} ({})", name,
                           process == events.definitions.groups.end()
                               ? fmt::format("location {}", stream.location)
                               : events.definitions.text(process->second));
      }
    }
    if (stream.unit.is_power) {
      recording.columns.push_back({std::move(name), std::move(stream.points)});
      continue;
    }
    measure::EnergyColumn counter{std::move(name), {}};
    for (const auto& point : stream.points) counter.polls.push_back({point.time_s, point.power_w});
    recording.counters.push_back(std::move(counter));
  }
  return recording;
}

std::int64_t start_ns(const Clock& clock) {
  constexpr std::uint64_t kNs = 1'000'000'000;
  return static_cast<std::int64_t>(static_cast<unsigned __int128>(clock.start) * kNs /
                                   clock.ticks_per_s);
}

}  // namespace

bool is_trace(const std::string& path) {
  const std::filesystem::path file(path);
  std::error_code ignored;
  return file.extension() == ".otf2" || std::filesystem::exists(file / kAnchor, ignored);
}

Result<PowerTrace> read_power_trace(const std::string& path) {
  WW_ASSIGN(anchor, named_file(path, kAnchor, "give a trace of Score-P, or its folder"));
  const Complaints complaints;
  const Reader reader(OTF2_Reader_Open(anchor.c_str()));
  if (reader == nullptr) {
    return fail(
        ErrorCode::parse_error,
        "this is not the anchor file of a trace (OTF2) or is damaged (" + complaints.first() + ")",
        anchor);
  }
  OTF2_Reader_SetSerialCollectiveCallbacks(reader.get());
  Definitions definitions;
  WW_TRY(read_definitions(reader.get(), definitions, complaints, anchor));
  PowerTrace trace;
  Events events{definitions, {}, {}, false};
  choose_metrics(events, trace.gaps);
  if (!events.wanted.empty()) WW_TRY(read_events(reader.get(), events, complaints, anchor));
  if (events.streams.empty()) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("the trace has no readings of power or energy among its {} metrics{}; record "
                    "them with a metric plugin of Score-P (rocm_smi, nvml, x86_energy, craypm)",
                    definitions.members.size(), trace.gaps.empty() ? "" : ": " + trace.gaps[0]),
        anchor);
  }
  trace.recording = recording_of(events);
  trace.ticks_per_s = static_cast<double>(definitions.clock->ticks_per_s);
  trace.start_ns = start_ns(*definitions.clock);
  return trace;
}

}  // namespace ww::otf2
