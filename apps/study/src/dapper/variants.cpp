// The networks that wirewatt reproduce dapper runs every application on: the paper's, ablations
// that say why figures are as they are, and other systems around the network.
#include <fmt/format.h>

#include <algorithm>

#include "dapper/dapper.hpp"

namespace ww::study::dapper {
namespace {

using Options = std::vector<std::string>;

// Pairs of option and value; what is there already gets the new value.
void set(Options& options, const Options& more) {
  for (std::size_t i = 0; i + 1 < more.size(); i += 2) {
    const auto found = std::ranges::find(options, more[i]);
    if (found != options.end()) {
      *(found + 1) = more[i + 1];
    } else {
      options.insert(options.end(), {more[i], more[i + 1]});
    }
  }
}

DapperVariant dapper(std::string name, const Options& more = {}, bool ablation = false) {
  DapperVariant variant{std::move(name),
                        {"--network", "dapper", "--flit-bits", "64", "--approx-threshold", "10",
                         "--check-depth", "6"},
                        ablation};
  set(variant.options, more);
  return variant;
}

// A system that is other than the paper's: the baseline in it, and Dapper.
struct System {
  const char* name;
  std::string what;
  Options options{};        // of both
  std::string settings{};   // of both
  Options dapper_only{};    // where there are some, the baseline's run need not change
  const char* against{""};  // a system that has the baseline's run
  const char* device{"virtual:dapper"};
};

void add(std::vector<DapperVariant>& variants, const System& system) {
  const std::string name = system.name;
  DapperVariant with = dapper(name + "-dapper", system.options, true);
  set(with.options, system.dapper_only);
  with.settings = system.settings;
  with.device = system.device;
  with.what = system.what;
  if (system.dapper_only.empty()) {
    DapperVariant without{name + "-baseline", {"--network", "mesh"}, true};
    set(without.options, system.options);
    without.settings = with.settings;
    without.device = with.device;
    variants.push_back(without);
    with.against = without.name;
  } else if (*system.against != '\0') {
    with.against = std::string(system.against) + "-baseline";
  }
  variants.push_back(with);
}

std::string network_at(int times) {
  return fmt::format("[system]\nnetwork_clock_hz = {:.0f}\n", times * kDapperCoreHz);
}

}  // namespace

std::vector<DapperVariant> dapper_variants(bool quick) {
  std::vector<DapperVariant> variants{
      {"baseline", {"--network", "mesh"}},
      {"approx-noc", {"--network", "approx-noc", "--approx-threshold", "10"}},
      dapper("dapper"),
      dapper("dapper-15", {"--approx-threshold", "15"}),
      dapper("dapper-20", {"--approx-threshold", "20"}),
      dapper("dapper-cd3", {"--check-depth", "3"}),
      dapper("dapper-cd9", {"--check-depth", "9"}),
      {"mesh-64", {"--network", "mesh", "--planes", "--flit-bits", "64"}, true},
      dapper("dapper-exact", {"--approx-threshold", "0"}, true),
      dapper("dapper-equal", {"--period", "100", "--min-window", "25"}, true)};
  variants.front().power = true;
  DapperVariant mcpat{"baseline-mcpat", {"--network", "mesh"}, true};
  mcpat.settings = "[energy]\nestimator = \"mcpat-noc\"\n";
  mcpat.power = true;
  variants.push_back(mcpat);
  variants.push_back(
      {"approx-noc-exact", {"--network", "approx-noc", "--approx-threshold", "0"}, true});
  DapperVariant instant{
      "approx-noc-instant", {"--network", "approx-noc", "--approx-threshold", "10"}, true};
  instant.settings = "[network]\ncompress_delay = 0\ndecompress_delay = 0\n";
  variants.push_back(instant);
  DapperVariant unloaded{
      "clock-x8-approx-noc", {"--network", "approx-noc", "--approx-threshold", "10"}, true};
  unloaded.settings = network_at(8);
  variants.push_back(unloaded);
  DapperVariant half = dapper("dapper-bypass-half", {}, true);
  half.settings = "[energy]\nbypass_power = 0.5\n";
  variants.push_back(half);
  for (const char* data : {"first", "each"}) {
    const std::string settings = fmt::format("[system]\nreply_data = \"{}\"\n", data);
    const std::size_t from = variants.size();
    variants.push_back({fmt::format("{}-baseline", data), {"--network", "mesh"}, true});
    variants.push_back({fmt::format("{}-approx-noc", data),
                        {"--network", "approx-noc", "--approx-threshold", "10"},
                        true});
    variants.push_back(dapper(fmt::format("{}-dapper", data), {}, true));
    for (const char* threshold : {"15", "20"}) {
      variants.push_back(dapper(fmt::format("{}-dapper-{}", data, threshold),
                                {"--approx-threshold", threshold}, true));
    }
    for (const char* depth : {"3", "9"}) {
      variants.push_back(
          dapper(fmt::format("{}-dapper-cd{}", data, depth), {"--check-depth", depth}, true));
    }
    for (std::size_t i = from; i < variants.size(); ++i) variants[i].settings = settings;
  }
  for (const int times : {2, 4, 8, 16, 32}) {
    const std::string name = fmt::format("clock-x{}", times);
    add(variants, {name.c_str(),
                   fmt::format("network at {} times the cores' clock", times),
                   {},
                   network_at(times)});
  }
  add(variants, {"clock-x8-k100",
                 "network at 8 times the cores' clock, K = 100",
                 {},
                 network_at(8),
                 {"--period", "100"},
                 "clock-x8"});
  if (quick) return variants;
  variants.push_back(dapper("dapper-128", {"--flit-bits", "128"}, true));
  variants.push_back(dapper("dapper-256", {"--flit-bits", "256"}, true));
  variants.push_back(dapper("dapper-k100", {"--period", "100"}, true));
  for (const System& system : std::initializer_list<System>{
           {"k-2000", "K = 2,000", {}, "", {"--period", "2000"}},
           {"epoch-1000", "an epoch of 1,000 cycles", {}, "", {"--epoch", "1000"}},
           {"epoch-100000", "an epoch of 100,000 cycles", {}, "", {"--epoch", "100000"}},
           {"column", "controllers in the first column", {"--memory-nodes", "0,4,8,12"}},
           {"diagonal", "controllers on the diagonal", {"--memory-nodes", "0,5,10,15"}},
           {"memory-slow", "memory of two fifths of the bandwidth", {}, "[dram]\nburst = 5\n"},
           {"random-data", "toggles of random data", {}, "[network]\ncount_toggles = false\n"},
           {"lines-128", "lines of 128 bytes", {}, "[system]\nline_bytes = 128\n"},
           {"scalar-8k",
            "scalar loads through caches of 8 KiB and the network",
            {},
            "[system]\nscalar_cache_bytes = 8192\n"},
           {"mesh-8x8",
            "8 x 8 mesh, 56 cores and 8 controllers",
            {},
            "",
            {},
            "",
            "virtual:dapper64"}}) {
    add(variants, system);
  }
  return variants;
}

// Traces of applications say of no data that they may change, so no threshold is read.
Options with_exact_data(Options options) {
  const auto threshold = std::ranges::find(options, "--approx-threshold");
  if (threshold != options.end()) options.erase(threshold, threshold + 2);
  return options;
}

OwnNetworkStudy own_network_study() {
  const Options router{"--vcs", "5", "--vc-buffer", "4", "--routing-delay", "1"};  // table 1
  OwnNetworkStudy study;
  study.applications.assign(kDapperApplications.begin(), kDapperApplications.end());
  study.routers = router;
  set(study.routers, {"--flit-bits", "128"});
  PaperNetwork approx{"approx-noc", "Approx-NoC", {"--network", "approx-noc"}};
  set(approx.options, study.routers);
  PaperNetwork dapper_network{"dapper", "Dapper", with_exact_data(dapper("dapper", router).options),
                              "0.5 at best"};
  study.networks = {std::move(approx), std::move(dapper_network)};
  // A channel in each row, as its circuits need.
  study.rows = 16;
  study.columns = 4;
  for (int row = 0; row < study.rows; ++row) {
    study.channel_routers.push_back(row * study.columns + (row % 2 == 0 ? 0 : study.columns - 1));
  }
  return study;
}

}  // namespace ww::study::dapper
