#include "top/top_display.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "ww/model/segment_names.hpp"

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
  if (!request.metrics.address.empty()) {
    WW_ASSIGN(server, MetricsServer::start(request.metrics.address));
    display.server_ = std::move(server);
    spdlog::info("metrics are at {}", display.server_->url());
  }
  const bool watched = display.server_ || display.otlp_;
  display.silent_ = watched && ::isatty(STDOUT_FILENO) != 1 && !request.json;
  if (!request.json && !display.silent_) {
    WW_ASSIGN(screen, TopScreen::open());
    display.screen_ = std::move(screen);
  }
  for (const char* name : model::kSegmentNames) display.frame.rows.push_back({name, {}, "", {}});
  display.frame.rows.push_back({"together", {}, "", {}});
  display.state_.device = request.device;
  if (const char* job = std::getenv("SLURM_JOB_ID"); job != nullptr) display.state_.job = job;
  for (auto& segment : display.state_.segments) segment.status = "unavailable";
  return display;
}

void Display::take(const model::KernelEstimate& total, std::optional<double> seconds) {
  for (std::size_t s = 0; s < total.segments.size(); ++s) {
    const auto& segment = total.segments[s];
    set(frame.rows[s], segment.power_w, std::string(to_string(segment.status)));
    const auto& figure = seconds ? segment.power_w : segment.energy_j;
    if (!figure) continue;
    auto& energy = state_.segments[s].energy_j;
    energy =
        model::together(energy.value_or(model::Interval{}), figure->times(seconds.value_or(1)));
  }
  const char* const partly = total.left_out.empty() ? "" : "partly";
  set(frame.rows.back(), total.power_w, misfit_.empty() ? partly : "misfit");
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
  for (std::size_t s = 0; s < state_.segments.size(); ++s) {
    state_.segments[s].power_w = frame.rows[s].power_w;
    state_.segments[s].status = misfit_.empty() ? frame.rows[s].status : "misfit";
  }
  if (server_) server_->publish(state_);
  if (otlp_) otlp_->publish(state_);
}

void Display::show(json facts) {
  if (server_ || otlp_) publish(facts);
  if (screen_) {
    screen_->draw(frame);
    return;
  }
  if (silent_) return;
  facts["device"] = frame.title;
  facts["source"] = frame.source;
  if (!misfit_.empty()) {
    facts["status"] = "misfit";
    facts["reason"] = misfit_;
  }
  facts["segments"] = json::array();
  for (const TopRow& row : frame.rows) {
    json one = {{"segment", row.name}, {"status", row.status}, {"power_w", nullptr}};
    if (row.power_w) {
      one["power_w"] = {
          {"value", row.power_w->value}, {"low", row.power_w->low}, {"high", row.power_w->high}};
    }
    facts["segments"].push_back(std::move(one));
  }
  fmt::print("{}\n", facts.dump(-1, ' ', false, json::error_handler_t::replace));
  std::fflush(stdout);
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

void Display::set(TopRow& row, const std::optional<model::Interval>& power,
                  const std::string& status) {
  row.power_w = power;
  row.status = status;
  push(row, power ? power->value : std::numeric_limits<double>::quiet_NaN());
}

}  // namespace ww::cli
