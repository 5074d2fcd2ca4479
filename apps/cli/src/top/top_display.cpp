#include "top/top_display.hpp"

#include "open_page.hpp"
#include "output.hpp"
#include "ww/core/log.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

namespace ww::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kKept = 240;  // refreshes of history

}  // namespace

Result<Display> Display::open(const DisplayRequest& request) {
  Display display;
  if (!request.metrics.otlp.empty()) {
    WW_ASSIGN(otlp, OtlpExport::open(request.metrics.otlp));
    display.otlp_ = std::move(otlp);
  }
  WW_TRY(display.serve(request.metrics));
  const bool watched = display.server_ || display.otlp_;
  display.silent_ = watched && (display.web_ || ::isatty(STDOUT_FILENO) != 1) && !request.json;
  if (!request.json && !display.silent_) {
    WW_ASSIGN(screen, TopScreen::open());
    display.screen_ = std::move(screen);
  }
  for (const calibration::PricedRow& row : request.rows.rows) {
    display.frame.rows.push_back({row.name, {}, row.status, {}});
  }
  display.frame.rows.push_back({request.rows.together.name, {}, request.rows.together.status, {}});
  display.state_.device = request.device;
  if (const char* job = std::getenv("SLURM_JOB_ID"); job != nullptr) display.state_.job = job;
  display.state_.segments.clear();
  for (const calibration::PricedRow& row : request.rows.rows) {
    display.state_.segments.push_back({row.name, {}, {}, "unavailable"});
  }
  return display;
}

Status Display::serve(const MetricsTargets& targets) {
  if (targets.open && !targets.web) {
    return fail(ErrorCode::invalid_argument, "shows the page of --web", "--open");
  }
  if (targets.address.empty() && !targets.web) return {};
  WW_ASSIGN(server, MetricsServer::start(targets.address.empty() ? "0" : targets.address));
  server_ = std::move(server);
  web_ = targets.web;
  if (!targets.address.empty()) log::info("metrics are at {}metrics", server_->url());
  if (!web_) return {};
  log::info("the page is at {}; Ctrl-C ends it", server_->url());
  if (targets.open && open_page(server_->url()) != 0) log::warn("open the page yourself");
  return {};
}

void Display::take(const calibration::Priced& figures, std::optional<double> seconds) {
  for (std::size_t s = 0; s < state_.segments.size(); ++s) {
    const calibration::PricedRow& row = figures.rows.at(s);
    set(frame.rows[s], row.power_w, row.status);
    const auto& figure = seconds ? row.power_w : row.energy_j;
    if (!figure) continue;
    auto& energy = state_.segments[s].energy_j;
    energy = together(energy.value_or(Interval{}), figure->times(seconds.value_or(1)));
  }
  set(frame.rows.back(), figures.together.power_w,
      misfit_.empty() ? figures.together.status : "misfit");
}

void Display::take_device(const session::MeterReading& reading) {
  device_ = reading;
  const auto line = [this](const std::string& name, const session::Joules& joules) {
    frame.lines.push_back(joules.energy
                              ? fmt::format("{} {}", name, interval_text(joules.energy, {}, "J"))
                              : fmt::format("{}: no joules: {}", name, joules.reason));
  };
  line(fmt::format("energy in {:.0f} s", reading.seconds), reading.device);
  for (const session::RailJoules& rail : reading.rails) {
    line((rail.of == session::RailOf::part ? "  of it " : "  beside it ") + rail.rail, rail.joules);
  }
  // A counter never falls, and a figure that begins to be known better may, by a little.
  const auto raise = [](std::optional<double>& counter, const session::Joules& joules) {
    if (joules.energy) counter = std::max(counter.value_or(0), joules.energy->value);
  };
  raise(state_.device_j, reading.device);
  for (const session::RailJoules& rail : reading.rails) {
    auto& rails = rail.of == session::RailOf::node ? state_.node : state_.rails;
    auto at = std::ranges::find(rails, rail.rail, &metrics::MetricsState::Rail::name);
    if (at == rails.end())
      at = rails.insert(rails.end(), metrics::MetricsState::Rail{rail.rail, {}});
    raise(at->energy_j, rail.joules);
  }
}

void Display::mark_misfit(const std::string& reason) {
  misfit_ = reason;
  if (!reason.empty()) {
    frame.source = "MISFIT, rely on no figure of a segment: " + reason + "; " + frame.source;
  }
}

void Display::take_nothing(const std::string& status) {
  for (TopRow& row : frame.rows) set(row, std::nullopt, status);
}

