// The archive as JSON, with columns for what there is much of, and its compression.
#include <fmt/format.h>
#include <zstd.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "ww/core/json_reader.hpp"
#include "ww/selftest/selftest.hpp"

namespace ww::selftest {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "wirewatt selftest";
constexpr std::int64_t kVersion = 1;

// Values that lie close to each other compress well as differences.
template <class T, class Get>
json column(const std::vector<T>& rows, const Get& get) {
  json out = json::array();
  std::int64_t last = 0;
  for (const T& row : rows) {
    const std::optional<std::int64_t> value = get(row);
    if (!value) {
      out.push_back(nullptr);
      continue;
    }
    out.push_back(*value - last);
    last = *value;
  }
  return out;
}

// The values of a column, absent where the file has null. Sums that leave 64 bits are damage.
Result<std::vector<std::optional<std::int64_t>>> values_of(const json& from, const char* key,
                                                           std::size_t rows) {
  const auto broken = [key](const char* what) {
    return fail(ErrorCode::parse_error, fmt::format("the column {} {}", key, what));
  };
  const auto found = from.find(key);
  if (found == from.end() || !found->is_array()) return broken("is missing");
  if (found->size() != rows) return broken("has another number of rows");
  std::vector<std::optional<std::int64_t>> out;
  std::int64_t last = 0;
  for (const json& entry : *found) {
    if (entry.is_null()) {
      out.emplace_back();
      continue;
    }
    if (!entry.is_number_integer()) return broken("has an entry that is no whole number");
    if (__builtin_add_overflow(last, entry.get<std::int64_t>(), &last)) return broken("overflows");
    out.emplace_back(last);
  }
  return out;
}

json to_json(const Recording& recording) {
  const auto& readings = recording.readings;
  json steps = json::array();
  for (const measure::LoadStep& step : recording.steps) steps.push_back({step.on_ns, step.off_ns});
  json rails = json::array();
  for (const RailReading& rail : recording.rails) {
    rails.push_back({rail.poll_ns, rail.source_ns ? json(*rail.source_ns) : json(), rail.rail,
                     rail.unit, rail.value});
  }
  const auto of = [&](auto member) {
    return column(readings, [member](const SensorReading& reading) -> std::optional<std::int64_t> {
      return reading.*member;
    });
  };
  return {{"absent", recording.absent},
          {"rows", readings.size()},
          {"time_ns", of(&SensorReading::time_ns)},
          {"poll_ns", of(&SensorReading::poll_ns)},
          {"power_uw", of(&SensorReading::power_uw)},
          {"energy_ticks", of(&SensorReading::energy_ticks)},
          {"temperature_mc", of(&SensorReading::temperature_mc)},
          {"voltage_uv", of(&SensorReading::voltage_uv)},
          {"clock_khz", of(&SensorReading::clock_khz)},
          {"steps_ns", std::move(steps)},
          {"rails", std::move(rails)},
          {"bytes", recording.bytes}};
}

std::optional<std::int32_t> narrow_value(const std::optional<std::int64_t>& value) {
  if (!value || *value != static_cast<std::int32_t>(*value)) return {};
  return static_cast<std::int32_t>(*value);
}

Status read_rows(const json& from, Recording& into) {
  const auto rows = from.find("rows");
  constexpr std::size_t most = 10'000'000;
  if (rows == from.end() || !rows->is_number_unsigned() || rows->get<std::size_t>() > most) {
    return fail(ErrorCode::parse_error, "a recording has no number of rows");
  }
  const auto count = rows->get<std::size_t>();
  WW_ASSIGN(time, values_of(from, "time_ns", count));
  WW_ASSIGN(poll, values_of(from, "poll_ns", count));
  WW_ASSIGN(power, values_of(from, "power_uw", count));
  WW_ASSIGN(energy, values_of(from, "energy_ticks", count));
  WW_ASSIGN(temperature, values_of(from, "temperature_mc", count));
  WW_ASSIGN(voltage, values_of(from, "voltage_uv", count));
  WW_ASSIGN(clock, values_of(from, "clock_khz", count));
  for (std::size_t i = 0; i < count; ++i) {
    if (!time[i] || !poll[i]) return fail(ErrorCode::parse_error, "a reading without a time");
    SensorReading& reading = into.readings.emplace_back();
    reading.time_ns = *time[i];
    reading.poll_ns = *poll[i];
    reading.power_uw = power[i];
    reading.energy_ticks = energy[i];
    reading.temperature_mc = narrow_value(temperature[i]);
    reading.voltage_uv = narrow_value(voltage[i]);
    reading.clock_khz = narrow_value(clock[i]);
    // Marks readings as the recorder does: the first, and each that differs from the one before.
    const auto values = [](const SensorReading& r) {
      return std::tie(r.power_uw, r.energy_ticks, r.temperature_mc, r.voltage_uv, r.clock_khz);
    };
    reading.changed = i == 0 || values(reading) != values(into.readings[i - 1]);
  }
  return {};
}

Result<Recording> recording_from(const json& from) {
  Recording recording;
  if (!from.is_object()) return fail(ErrorCode::parse_error, "a recording is missing");
  const JsonReader reader(from, "recording");
  reader.read("absent", recording.absent);
  reader.read("bytes", recording.bytes);
  WW_TRY(reader.status());
  WW_TRY(read_rows(from, recording));
  const auto list = [&from](const char* key) {
    const auto found = from.find(key);
    return found != from.end() && found->is_array() ? *found : json::array();
  };
  for (const json& step : list("steps_ns")) {
    if (!step.is_array() || step.size() != 2 || !step[0].is_number_integer() ||
        !step[1].is_number_integer()) {
      return fail(ErrorCode::parse_error, "a step of the load is no pair of times");
    }
    recording.steps.push_back({step[0].get<std::int64_t>(), step[1].get<std::int64_t>()});
  }
  for (const json& rail : list("rails")) {
    const bool whole = rail.is_array() && rail.size() == 5 && rail[0].is_number_integer() &&
                       (rail[1].is_null() || rail[1].is_number_integer()) && rail[2].is_string() &&
                       rail[3].is_string() && rail[4].is_number_integer();
    if (!whole) return fail(ErrorCode::parse_error, "a reading of a rail is incomplete");
    RailReading& into = recording.rails.emplace_back();
    into.poll_ns = rail[0].get<std::int64_t>();
    if (!rail[1].is_null()) into.source_ns = rail[1].get<std::int64_t>();
    into.rail = rail[2].get<std::string>();
    into.unit = rail[3].get<std::string>();
    into.value = rail[4].get<std::int64_t>();
  }
  return recording;
}

json to_json(const std::vector<measure::Finding>& findings) {
  json list = json::array();
  for (const measure::Finding& finding : findings) {
    list.push_back({{"name", finding.capability},
                    {"verdict", static_cast<int>(finding.verdict)},
                    {"detail", finding.detail},
                    {"remedy", finding.remedy}});
  }
  return list;
}

// Raw readings of the probes, times as whole nanoseconds.
json to_json(const microbench::TopologyReadings& readings) {
  const auto& timed = readings.contentions;
  json rows = json::array();  // the places of one repeat after those of another
  for (const auto& table : readings.ticks) {
    for (const auto& row : table) rows.push_back(row);
  }
  using microbench::Contention;
  return {{"contentions", timed.size()},
          {"first", column(timed,
                           [](const Contention& one) -> std::optional<std::int64_t> {
                             return static_cast<std::int64_t>(one.first);
                           })},
          {"second", column(timed,
                            [](const Contention& one) -> std::optional<std::int64_t> {
                              return static_cast<std::int64_t>(one.second);
                            })},
          {"time_ns", column(timed,
                             [](const Contention& one) -> std::optional<std::int64_t> {
                               return std::llround(one.seconds * 1e9);
                             })},
          {"repeats", readings.ticks.size()},
          {"ticks", std::move(rows)}};
}

void put_probes(json& out, const Archive& archive) {
  out["probes"] = to_json(archive.probes);
  out["sleeps"] = {{"absent", archive.no_sleeps}};
  if (archive.sleeps) {
    out["sleeps"]["instruction"] = archive.sleeps->instruction;
    out["sleeps"]["arguments"] = archive.sleeps->arguments;
    out["sleeps"]["ticks"] = archive.sleeps->ticks;
  }
  out["visibility"] = {{"absent", archive.no_visibility}};
  if (const auto& seen = archive.visibility) {
    out["visibility"].update({{"lines", seen->lines},
                              {"rounds", seen->rounds},
                              {"stale", seen->stale},
                              {"stale_plain", seen->stale_plain},
                              {"reader", seen->reader},
                              {"writer", seen->writer}});
  }
}

// Parts that files of earlier versions do not have.
void put_newer(json& out, const Archive& archive) {
  json parts = json::array(), devices = json::array(), files = json::array();
  for (const PartState& part : archive.parts) {
    parts.push_back({{"name", part.name},
                     {"state", part.state},
                     {"reason", part.reason},
                     {"elapsed_s", part.elapsed_s}});
  }
  for (const microbench::DeviceListing& device : archive.devices) {
    devices.push_back({{"name", device.name},
                       {"description", device.description},
                       {"usable", device.usable},
                       {"reason", device.reason}});
  }
  for (const CardFile& file : archive.files) {
    files.push_back({{"name", file.name}, {"text", file.text}});
  }
  out["chosen"] = archive.chosen;
  out["no_device"] = archive.no_device;
  out["parts"] = std::move(parts);
  out["devices"] = std::move(devices);
  out["files"] = std::move(files);
  out["idle"] = to_json(archive.idle);
  out["launches"] = {{"absent", archive.launches.absent},
                     {"waited_s", archive.launches.waited_s},
                     {"by_events_s", archive.launches.by_events_s}};
  if (archive.polls) {
    out["polls"] = {{"read_p50_us", archive.polls->read_p50_us},
                    {"read_p99_us", archive.polls->read_p99_us},
                    {"polls", archive.polls->polls}};
  }
  out["counters"] = to_json(archive.counters);
  put_probes(out, archive);
}

Status read_contentions(const json& from, std::uint32_t count,
                        std::vector<microbench::Contention>& into) {
  WW_ASSIGN(first, values_of(from, "first", count));
  WW_ASSIGN(second, values_of(from, "second", count));
  WW_ASSIGN(time, values_of(from, "time_ns", count));
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!first[i] || !second[i] || !time[i]) {
      return fail(ErrorCode::parse_error, "a contention without an address or a time");
    }
    into.push_back({static_cast<std::uint64_t>(*first[i]), static_cast<std::uint64_t>(*second[i]),
                    static_cast<double>(*time[i]) * 1e-9});
  }
  return {};
}

