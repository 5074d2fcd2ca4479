#include "estimate/crossing_traffic.hpp"

#include <fmt/format.h>

#include "ww/measure/counter_file.hpp"
#include "ww/measure/crossing_counters.hpp"

namespace ww::cli {
namespace {

void mark_as_transferred(std::vector<model::CrossingUse>& uses, const std::string& target) {
  for (auto& use : uses) {
    if (use.status == RowStatus::ok) use.status = RowStatus::transferred;
    use.reason += fmt::format("; the energy of a crossing is that of another part, {}", target);
  }
}

}  // namespace

Result<CrossingTraffic> crossing_traffic(const model::CrossingModel& model,
                                         const std::vector<std::string>& counters,
                                         const std::string& architecture,
                                         std::optional<double> toggle_rate, bool anyway) {
  if (toggle_rate && !(*toggle_rate >= 0 && *toggle_rate <= 1)) {
    return fail(ErrorCode::out_of_range, "a toggle rate lies between 0 and 1", "--toggle-rate");
  }
  CrossingTraffic done;
  WW_ASSIGN(read, session::read_dispatches(counters, architecture));
  WW_TRY(session::require_named_part(architecture, read.named_architecture, counters.front()));
  auto traffic = session::count_traffic(read.dispatches, read.architecture);
  if (!traffic) {
    traffic.error().context = counters.front();
    return tl::unexpected(traffic.error());
  }
  done.traffic = std::move(*traffic);
  const bool transferred = session::of_another_part(model.target, done.traffic.architecture);
  if (!anyway) {
    WW_TRY(session::require_same_part(
        model.target, done.traffic.architecture, counters.front(), "a crossing",
        "or give --anyway to use the figure with the status 'transferred'"));
  }
  const auto data = toggle_rate ? model::data_at_rate(*toggle_rate) : model::unknown_data();
  done.pj_per_bit = model.of_data(data);
  const auto counted = measure::count_crossings(read.dispatches, done.traffic.architecture);
  std::map<std::string, model::CountedCrossing> crossed;
  for (const auto& [kernel, of] : counted.kernels) {
    crossed[kernel] = {of.bytes,          of.uncounted,        of.uncounted_traffic,
                       of.traffic,        of.traffic_at_least, of.read_traffic,
                       of.written_traffic};
  }
  WW_ASSIGN(uses, model::estimate_crossings(model, done.traffic.kernels, crossed, data));
  done.uses = std::move(uses);
  if (!counted.unused.empty()) {
    for (auto& use : done.uses) {
      if (!use.counted) use.reason += "; not used: " + counted.unused;
    }
  }
  if (transferred) mark_as_transferred(done.uses, model.target);
  return done;
}

}  // namespace ww::cli
