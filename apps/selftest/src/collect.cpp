// Runs the parts of the test and keeps what they gave.
#include <fmt/format.h>
#include <sys/utsname.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "parts.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/measure/child.hpp"
#include "ww/selftest/selftest.hpp"

namespace ww::selftest {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

std::string system_text() {
  utsname names{};
  return uname(&names) == 0 ? fmt::format("{} {} {}", names.sysname, names.release, names.machine)
                            : std::string("unknown");
}

// Which device is tested, decided in a process of its own: drivers are woken for it.
Status choose(microbench::DeviceRequest& request, Archive& archive) {
  const bool is_named = !request.name.empty();
  if (is_named && DeviceName(request.name).is_virtual()) {
    archive.chosen = "it was named";
    return {};
  }
  constexpr std::chrono::seconds kPatience{120};
  const auto text = measure::run_in_child(
      [&request, is_named] {
        const auto choice = is_named ? microbench::look_up_device(request.name)
                                     : microbench::choose_device(request.need);
        const json answer = choice ? json{{"name", choice->name}, {"reason", choice->reason}}
                                   : json{{"error", choice.error().text()}};
        return answer.dump(-1, ' ', false, json::error_handler_t::replace);
      },
      kPatience, interrupted);
  if (!text) return tl::unexpected(text.error());
  WW_ASSIGN(answer, parse_json(*text, "the choice of a device"));
  if (answer.contains("error")) {
    return fail(ErrorCode::missing_dependency, answer["error"].get<std::string>());
  }
  if (!is_named) request.name = answer.value("name", "");
  archive.chosen = answer.value("reason", "");
  return {};
}

// Runs one part in a process of its own.
PartState run_part(const Part& part, std::chrono::seconds patience,
                   const microbench::DeviceRequest& request, Archive& archive) {
  const auto begun = Clock::now();
  PartState state{std::string(part.name), "done", "", 0};
  const auto text = measure::run_in_child(
      [&] {
        Archive found;
        part.fill(request, found);
        return to_json(found).dump(-1, ' ', false, json::error_handler_t::replace);
      },
      patience, interrupted);
  auto found = [&]() -> Result<Archive> {
    if (!text) return tl::unexpected(text.error());
    WW_ASSIGN(parsed, parse_json(*text, "what the part gave"));
    return archive_from_json(parsed, "what the part gave");
  }();
  state.elapsed_s = seconds_since(begun);
  if (found) {
    part.take(archive, std::move(*found));
    if (interrupted()) state.state = "stopped";
    return state;
  }
  state.state = interrupted() ? "stopped" : "failed";
  state.reason = without_home(found.error().message);
  part.note_absence(archive, state.reason);
  return state;
}

}  // namespace

Result<Archive> collect(const microbench::DeviceRequest& asked, const Narrator& narrate,
                        const Keeper& keep, std::optional<std::chrono::seconds> limit) {
  const auto begun = Clock::now();
  const int total = static_cast<int>(parts().size());
  const auto say = [&](std::string_view step, int done) {
    if (narrate) narrate(std::string(step), done, total);
  };
  microbench::DeviceRequest request = asked;
  request.clock_control = false;  // nothing here needs other clocks
  Archive archive;
  archive.version = WW_VERSION;
  archive.system = system_text();
  for (const Part& part : parts()) {
    archive.parts.push_back({std::string(part.name), "to do", "", 0});
  }
  const auto kept = [&]() -> Status {
    archive.elapsed_s = seconds_since(begun);
    return keep ? keep(archive) : Status();
  };
  WW_TRY(kept());
  say("the choice of a device", 0);
  const Status chosen = choose(request, archive);
  archive.device = request.name;
  archive.no_device = chosen ? "" : without_home(chosen.error().message);
  const auto kind = DeviceName(request.name).kind();
  const bool sensor_alone = kind == DeviceName::Kind::pci || kind == DeviceName::Kind::sensor;
  int done = 0;
  for (const Part& part : parts()) {
    PartState& state = archive.parts[static_cast<std::size_t>(done)];
    const bool needs_device = done > 0;
    say(part.name, done++);
    std::string why;
    if (interrupted()) {
      why = "it was stopped before";
    } else if (needs_device && !archive.no_device.empty()) {
      why = archive.no_device;
    } else if (sensor_alone && !part.by_sensor_alone) {
      why = "nothing here computes on the card";
    }
    if (why.empty()) {
      state = run_part(part, limit.value_or(part.patience), request, archive);
    } else {
      state.state = interrupted() ? "stopped" : "left out";
      state.reason = why;
      part.note_absence(archive, why);
    }
    WW_TRY(kept());
  }
  return archive;
}

}  // namespace ww::selftest