Status read_probes(const json& from, const JsonReader& reader, Archive& archive) {
  if (const auto probes = reader.optional_object("probes")) {
    std::uint32_t contentions = 0;
    std::uint32_t repeats = 0;
    std::vector<std::vector<double>> rows;
    probes->read("contentions", contentions);
    probes->read("repeats", repeats);
    probes->read("ticks", rows);
    if (repeats == 0 ? !rows.empty() : rows.size() % repeats != 0) {
      probes->refuse("ticks", "does not have as many places in each repeat");
    }
    WW_TRY(reader.status());
    WW_TRY(read_contentions(from["probes"], contentions, archive.probes.contentions));
    const std::size_t places = repeats == 0 ? 0 : rows.size() / repeats;
    for (std::uint32_t i = 0; i < repeats; ++i) {
      const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(i * places);
      archive.probes.ticks.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(places));
    }
  }
  if (const auto sleeps = reader.optional_object("sleeps")) {
    sleeps->read("absent", archive.no_sleeps);
    if (sleeps->has("ticks")) {
      microbench::SleepCurve& curve = archive.sleeps.emplace();
      sleeps->read("instruction", curve.instruction);
      sleeps->read("arguments", curve.arguments);
      sleeps->read("ticks", curve.ticks);
      if (curve.ticks.size() != curve.arguments.size()) {
        sleeps->refuse("ticks", "does not have a row for each argument");
      }
    }
  }
  if (const auto visibility = reader.optional_object("visibility")) {
    visibility->read("absent", archive.no_visibility);
    if (visibility->has("rounds")) {
      microbench::Visibility& seen = archive.visibility.emplace();
      visibility->read("lines", seen.lines);
      visibility->read("rounds", seen.rounds);
      visibility->read("stale", seen.stale);
      visibility->read("stale_plain", seen.stale_plain);
      visibility->read("reader", seen.reader);
      visibility->read("writer", seen.writer);
    }
  }
  return reader.status();
}

