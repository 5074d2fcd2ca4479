// The report of timing mode as JSON.
#include <nlohmann/json.hpp>

#include "ww/sim/gpu/timing.hpp"

namespace ww::sim::gpu {
namespace {

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

nlohmann::json packets_json(const TimingStats& s) {
  auto json = nlohmann::json::object();
  for (const auto& [name, count] : {std::pair{"read_request", s.read_requests},
                                    {"write_request", s.write_requests},
                                    {"atomic_request", s.atomic_requests},
                                    {"read_reply", s.read_replies},
                                    {"write_reply", s.write_replies},
                                    {"atomic_reply", s.atomic_replies},
                                    {"write_back", s.write_backs},
                                    {"recall", s.recalls},
                                    {"invalidation", s.invalidations}}) {
    json[name] = {{"packets", count.packets}, {"flits", count.flits}};
  }
  return json;
}

nlohmann::json stats_json(const TimingStats& s) {
  nlohmann::json energy = s.energy;
  nlohmann::json json{
      {"launches", s.launches},
      {"cycles", s.cycles},
      {"network_cycles", s.network_cycles},
      {"wave_instructions", s.wave_instructions},
      {"ipc", share(s.wave_instructions, s.cycles)},
      {"l1",
       {{"accesses", s.l1_accesses},
        {"hits", s.l1_hits},
        {"hits_under_way", s.l1_merged},
        {"stores_kept", s.l1_stores},
        {"hit_rate", share(s.l1_hits, s.l1_accesses)}}},
      {"l2",
       {{"accesses", s.l2_accesses},
        {"hits", s.l2_hits},
        {"misses_under_way", s.l2_merged},
        {"hit_rate", share(s.l2_hits, s.l2_accesses)}}},
      {"packets", packets_json(s)},
      {"approximable_share", share(s.approximable_replies, s.read_replies.packets)},
      {"approximable_replies", s.approximable_replies},
      {"changed_replies", s.changed_replies},
      {"avg_request_latency", s.request_latency},
      {"p99_request_latency", s.request_latency_p99},
      {"avg_reply_latency", s.reply_latency},
      {"p99_reply_latency", s.reply_latency_p99},
      {"avg_request_transit", s.request_transit},
      {"avg_reply_transit", s.reply_transit},
      {"avg_round_trip_core_cycles", s.round_trip},
      {"output_buffer",
       {{"avg_packets", s.output_occupancy}, {"full_cycles", s.output_full_cycles}}},
      {"mshr_full_cycles", s.mshr_full_cycles},
      {"dram",
       {{"reads", s.dram_reads},
        {"writes", s.dram_writes},
        {"row_hits", s.dram_row_hits},
        {"row_hit_rate", share(s.dram_row_hits, s.dram_reads + s.dram_writes)}}},
      {"accepted_flits_per_node_cycle", s.flits_per_node_cycle},
      {"flit_hops", power::flit_hops(s.events)},
      {"network_energy_pj", energy},
      {"cpu_s", s.cpu_s}};
  power::add_json(json, s.events);
  return json;
}

}  // namespace

std::string to_json_text(const TimingReport& report) {
  auto dispatches = nlohmann::json::array();
  for (const auto& dispatch : report.dispatches) {
    auto json = stats_json(dispatch.stats);
    json["kernel"] = dispatch.kernel;
    dispatches.push_back(std::move(json));
  }
  const TimingConfig& config = report.config;
  const nlohmann::json json{{"mode", "timing"},
                            {"virtual", true},
                            {"network", config.network.network},
                            {"core_nodes", config.core_nodes},
                            {"memory_nodes", config.network.memory_nodes},
                            {"settings", to_toml(config)},
                            {"total", stats_json(report.total)},
                            {"dispatches", dispatches},
                            {"warnings", report.warnings}};
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace ww::sim::gpu
