// The networks of the GPUOPT study.
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <string_view>
#include <tuple>
#include <vector>

#include "gpuopt/gpuopt.hpp"

namespace ww::study::gpuopt {
namespace {

using sim::net::NodeId;

// Variants that the headlines need, within a minute of processor time.
constexpr std::string_view kQuickVariants[] = {"emesh",     "emesh-10g", "sms-8",  "sms-32",
                                               "prior-opt", "prior-128", "gpuopt", "ps",
                                               "hold-4",    "ps-other"};

constexpr int kSmsPerCluster = 8;
// Every other station of the serpentine, on every network: a checkerboard.
constexpr NodeId kLlcRouters[] = {1, 3, 4, 6, 9, 11, 12, 14};

bool is_llc(NodeId router) {
  return std::find(std::begin(kLlcRouters), std::end(kLlcRouters), router) != std::end(kLlcRouters);
}

// Rows of a grid of 4 columns, SMs at a station, and where its 8 LLC tiles lie.
struct Grid {
  int rows, sms;
  std::vector<NodeId> llc;
};

// Table 2: 64 SMs in 8 tiles, 8 LLC tiles with a bank and a controller each, a grid of 4 x 4; 16
// nm.
GpuoptSystem paper_system() {
  GpuoptSystem system;
  system.network = sim::net::gpuopt_emesh();
  system.network.concentration = kSmsPerCluster;
  system.network.classes = 2;
  for (NodeId router = 0; router < 16; ++router) {
    if (is_llc(router)) {
      system.network.memory_nodes.push_back(router * kSmsPerCluster);
      continue;
    }
    for (int sm = 0; sm < kSmsPerCluster; ++sm) {
      system.core_nodes.push_back(router * kSmsPerCluster + static_cast<NodeId>(sm));
    }
  }
  return system;
}

GpuoptVariant mesh(std::string name, std::string text, const char* network = "mesh") {
  GpuoptVariant variant{std::move(name), std::move(text), paper_system()};
  variant.system.network.network = network;
  return variant;
}

GpuoptVariant light(std::string name, std::string text, const char* network) {
  GpuoptVariant variant = mesh(std::move(name), std::move(text), network);
  variant.system.link_mm = 3.06;  // within a cluster: half a pitch
  return variant;
}

void add_electrical(std::vector<GpuoptVariant>& all) {
  all.push_back(mesh("emesh", "EMESH, a 256-bit flit a core cycle"));
  all.push_back(mesh("emesh-10g", "EMESH, 256 wires at 10 Gb/s: 7 flits a core cycle"));
  all.back().system.network.flit_bits *= 7;
  all.push_back(mesh("emesh-2x", "EMESH, twice the links"));
  all.back().system.network.flit_bits *= 2;
  all.push_back(mesh("emesh-4x", "EMESH, four times the links"));
  all.back().system.network.flit_bits *= 4;
  all.push_back(mesh("emesh-slow", "EMESH, replies 20 cycles later"));
  all.back().l2_cycles_more = 20;
  all.push_back(mesh("emesh-slow-requests", "EMESH, requests 20 cycles later"));
  all.back().request_cycles = 20;
  // A plane for each direction, so that one can be narrower than the other.
  for (const auto& [name, text, requests, replies] :
       {std::tuple{"planes", "EMESH, a plane each way", 0, 0},
        std::tuple{"planes-requests", "EMESH, a plane each way, 128 bits from L1 to L2", 128, 0},
        std::tuple{"planes-replies", "EMESH, a plane each way, 128 bits from L2 to L1", 0, 128}}) {
    all.push_back(mesh(name, text));
    all.back().system.network.planes = true;
    all.back().request_flit_bits = requests;
    all.back().reply_flit_bits = replies;
  }
  all.push_back(mesh("adaptive", "adaptive routing (DyXY)", "mesh-adaptive"));
  all.push_back(mesh("bufferless", "bufferless (BLESS)", "mesh-bufferless"));
  const auto set = sim::net::set_key(all.back().system.network, "deflection", "bless");
  assert(set && "mesh-bufferless knows bless");
  static_cast<void>(set);
  all.push_back(mesh("priority", "through traffic first", "mesh-priority"));
  for (const int sms : {1, 4}) {
    all.push_back(mesh(fmt::format("sms-{}", 8 * sms), fmt::format("EMESH, {} SMs", 8 * sms)));
    all.back().cus_in_use = sms;
  }
}

template <class Change>
void add_light(std::vector<GpuoptVariant>& all, const char* network, std::string name,
               std::string text, Change change) {
  all.push_back(light(std::move(name), std::move(text), network));
  change(all.back().system.network.own<sim::net::PhotonicConfig>());
}

template <class Change>
void add_ps(std::vector<GpuoptVariant>& all, std::string name, std::string text, Change change) {
  add_light(all, "ps-gpuopt", std::move(name), std::move(text), change);
}

void add_optical(std::vector<GpuoptVariant>& all) {
  all.push_back(light("prior-opt", "Prior_Opt, 64 wavelengths a link", "prior-opt"));
  add_light(all, "prior-opt", "prior-128", "Prior_Opt, 128 wavelengths a link",
            [](auto& keys) { keys.prior_wavelengths = 128; });
  all.push_back(light("gpuopt", "GPUOPT", "gpuopt"));
  all.push_back(light("ps", "PS_GPUOPT", "ps-gpuopt"));
  add_ps(all, "flex", "PS_GPUOPT, Flex_Pred everywhere",
         [](auto& keys) { keys.predictor = "flex"; });
  add_ps(all, "restr", "PS_GPUOPT, Restr_Pred everywhere",
         [](auto& keys) { keys.predictor = "restr"; });
  add_ps(all, "alpha-1", "PS_GPUOPT, alpha 1, beta 0.5", [](auto& keys) {
    keys.alpha = 1;
    keys.beta = 0.5;
  });
  add_ps(all, "literal", "PS_GPUOPT, Flex_Pred as printed",
         [](auto& keys) { keys.flex_literal = true; });
  add_ps(all, "perfect", "a perfect predictor", [](auto& keys) { keys.predictor = "perfect"; });
}

// The lines of the paper's L1s. The program's wavefronts stay 64 lanes wide: a wavefront's load of
// consecutive words asks for as many lines as two of 32 lanes.
void add_long_lines(std::vector<GpuoptVariant>& all) {
  all.push_back(mesh("emesh-lines-128", "EMESH, lines of 128 bytes"));
  all.push_back(light("prior-opt-lines-128", "Prior_Opt, lines of 128 bytes", "prior-opt"));
  all.push_back(light("gpuopt-lines-128", "GPUOPT, lines of 128 bytes", "gpuopt"));
  for (std::size_t i = all.size() - 3; i < all.size(); ++i) all[i].line_bytes = 128;
}

// L1s as OpenCL has them: write-through, and emptied at each launch.
void add_launch_l1s(std::vector<GpuoptVariant>& all) {
  for (const char* name : {"emesh", "sms-8", "sms-32", "prior-opt", "gpuopt", "ps"}) {
    GpuoptVariant variant = *std::ranges::find(all, name, &GpuoptVariant::name);
    variant.name += "-l1-launch";
    variant.text += ", L1s emptied at each launch";
    variant.l1_policy = "launch";
    variant.against = "gpuopt-l1-launch";
    all.push_back(std::move(variant));
  }
}

// One cause at a time for what differs from the paper: what the tokens cost GPUOPT, what Prior_Opt
// gains by its width, and what the paper leaves open in the control of the lasers.
void add_ablations(std::vector<GpuoptVariant>& all) {
  const auto gpuopt = [&](std::string name, std::string text, auto change) {
    add_light(all, "gpuopt", std::move(name), std::move(text), change);
  };
  add_light(all, "prior-opt", "prior-sdr", "Prior_Opt, 64 wavelengths a link, one edge",
            [](auto& keys) { keys.double_data_rate = false; });
  gpuopt("units-63", "GPUOPT, 63 units of power: never short",
         [](auto& keys) { keys.power_units = 63; });
  gpuopt("data-first", "GPUOPT, the link's token before power",
         [](auto& keys) { keys.token_order = "data"; });
  gpuopt("listen", "GPUOPT, no back-off: a station listens until its token comes",
         [](auto& keys) { keys.backoff_doublings = 0; });
  gpuopt("hold-4", "GPUOPT, 4 messages a grab", [](auto& keys) { keys.hold_messages = 4; });
  gpuopt("long-hold", "GPUOPT, 16 messages a grab", [](auto& keys) { keys.hold_messages = 16; });
  gpuopt("fast-ring", "GPUOPT, light in a vacuum: half a turn of the tokens",
         [](auto& keys) { keys.waveguide_ps_per_mm = 3.3357; });
  gpuopt("queue-64", "GPUOPT, station queues of 64", [](auto& keys) { keys.station_queue = 64; });
  gpuopt("one-edge", "GPUOPT, one edge: 80 GB/s a link",
         [](auto& keys) { keys.double_data_rate = false; });
  gpuopt("free-tokens", "GPUOPT, tokens at nearly no cost: all of these", [](auto& keys) {
    keys.power_units = 63;
    keys.token_order = "data";
    keys.backoff_doublings = 0;
    keys.hold_messages = 16;
    keys.waveguide_ps_per_mm = 3.3357;
    keys.grab_cycles = 0;
  });
  // Adds the other readings of what the paper says in words.
  const auto from_full = [](auto& keys) { keys.table_start = 7; };
  const auto by_lit = [](auto& keys) { keys.table_counts = "lit"; };
  const auto by_messages = [](auto& keys) { keys.wait_counts = "messages"; };
  const auto four_a_grab = [](auto& keys) { keys.hold_messages = 4; };
  add_ps(all, "ps-from-7", "PS_GPUOPT, a power table that begins with sevens", from_full);
  add_ps(all, "ps-lit", "PS_GPUOPT, P the units that were lit", by_lit);
  add_ps(all, "ps-messages", "PS_GPUOPT, W the waits of messages, summed", by_messages);
  add_ps(all, "ps-hold-4", "PS_GPUOPT, 4 messages a grab", four_a_grab);
  all.back().against = "hold-4";
  add_ps(all, "ps-other", "PS_GPUOPT, all four of these readings", [&](auto& keys) {
    from_full(keys);
    by_lit(keys);
    by_messages(keys);
    four_a_grab(keys);
  });
  all.back().against = "hold-4";
  add_ps(all, "ps-data-first", "PS_GPUOPT, the link's token before power",
         [](auto& keys) { keys.token_order = "data"; });
  add_ps(all, "perfect-data-first", "a perfect predictor, the link's token before power",
         [](auto& keys) {
           keys.predictor = "perfect";
           keys.token_order = "data";
         });
  add_ps(all, "ps-no-wait", "PS_GPUOPT, no station asks because of its waits",
         [](auto& keys) { keys.wt = 1000000000; });
}

// Fewer SMs at a station; the die stays.
void add_stations(std::vector<GpuoptVariant>& all) {
  for (const Grid& grid :
       {Grid{10, 2, {2, 7, 12, 17, 22, 27, 32, 37}}, Grid{6, 4, {1, 3, 5, 8, 13, 16, 18, 22}}}) {
    const int stations = 4 * grid.rows;
    all.push_back(light(fmt::format("stations-{}", stations),
                        fmt::format("{} stations, {} SMs at each", stations, grid.sms),
                        "ps-gpuopt"));
    GpuoptSystem& system = all.back().system;
    system.network.height = grid.rows;
    system.network.concentration = grid.sms;
    system.link_mm = std::sqrt(600.0 / stations) / 2;
    system.network.memory_nodes.clear();
    system.core_nodes.clear();
    const auto sms = static_cast<NodeId>(grid.sms);
    for (NodeId station = 0; station < static_cast<NodeId>(stations); ++station) {
      if (std::find(grid.llc.begin(), grid.llc.end(), station) != grid.llc.end()) {
        system.network.memory_nodes.push_back(station * sms);
        continue;
      }
      for (NodeId sm = 0; sm < sms; ++sm) system.core_nodes.push_back(station * sms + sm);
    }
  }
}

// Around the paper's choices.
void add_design_space(std::vector<GpuoptVariant>& all) {
  for (const int epoch : {250, 500, 2000, 4000}) {
    add_ps(all, fmt::format("epoch-{}", epoch), fmt::format("epochs of {}", epoch),
           [&](auto& keys) { keys.epoch = epoch; });
  }
  for (const int wavelengths : {64, 256}) {
    add_ps(all, fmt::format("nc-{}", wavelengths), fmt::format("{} wavelengths", wavelengths),
           [&](auto& keys) { keys.nc_wavelengths = wavelengths; });
  }
  for (const int hold : {2, 16}) {
    add_ps(all, fmt::format("hold-{}", hold), fmt::format("{} message(s) a grab", hold),
           [&](auto& keys) { keys.hold_messages = hold; });
  }
  for (const int rt : {32, 512}) {
    add_ps(all, fmt::format("rt-{}", rt), fmt::format("RT {}", rt),
           [&](auto& keys) { keys.rt = rt; });
  }
  for (const int wt : {250, 4000}) {
    add_ps(all, fmt::format("wt-{}", wt), fmt::format("WT {}", wt),
           [&](auto& keys) { keys.wt = wt; });
  }
  add_ps(all, "cap-4", "v and w 4 at most", [](auto& keys) { keys.unit_cap = 4; });
  add_ps(all, "floor-4", "4 units lit always", [](auto& keys) { keys.floor_units = 4; });
  add_stations(all);
}

}  // namespace

std::vector<std::string> gpuopt_applications() {
  return {"bp", "bfs", "gs", "hs", "hs3", "hys", "nn", "pf", "srad", "sc"};
}

std::vector<GpuoptVariant> gpuopt_variants(bool quick) {
  std::vector<GpuoptVariant> all;
  add_electrical(all);
  add_optical(all);
  add_long_lines(all);
  add_launch_l1s(all);
  add_ablations(all);
  add_design_space(all);
  for (GpuoptVariant& variant : all) {
    variant.quick = std::ranges::find(kQuickVariants, variant.name) != std::end(kQuickVariants);
  }
  if (quick) std::erase_if(all, [](const GpuoptVariant& variant) { return !variant.quick; });
  return all;
}

OwnNetworkStudy own_network_study() {
  constexpr double kFaster = 1.8;  // GPUOPT over EMESH, section 8.1
  OwnNetworkStudy study;
  study.applications = gpuopt_applications();
  study.routers = {"--flit-bits",     "256", "--vcs",        "4", "--vc-buffer", "8",
                   "--routing-delay", "0",   "--speculative"};  // EMESH
  // 16 stations, half of them with the LLC, as in the paper.
  study.rows = 4;
  study.columns = 4;
  study.nodes_of_router = 6;
  study.channel_routers.assign(std::begin(kLlcRouters), std::end(kLlcRouters));
  study.networks = {
      {"gpuopt", "GPUOPT", {"--network", "gpuopt", "--flit-bits", "256"}, nullptr, 1 / kFaster},
      {"gpuopt-4",
       "GPUOPT, four messages a grab",
       {"--network", "gpuopt", "--flit-bits", "256", "--hold-messages", "4"}},
  };
  return study;
}

}  // namespace ww::study::gpuopt
