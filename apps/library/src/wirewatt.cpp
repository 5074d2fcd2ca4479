#include "wirewatt/wirewatt.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "papi_events.hpp"
#include "ww/calibration/kinds.hpp"
#include "ww/core/device_name.hpp"
#include "ww/core/json_reader.hpp"
#include "ww/metrics/metrics.hpp"
#include "ww/session/bracket.hpp"
#include "ww/session/card_counts.hpp"

struct wirewatt_session {
  std::unique_ptr<ww::session::Bracket> bracket;
  std::string device;
  std::array<std::string, WIREWATT_SEGMENTS + 2> reasons;  // device, interconnect, segments
  ww::metrics::MetricsState total;                         // of all stretches
  ww::session::KernelEnergies kernels;                     // of the last one
};

namespace {

thread_local std::string last_error;

wirewatt_status status_of(ww::ErrorCode code) {
  switch (code) {
    case ww::ErrorCode::invalid_argument:
    case ww::ErrorCode::out_of_range: return WIREWATT_INVALID;
    case ww::ErrorCode::not_found:
    case ww::ErrorCode::missing_dependency: return WIREWATT_NOT_FOUND;
    case ww::ErrorCode::parse_error:
    case ww::ErrorCode::bad_data: return WIREWATT_BAD_FILE;
    case ww::ErrorCode::unsupported: return WIREWATT_UNSUPPORTED;
    case ww::ErrorCode::permission_denied: return WIREWATT_DENIED;
    default: return WIREWATT_DEVICE;
  }
}

wirewatt_status refuse(const ww::Error& error) {
  last_error = error.text();
  return status_of(error.code);
}

wirewatt_status refuse(const char* message) {
  last_error = message;
  return WIREWATT_INVALID;
}

// No exception crosses the C interface.
template <class Body>
wirewatt_status guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const std::exception& e) {
    last_error = e.what();
  } catch (...) {
    last_error = "unknown failure";
  }
  return WIREWATT_DEVICE;
}

int32_t figure_status(ww::RowStatus status) {
  switch (status) {
    case ww::RowStatus::ok: return WIREWATT_FIGURE_OK;
    case ww::RowStatus::transferred: return WIREWATT_FIGURE_TRANSFERRED;
    case ww::RowStatus::not_identified: return WIREWATT_FIGURE_NOT_IDENTIFIED;
    case ww::RowStatus::misfit: return WIREWATT_FIGURE_MISFIT;
    case ww::RowStatus::rejected:
    case ww::RowStatus::failed: return WIREWATT_FIGURE_REJECTED;
    case ww::RowStatus::unavailable: break;
  }
  return WIREWATT_FIGURE_UNAVAILABLE;
}

wirewatt_joules joules_of(const ww::session::Joules& joules) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const int32_t status = figure_status(joules.status);
  const bool has =
      joules.energy && (status == WIREWATT_FIGURE_OK || status == WIREWATT_FIGURE_TRANSFERRED ||
                        status == WIREWATT_FIGURE_MISFIT);
  if (!has) return {status, 0, none, none, none};
  return {status, 0, joules.energy->value, joules.energy->low, joules.energy->high};
}

bool has_value(const wirewatt_joules& joules) {
  return !std::isnan(joules.value);
}

void add_to_total(ww::metrics::MetricsState& total, const wirewatt_reading& reading,
                  const ww::session::Reading& found) {
  if (total.dispatches) *total.dispatches += reading.dispatches;  // a real device counts none
  if (has_value(reading.device)) total.device_j = total.device_j.value_or(0) + reading.device.value;
  for (std::size_t s = 0; s < WIREWATT_SEGMENTS; ++s) {
    auto& segment = total.segments[s];
    segment.status = std::string(ww::to_string(found.segments[s].status));
    const wirewatt_joules& joules = reading.segment[s];
    if (!has_value(joules)) continue;
    segment.energy_j = ww::model::together(segment.energy_j.value_or(ww::model::Interval{}),
                                           {joules.value, joules.low, joules.high});
  }
}

// Copies the text that `make` gives, as wirewatt_metrics does. 0: it gave an error.
template <class Make>
size_t written(char* text, size_t size, Make&& make) noexcept {
  size_t needed = 0;
  guarded([&] {
    if (size > 0 && text == nullptr) return refuse("no place for the text");
    const ww::Result<std::string> whole = make();
    if (!whole) return refuse(whole.error());
    if (size > 0) text[whole->copy(text, size - 1)] = '\0';
    needed = whole->size() + 1;
    return WIREWATT_OK;
  });
  return needed;
}

}  // namespace

