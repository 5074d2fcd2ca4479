#include "top/live_counting.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "estimate/calibrated_part.hpp"
#include "ww/calibration/priced.hpp"
#include "ww/core/log.hpp"
#include "ww/model/estimate.hpp"
#include "ww/session/application.hpp"
#include "ww/session/traffic.hpp"

namespace ww::cli {
namespace {

// The card and, of a package of two dies, the other one, whose joules its sensor has as well.
std::vector<std::string> addresses_of(const measure::TelemetryGpu& card) {
  std::vector<std::string> addresses{to_string(card.pci)};
  if (card.amd && card.amd->other_die) addresses.push_back(to_string(card.amd->other_die->pci));
  return addresses;
}

}  // namespace

Result<std::optional<LiveCounting>> LiveCounting::prepare(const CardRequest& request,
                                                          const measure::TelemetryGpu& card,
                                                          const calibration::Calibration& model) {
  const auto& provenance = model.provenance();
  const std::string calibrated = calibrated_part(provenance.device, provenance.target);
  const std::string architecture = request.architecture.empty() ? calibrated : request.architecture;
  if (!card.amd && request.count) {
    return fail(ErrorCode::unsupported, "counts cards of AMD alone", "--count");
  }
  if (!card.amd || architecture.empty()) return std::optional<LiveCounting>();
  const auto sdk = measure::find_counting_sdk(architecture);
  if (!sdk && request.count) return tl::unexpected(sdk.error());
  if (!sdk) {
    log::info("not counted while it runs: {}", sdk.error().text());
    return std::optional<LiveCounting>();
  }
  WW_ASSIGN(counting, measure::DeviceCounting::prepare(
                          *sdk, {architecture, addresses_of(card), request.interval}));
  if (request.command.empty()) WW_TRY(counting.start_host());
  return std::optional<LiveCounting>(
      LiveCounting(std::move(counting), model, calibrated, architecture, !request.command.empty()));
}

std::string LiveCounting::source() const {
  const std::string disturbed = measure::counting_disturbs(architecture_, counting_.release());
  return fmt::format(
      "device power sampled; segments from the counters of the whole card, other processes "
      "included, by rocprofiler-sdk {} {} the program{}{}",
      counting_.release(), inside_ ? "inside" : "beside", disturbed.empty() ? "" : "; ", disturbed);
}

Status LiveCounting::take(Display& display, nlohmann::json& facts, timeline::Timeline* timeline) {
  WW_ASSIGN(news, counting_.poll());
  if (!news.trouble.empty()) {
    facts["no_counts"] = news.trouble;
    display.frame.lines.push_back(news.trouble);
    display.take_nothing("unavailable");
    return {};
  }
  if (news.stretches.empty()) return {};
  const auto counted = session::counted_dispatches(std::move(news.stretches), architecture_);
  WW_ASSIGN(traffic, session::application_traffic(counted, "the program"));
  calibration::EstimateRequest request;
  request.part = calibrated_;
  request.options.busy_s = counted.busy_s;
  WW_ASSIGN(priced, calibration::price(*model_, traffic, request));
  display.take(priced);
  if (timeline == nullptr || model_->wires() == nullptr) return {};
  WW_ASSIGN(wires, model::estimate(*model_->wires(), traffic.kernels, request.options));
  const auto& first = counted.dispatches.front();
  const auto& last = counted.dispatches.back();
  timeline->add_stretch(*first.start_ns, *last.start_ns + std::llround(*last.duration_ns),
                        wires.total);
  return {};
}

Result<std::vector<std::string>> LiveCounting::finish(nlohmann::json& facts) {
  WW_ASSIGN(warnings, counting_.warnings());
  facts["counting_cpu_s"] = counting_.cpu_s();
  return warnings;
}

}  // namespace ww::cli