std::vector<measure::Finding> findings_from(const JsonReader& reader, const char* key) {
  std::vector<measure::Finding> findings;
  for (const JsonReader& entry : reader.objects(key)) {
    measure::Finding& finding = findings.emplace_back();
    std::int32_t verdict = 0;
    entry.read("name", finding.capability);
    entry.read("verdict", verdict);
    entry.read("detail", finding.detail);
    entry.read("remedy", finding.remedy);
    if (verdict < 0 || verdict > static_cast<int>(measure::Verdict::unavailable)) {
      entry.refuse("verdict", "is none that there is");
    }
    finding.verdict = static_cast<measure::Verdict>(verdict);
  }
  return findings;
}

// See put_newer(): each may be absent.
Status read_newer(const json& from, const JsonReader& reader, Archive& archive) {
  reader.read_optional("chosen", archive.chosen);
  reader.read_optional("no_device", archive.no_device);
  if (reader.has("parts")) {
    for (const JsonReader& entry : reader.objects("parts")) {
      PartState& part = archive.parts.emplace_back();
      entry.read("name", part.name);
      entry.read("state", part.state);
      entry.read("reason", part.reason);
      entry.read("elapsed_s", part.elapsed_s);
    }
  }
  if (reader.has("devices")) {
    for (const JsonReader& entry : reader.objects("devices")) {
      microbench::DeviceListing& device = archive.devices.emplace_back();
      entry.read("name", device.name);
      entry.read("description", device.description);
      entry.read("usable", device.usable);
      entry.read("reason", device.reason);
    }
  }
  if (reader.has("files")) {
    for (const JsonReader& entry : reader.objects("files")) {
      CardFile& file = archive.files.emplace_back();
      entry.read("name", file.name);
      entry.read("text", file.text);
    }
  }
  if (const auto launches = reader.optional_object("launches")) {
    launches->read("absent", archive.launches.absent);
    launches->read("waited_s", archive.launches.waited_s);
    launches->read("by_events_s", archive.launches.by_events_s);
  }
  if (const auto polls = reader.optional_object("polls")) {
    PollTimes& times = archive.polls.emplace();
    polls->read("read_p50_us", times.read_p50_us);
    polls->read("read_p99_us", times.read_p99_us);
    polls->read("polls", times.polls);
  }
  if (reader.has("counters")) archive.counters = findings_from(reader, "counters");
  WW_TRY(reader.status());
  WW_TRY(read_probes(from, reader, archive));
  if (reader.has("idle")) {
    WW_ASSIGN(idle, recording_from(from["idle"]));
    archive.idle = std::move(idle);
  }
  return {};
}