extern "C" {

const char* wirewatt_version(void) {
  return WW_VERSION;
}

const char* wirewatt_error(void) {
  return last_error.c_str();
}

wirewatt_status wirewatt_open(const char* device, const char* model, wirewatt_session** session) {
  return wirewatt_open_with(device, model, 0, session);
}

wirewatt_status wirewatt_open_with(const char* device, const char* model, uint32_t options,
                                   wirewatt_session** session) {
  return guarded([&] {
    if (session == nullptr) return refuse("wirewatt_open: no place for the session");
    *session = nullptr;
    if ((options & ~static_cast<uint32_t>(WIREWATT_ANYWAY)) != 0) {
      return refuse("wirewatt_open_with: an option that this version does not have");
    }
    const bool anyway = (options & WIREWATT_ANYWAY) != 0;
    auto bracket = ww::session::Bracket::open(
        device != nullptr ? device : "", model != nullptr ? model : "",
        anyway ? ww::model::FlaggedModel::mark : ww::model::FlaggedModel::refuse);
    if (!bracket) return refuse(bracket.error());
    auto made = std::make_unique<wirewatt_session>();
    made->bracket = std::move(*bracket);
    made->device = made->bracket->device();
    made->total.device = made->total.card = made->device;
    made->total.is_virtual = made->bracket->is_virtual();
    made->total.device_of = made->bracket->measured_besides();
    made->total.sensor_of = made->bracket->sensor_of();
    if (ww::DeviceName(made->device).is_virtual()) made->total.dispatches = 0;
    if (const char* job = std::getenv("SLURM_JOB_ID"); job != nullptr) made->total.job = job;
    for (auto& segment : made->total.segments) {
      segment.status = std::string(ww::to_string(ww::RowStatus::unavailable));
    }
    ww::papi::publish(made->total.is_virtual);
    *session = made.release();
    return WIREWATT_OK;
  });
}

wirewatt_status wirewatt_count(const char* device) {
  return guarded([&] {
    const auto asked = ww::session::CardCounts::request(device != nullptr ? device : "");
    return asked ? WIREWATT_OK : refuse(asked.error());
  });
}

void wirewatt_close(wirewatt_session* session) {
  delete session;
}

const char* wirewatt_device(const wirewatt_session* session) {
  return session != nullptr ? session->device.c_str() : "";
}

wirewatt_status wirewatt_begin(wirewatt_session* session) {
  return guarded([&] {
    if (session == nullptr) return refuse("wirewatt_begin: no session");
    const auto begun = session->bracket->begin();
    return begun ? WIREWATT_OK : refuse(begun.error());
  });
}

wirewatt_status wirewatt_end(wirewatt_session* session, wirewatt_reading* reading) {
  return guarded([&] {
    if (session == nullptr) return refuse("wirewatt_end: no session");
    if (reading == nullptr || reading->size < sizeof(size_t)) {
      return refuse("wirewatt_end: set reading.size to sizeof(wirewatt_reading)");
    }
    const auto found = session->bracket->end();
    if (!found) return refuse(found.error());
    wirewatt_reading whole{};
    whole.size = std::min(reading->size, sizeof whole);
    whole.is_virtual = session->bracket->is_virtual() ? 1 : 0;
    whole.seconds = found->seconds;
    whole.dispatches = found->dispatches;
    whole.device = joules_of(found->device);
    whole.interconnect = joules_of(found->interconnect);
    session->reasons[0] = found->device.reason;
    session->reasons[1] = found->interconnect.reason;
    for (std::size_t s = 0; s < WIREWATT_SEGMENTS; ++s) {
      whole.segment[s] = joules_of(found->segments[s]);
      session->reasons[s + 2] = found->segments[s].reason;
    }
    add_to_total(session->total, whole, *found);
    session->kernels = found->kernels;
    ww::papi::add(whole);
    // A program built with an earlier version has a shorter structure.
    std::memcpy(reading, &whole, whole.size);
    return WIREWATT_OK;
  });
}

wirewatt_status wirewatt_add_traffic(wirewatt_session* session, wirewatt_segment segment,
                                     double bytes, double toggle_rate) {
  return guarded([&] {
    if (session == nullptr) return refuse("wirewatt_add_traffic: no session");
    const auto index = static_cast<int>(segment);
    if (index < 0 || index >= WIREWATT_SEGMENTS) {
      return refuse("wirewatt_add_traffic: no such segment");
    }
    const auto added = session->bracket->add_traffic(
        ww::model::kWireSegments[static_cast<std::size_t>(index)], bytes, toggle_rate);
    return added ? WIREWATT_OK : refuse(added.error());
  });
}

const char* wirewatt_reason(const wirewatt_session* session, int index) {
  if (session == nullptr || index < -2 || index >= WIREWATT_SEGMENTS) return "";
  const int place = index == -1 ? 0 : index == -2 ? 1 : index + 2;
  return session->reasons[static_cast<std::size_t>(place)].c_str();
}

size_t wirewatt_kernels(const wirewatt_session* session) {
  return session != nullptr ? session->kernels.kernels.size() : 0;
}

wirewatt_status wirewatt_kernel_at(const wirewatt_session* session, size_t index,
                                   wirewatt_kernel* kernel) {
  return guarded([&] {
    if (session == nullptr) return refuse("wirewatt_kernel_at: no session");
    if (kernel == nullptr || kernel->size < sizeof(size_t)) {
      return refuse("wirewatt_kernel_at: set kernel.size to sizeof(wirewatt_kernel)");
    }
    if (index >= session->kernels.kernels.size()) {
      return refuse("wirewatt_kernel_at: no such kernel in the last reading");
    }
    const auto& found = session->kernels.kernels[index];
    wirewatt_kernel whole{};
    whole.size = std::min(kernel->size, sizeof whole);
    whole.name = found.kernel.c_str();
    whole.reason = found.reason.c_str();
    whole.launches = found.launches;
    whole.energy = joules_of({found.status, {}, found.energy_j});
    whole.launches_wanted =
        found.launches_wanted.value_or(std::numeric_limits<double>::quiet_NaN());
    std::memcpy(kernel, &whole, whole.size);
    return WIREWATT_OK;
  });
}

double wirewatt_kernel_covariance(const wirewatt_session* session, size_t one, size_t other) {
  const std::size_t count = wirewatt_kernels(session);
  if (one >= count || other >= count || session->kernels.covariance.empty()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return session->kernels.covariance[one * count + other];
}

wirewatt_status wirewatt_add_launch(wirewatt_session* session, const char* kernel, int64_t start_ns,
                                    int64_t end_ns) {
  return guarded([&] {
    if (session == nullptr) return refuse("wirewatt_add_launch: no session");
    if (kernel == nullptr) return refuse("wirewatt_add_launch: no name of the kernel");
    const auto added = session->bracket->add_launch(kernel, start_ns, end_ns);
    return added ? WIREWATT_OK : refuse(added.error());
  });
}

wirewatt_status wirewatt_set_response(wirewatt_session* session, wirewatt_response kind,
                                      double seconds, double relative_error) {
  return guarded([&] {
    if (session == nullptr) return refuse("wirewatt_set_response: no session");
    if (kind != WIREWATT_WINDOW && kind != WIREWATT_LAG) {
      return refuse("wirewatt_set_response: no such response");
    }
    if (!std::isfinite(seconds) || seconds <= 0 || !(relative_error >= 0 && relative_error < 1)) {
      return refuse(
          "wirewatt_set_response: the time must be above 0, and its error between 0 and 1");
    }
    session->bracket->set_response(ww::measure::register_response(
        kind == WIREWATT_LAG ? ww::measure::ResponseKind::lag : ww::measure::ResponseKind::window,
        seconds, relative_error));
    return WIREWATT_OK;
  });
}

size_t wirewatt_metrics(const wirewatt_session* session, char* text, size_t size) {
  return written(text, size, [&]() -> ww::Result<std::string> {
    if (session == nullptr) {
      return ww::fail(ww::ErrorCode::invalid_argument, "wirewatt_metrics: no session");
    }
    return ww::metrics::metrics_text(session->total, ww::metrics::MetricsForm::open_metrics);
  });
}

size_t wirewatt_project(const char* model, double node_nm, double card_node_nm, uint32_t options,
                        char* json, size_t size) {
  return written(json, size, [&]() -> ww::Result<std::string> {
    using ww::calibration::Admission;
    const bool anyway = (options & WIREWATT_ANYWAY) != 0;
    WW_ASSIGN(calibration,
              ww::calibration::load(model != nullptr ? model : "",
                                    anyway ? Admission::mark_flagged : Admission::refuse_flagged));
    ww::calibration::ProjectRequest request;
    request.node_nm = node_nm;
    if (card_node_nm > 0) request.card_node_nm = card_node_nm;
    WW_ASSIGN(answer, calibration->project(request));
    return answer.json.dump(2);
  });
}

size_t wirewatt_score(const char* model, const char* truth, char* json, size_t size) {
  return written(json, size, [&]() -> ww::Result<std::string> {
    WW_ASSIGN(calibration, ww::calibration::load(model != nullptr ? model : "",
                                                 ww::calibration::Admission::any));
    WW_ASSIGN(rows, ww::parse_json(truth != nullptr ? truth : "", "the truth"));
    ww::calibration::Revealed revealed;
    for (const auto& row : rows) {
      const ww::JsonReader reader(row, "the truth");
      ww::calibration::RevealedFigure figure;
      reader.read("name", figure.name);
      reader.read("truth", figure.truth);
      reader.read("sensed", figure.sensed);
      reader.read_optional("unit", figure.unit);
      WW_TRY(reader.status());
      revealed.figures.push_back(std::move(figure));
    }
    WW_ASSIGN(answer, calibration->score(revealed));
    return answer.json.dump(2);
  });
}

}  // extern "C"
