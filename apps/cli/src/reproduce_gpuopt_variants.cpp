// The networks of the GPUOPT study.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "reproduce_gpuopt.hpp"

namespace ww::cli {
namespace {

using sim::net::NodeId;
using sim::net::SimulateRequest;

constexpr int kSmsPerCluster = 8;
// Every other station of the serpentine, on every network alike: a checkerboard.
constexpr NodeId kLlcRouters[] = {1, 3, 4, 6, 9, 11, 12, 14};

bool is_llc(NodeId router) {
  return std::find(std::begin(kLlcRouters), std::end(kLlcRouters), router) != std::end(kLlcRouters);
}

// Table 2: 64 SMs in 8 tiles, 8 LLC tiles with a bank and a controller each, a grid of 4 x 4; 16
// nm. The L1 here is of replays alone; timing mode has the chip's.
SimulateRequest system_of(int sms_per_cluster) {
  const auto emesh = sim::net::gpuopt_emesh();
  SimulateRequest request;
  request.k = 4;
  request.concentration = kSmsPerCluster;
  request.classes = 2;
  request.flit_bits = emesh.flit_bits;
  request.speculative = emesh.speculative;
  request.coalesce_lanes = 32;
  request.line_bytes = 128;
  request.l1_sets = 64;
  request.l1_ways = 4;
  request.max_outstanding = 64;
  request.node_nm = 16;
  request.clock_hz = 1.4e9;
  request.link_mm = 6.12;  // the pitch of 16 tiles on 600 mm2
  for (NodeId router = 0; router < 16; ++router) {
    if (is_llc(router)) {
      request.memory_nodes.push_back(router * kSmsPerCluster);
      continue;
    }
    for (int sm = 0; sm < sms_per_cluster; ++sm) {
      request.core_nodes.push_back(router * kSmsPerCluster + static_cast<NodeId>(sm));
    }
  }
  return request;
}

GpuoptVariant mesh(std::string name, std::string text, const char* network = "mesh") {
  GpuoptVariant variant{std::move(name), std::move(text), system_of(kSmsPerCluster)};
  variant.request.network = network;
  return variant;
}

GpuoptVariant light(std::string name, std::string text, const char* network) {
  GpuoptVariant variant = mesh(std::move(name), std::move(text), network);
  variant.request.link_mm = 3.06;  // within a cluster: half a pitch
  return variant;
}

void add_electrical(std::vector<GpuoptVariant>& all) {
  all.push_back(mesh("emesh", "EMESH, a 256-bit flit a core cycle"));
  all.push_back(mesh("emesh-10g", "EMESH, 256 wires at 10 Gb/s: 7 flits a core cycle"));
  all.back().request.flit_bits *= 7;
  all.push_back(mesh("emesh-2x", "EMESH, twice the links"));
  all.back().request.flit_bits *= 2;
  all.push_back(mesh("emesh-4x", "EMESH, four times the links"));
  all.back().request.flit_bits *= 4;
  all.push_back(mesh("emesh-slow", "EMESH, replies 20 cycles later"));
  all.back().l2_cycles_more = 20;
  all.push_back(mesh("adaptive", "adaptive routing (DyXY)", "mesh-adaptive"));
  all.push_back(mesh("bufferless", "bufferless (BLESS)", "mesh-bufferless"));
  all.back().request.deflection = "bless";
  all.push_back(mesh("priority", "through traffic first", "mesh-priority"));
  for (const int sms : {1, 2, 4}) {
    all.push_back(mesh(fmt::format("sms-{}", 8 * sms), fmt::format("EMESH, {} SMs", 8 * sms)));
    all.back().request.core_nodes = system_of(sms).core_nodes;
    all.back().replayed = true;
  }
}

template <class Change>
void add_ps(std::vector<GpuoptVariant>& all, std::string name, std::string text, Change change) {
  all.push_back(light(std::move(name), std::move(text), "ps-gpuopt"));
  change(all.back().request.photonic);
}

void add_optical(std::vector<GpuoptVariant>& all) {
  all.push_back(light("prior-opt", "Prior_Opt", "prior-opt"));
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
  for (const int hold : {1, 16}) {
    add_ps(all, fmt::format("hold-{}", hold), fmt::format("{} message(s) a grab", hold),
           [&](auto& keys) { keys.hold_messages = hold; });
  }
  for (const int rt : {32, 512}) {
    add_ps(all, fmt::format("rt-{}", rt), fmt::format("RT {}", rt),
           [&](auto& keys) { keys.rt = rt; });
  }
}

}  // namespace

std::vector<std::string> gpuopt_applications() {
  return {"bp", "bfs", "gs", "hs", "hs3", "hys", "nn", "pf", "srad", "sc"};
}

std::vector<GpuoptVariant> gpuopt_variants(bool quick) {
  std::vector<GpuoptVariant> all;
  add_electrical(all);
  add_optical(all);
  if (!quick) add_design_space(all);
  return all;
}

}  // namespace ww::cli