Result<Archive> archive_from(const json& from, const std::string& source) {
  const auto format = from.is_object() ? from.find("format") : from.end();
  if (!from.is_object() || format == from.end() || *format != kFormat) {
    return fail(ErrorCode::parse_error, "this is no archive of 'wirewatt selftest'", source);
  }
  const JsonReader reader(from, source);
  std::int64_t version = 0;
  reader.read("format_version", version);
  WW_TRY(reader.status());
  if (version != kVersion) {
    return fail(
        ErrorCode::unsupported,
        fmt::format("the archive has version {}, this wirewatt reads {}", version, kVersion),
        source);
  }
  Archive archive;
  reader.read("version", archive.version);
  reader.read("system", archive.system);
  reader.read("device", archive.device);
  reader.read("api", archive.api);
  reader.read("name", archive.name);
  reader.read("driver", archive.driver);
  reader.read("target", archive.target);
  reader.read("pci", archive.pci);
  reader.read("virtual", archive.is_virtual);
  reader.read("elapsed_s", archive.elapsed_s);
  reader.read("sensor", archive.sensor);
  reader.read("no_topology", archive.no_topology);
  reader.read("no_waves", archive.no_waves);
  archive.libraries = findings_from(reader, "libraries");
  for (const JsonReader& entry : reader.objects("fields")) {
    measure::FieldState& field = archive.fields.emplace_back();
    std::int32_t status = 0;
    entry.read("name", field.name);
    entry.read("status", status);
    entry.read("reason", field.reason);
    if (status < 0 || status > static_cast<int>(measure::FieldStatus::failed)) {
      entry.refuse("status", "is none that there is");
    }
    field.status = static_cast<measure::FieldStatus>(status);
  }
  for (const JsonReader& entry : reader.objects("waves")) {
    microbench::WavePlace& wave = archive.waves.emplace_back();
    entry.read("wave", wave.wave);
    entry.read("group", wave.group);
    entry.read("unpatched", wave.unpatched);
    entry.read("id", wave.id);
    entry.read("engine", wave.engine);
    entry.read("cu", wave.cu);
  }
  WW_TRY(reader.status());
  if (const auto topology = from.find("topology"); topology != from.end() && !topology->is_null()) {
    WW_ASSIGN(read, microbench::topology_from_json(*topology));
    archive.topology = std::move(read);
  }
  const auto part = [&from](const char* key) {
    const auto found = from.find(key);
    return found == from.end() ? json() : *found;
  };
  WW_ASSIGN(step_test, recording_from(part("step_test")));
  archive.step_test = std::move(step_test);
  WW_ASSIGN(stream, recording_from(part("stream")));
  archive.stream = std::move(stream);
  WW_TRY(read_newer(from, reader, archive));
  return archive;
}

}  // namespace