void Display::publish(const json& facts) {
  state_.card = frame.title;
  state_.is_virtual = facts.value("virtual", false);
  state_.dispatches.reset();
  if (const auto kernels = facts.find("dispatches"); kernels != facts.end()) {
    state_.dispatches = kernels->get<std::uint64_t>();
  }
  state_.device_w.reset();
  if (const auto watts = facts.find("device_w"); watts != facts.end()) {
    state_.device_w = watts->get<double>();
  }
  state_.device_of = facts.value("device_w_of", "");
  state_.sensor_of = facts.value("sensor_of", "");
  for (std::size_t s = 0; s < state_.segments.size(); ++s) {
    state_.segments[s].power_w = frame.rows[s].power_w;
    state_.segments[s].status = misfit_.empty() ? frame.rows[s].status : "misfit";
  }
  if (server_) server_->publish(state_);
  if (otlp_) otlp_->publish(state_);
}

json Display::line_of(json facts) const {
  facts["device"] = frame.title;
  facts["source"] = frame.source;
  if (!misfit_.empty()) {
    facts["status"] = "misfit";
    facts["reason"] = misfit_;
  }
  if (device_) {
    put_device_joules(facts, *device_);
    facts["node"] = node_json(*device_);
  }
  facts["segments"] = json::array();
  for (std::size_t r = 0; r < frame.rows.size(); ++r) {
    const TopRow& row = frame.rows[r];
    json one = {{"segment", row.name},
                {"status", row.status},
                {"power_w", interval_json(row.power_w)},
                {"energy_j", nullptr}};
    // Since the start; the sum of the segments has none of its own.
    if (r < state_.segments.size()) one["energy_j"] = interval_json(state_.segments[r].energy_j);
    facts["segments"].push_back(std::move(one));
  }
  return facts;
}

void Display::show(json facts) {
  if (server_ || otlp_) publish(facts);
  if (screen_) {
    screen_->draw(frame);
    return;
  }
  if (silent_ && !web_) return;
  const std::string line =
      line_of(std::move(facts)).dump(-1, ' ', false, json::error_handler_t::replace);
  if (web_) server_->publish_line(line);
  if (silent_) return;
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void Display::print_joules() const {
  std::vector<std::vector<std::string>> rows;
  for (const auto& segment : state_.segments) {
    if (segment.energy_j) rows.push_back({segment.name, interval_text(segment.energy_j, {}, "J")});
  }
  if (rows.empty()) return;
  rows.insert(rows.begin(), {"SEGMENT", misfit_.empty() ? "ENERGY (95%)" : "ENERGY (MISFIT)"});
  print_table(rows);
}

bool Display::wait(std::chrono::milliseconds time) {
  if (screen_) return screen_->key(static_cast<int>(time.count())) == 'q';
  std::this_thread::sleep_for(time);
  return false;
}

void Display::push(TopRow& row, double value) {
  row.history.push_back(value);
  if (row.history.size() > kKept) row.history.pop_front();
}

void Display::set(TopRow& row, const std::optional<Interval>& power, const std::string& status) {
  row.power_w = power;
  row.status = status;
  push(row, power ? power->value : std::numeric_limits<double>::quiet_NaN());
}

namespace {

json rails_json(const session::MeterReading& reading, bool (*wanted)(session::RailOf)) {
  json list = json::array();
  for (const session::RailJoules& rail : reading.rails) {
    if (!wanted(rail.of)) continue;
    list.push_back({{"rail", rail.rail},
                    {"covers", rail.says},
                    {"seconds", rail.seconds},
                    {"energy_j", interval_json(rail.joules.energy)},
                    {"status", to_string(rail.joules.status)},
                    {"reason", rail.joules.reason}});
  }
  return list;
}

}  // namespace

void put_device_joules(json& into, const session::MeterReading& reading) {
  into["seconds"] = reading.seconds;
  into["energy_j"] = interval_json(reading.device.energy);
  into["energy_status"] = to_string(reading.device.status);
  into["energy_reason"] = reading.device.reason;
  into["energy_by"] = !reading.device.energy   ? json()
                      : reading.by_accumulator ? json("accumulator")
                                               : json("power readings");
  into["rails"] =
      rails_json(reading, [](session::RailOf of) { return of != session::RailOf::node; });
}

json node_json(const session::MeterReading& reading) {
  return rails_json(reading, [](session::RailOf of) { return of == session::RailOf::node; });
}

}  // namespace ww::cli