json to_json(const Archive& archive) {
  json fields = json::array(), waves = json::array();
  for (const measure::FieldState& field : archive.fields) {
    fields.push_back({{"name", field.name},
                      {"status", static_cast<int>(field.status)},
                      {"reason", field.reason}});
  }
  for (const microbench::WavePlace& wave : archive.waves) {
    waves.push_back({{"wave", wave.wave},
                     {"group", wave.group},
                     {"unpatched", wave.unpatched},
                     {"id", wave.id},
                     {"engine", wave.engine},
                     {"cu", wave.cu}});
  }
  json out = {{"format", kFormat},
              {"format_version", kVersion},
              {"version", archive.version},
              {"system", archive.system},
              {"device", archive.device},
              {"api", archive.api},
              {"name", archive.name},
              {"driver", archive.driver},
              {"target", archive.target},
              {"pci", archive.pci},
              {"virtual", archive.is_virtual},
              {"elapsed_s", archive.elapsed_s},
              {"libraries", to_json(archive.libraries)},
              {"sensor", archive.sensor},
              {"fields", std::move(fields)},
              {"no_topology", archive.no_topology},
              {"topology", archive.topology ? microbench::to_json(*archive.topology) : json()},
              {"no_waves", archive.no_waves},
              {"waves", std::move(waves)},
              {"step_test", to_json(archive.step_test)},
              {"stream", to_json(archive.stream)}};
  put_newer(out, archive);
  return out;
}

Result<Archive> archive_from_json(const json& from, const std::string& source) {
  auto archive = archive_from(from, source);
  if (!archive && archive.error().context.empty()) archive.error().context = source;
  return archive;
}

std::string archive_bytes(const Archive& archive) {
  const std::string text = to_json(archive).dump(-1, ' ', false, json::error_handler_t::replace);
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  constexpr int level = 12;
  const std::size_t size =
      ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), level);
  bytes.resize(ZSTD_isError(size) != 0 ? 0 : size);
  return bytes;
}

namespace {

Result<std::string> decompressed(std::string_view bytes, const std::string& source) {
  // A file's statement of its size is no reason to take as much memory.
  constexpr unsigned long long most = 256ULL << 20;
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > most) {
    return fail(ErrorCode::parse_error, "this is no archive of 'wirewatt selftest'", source);
  }
  std::string text(size, '\0');
  const std::size_t got = ZSTD_decompress(text.data(), text.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got) != 0 || got != size) {
    return fail(ErrorCode::parse_error,
                fmt::format("the archive is damaged or cut off: {}",
                            ZSTD_isError(got) != 0 ? ZSTD_getErrorName(got) : "its end is missing"),
                source);
  }
  return text;
}

}  // namespace

Result<Archive> parse_archive(std::string_view bytes, const std::string& source) {
  WW_ASSIGN(text, decompressed(bytes, source));
  return archive_from_json(json::parse(text, nullptr, false), source);
}

bool is_archive(std::string_view bytes) {
  const auto text = decompressed(bytes, "");
  return text && text->find(fmt::format("\"format\":\"{}\"", kFormat)) != std::string::npos;
}

}  // namespace ww::selftest
