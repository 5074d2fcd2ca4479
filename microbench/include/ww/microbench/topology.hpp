// The layout of a chip: its engines and CUs, its L2 channels and the address bits that choose them,
// and which parts are near to each other. It comes from the driver if the driver reports it, else
// from latency and contention.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/microbench/caches.hpp"
#include "ww/microbench/device_request.hpp"
#include "ww/microbench/i_compute_host.hpp"

namespace ww::microbench {

struct AddressMap {
  enum class Form { none, xor_of_bits, modulo };
  bool found{};
  std::string reason;  // why not found
  Form form{Form::none};
  int channels{};
  std::int64_t interleave_bytes{};  // bytes in a row on one channel
  // xor_of_bits: bit i of the channel's number is the parity of address & masks[i].
  std::vector<std::uint64_t> masks;
  double predicted_share{};  // share of random pairs that the map predicted
  int pairs{};               // number of pairs tried
  [[nodiscard]] int channel_of(std::uint64_t address) const;
};

// Latency between places (engines, or SMs) and lines' homes (channels, or single lines).
struct LatencyMap {
  bool found{};
  std::string reason;                      // why not found
  std::vector<std::vector<double>> ticks;  // [place][home]
  double noise_ticks{};                    // standard error of one entry, from repeats
  double contrast_ticks{};         // root mean square after row and column means are subtracted
  std::vector<int> nearest_place;  // [home]: least latency
};

// Channels that lie together: homes of lines. How they are found: homes.hpp.
struct Homes {
  bool found{};
  std::string reason;  // why not
  AddressMap address;  // of a page of 2 MiB; channels are known up to their names
  std::vector<std::vector<int>> channels;  // [home] -> channels
  // [engine][home] of a load there and back: medians over repeats and lines, then means over the
  // engine's CUs and the home's channels. In ticks of the clock that the probe reads.
  std::vector<std::vector<double>> ticks;
  double noise_ticks{};  // standard error of one place and channel
  double separation{};   // least distance of two homes' channels over the greatest within a home
  double margin{};       // how much worse the next grouping is, relative
  // Constant that a page adds to the channels of the first one (AddressMap).
  std::vector<std::uint32_t> page_channel;
  double confidence{};  // share of `checked` lines, drawn on all pages, that read like their home
  int checked{};
  // [engine] -> homes from the nearest to the farthest.
  [[nodiscard]] std::vector<std::vector<int>> order() const;
  // The home of an offset in the probed pages.
  [[nodiscard]] int home_of(std::uint64_t offset) const;
  [[nodiscard]] int channel_of(std::uint64_t offset) const;
};

// Partitioned L2: two sides, each with its places and lines.
struct Sides {
  bool found{};
  std::string reason;
  std::vector<int> side_of_place;  // 0 or 1; of the ends of a LatencyStructure also -1: neither
  double near_ticks{};             // mean over pairs on one side
  double far_ticks{};              // mean over pairs across the sides
  double explained{};              // share of the contrast that two sides explain
  // The side of a line is the parity of address & mask, within a 2 MiB page. The mask is 0 if none
  // predicts the side.
  std::uint64_t line_mask{};
  double predicted_line_share{};  // share of lines whose side the mask predicted
  std::string line_reason;
};

// Latency of a place (SM, or CU) and a line as a sum of one figure for each, and a product of two
// more: the form that parts without a sharp partition have (arXiv 2606.22588).
struct LatencyStructure {
  bool found{};              // the product stands out, so that some lines are near to some SMs
  std::string reason;        // why not
  double additive_r2{};      // share of the table's variance that the sum explains
  double with_product_r2{};  // that of the sum and the product
  double product_share{};    // of what the sum leaves, the product's share
  double next_share{};       // and that of the next product
  double residual_ticks{};   // root mean square of what both leave
  std::vector<double> place_offset_ticks, line_offset_ticks;
  // The product is place_way[p] * line_way[l], in ticks.
  std::vector<double> place_way, line_way;
  // A digest of the places' offsets in steps (place_steps), in the order of their numbers. Equal
  // ones: very likely the same die, or one whose SMs lie the same way and of which the same ones
  // are off. Different ones: another die, another numbering by the driver, or disturbed latencies.
  // Lines are not in it, because the page that they lie in changes from run to run.
  std::string fingerprint;
  std::vector<int> place_steps;
  bool fingerprint_stable{};  // measured again it is very likely the same
};

// The driver's statements, without any measurement. A field is absent if the driver does not report
// it.
struct DriverLayout {
  std::string source;  // "vgpu", "kfd", "driver"
  std::optional<int> engines;
  std::optional<int> compute_units;  // of the chip
  std::optional<int> channels;
  std::optional<std::int64_t> interleave_bytes;
  std::optional<std::int64_t> l2_bytes;
  std::optional<int> dies;
  std::optional<std::int64_t> memory_bytes;
  std::optional<std::int64_t> constant_bytes;
  std::optional<std::int64_t> local_bytes;  // of a work-group
  std::optional<int> largest_group;         // work-items
  std::optional<std::int64_t> clock_hz;     // the highest
};

struct TopologyPlace {
  int engine{};  // NVIDIA: the SM
  int cu{};
  std::uint32_t id{};  // the hardware id's bits that distinguish places
};

struct Topology {
  std::string device;
  std::string driver;
  std::string target;
  bool is_virtual{};
  DriverLayout reported_by_driver;
  bool pinned{};
  std::string pinning_reason;         // why nothing can be pinned
  std::vector<TopologyPlace> places;  // where wavefronts were seen, sorted
  std::string places_reason;          // why none
  AddressMap address;
  LatencyMap latency;          // [engine][channel], or [SM][line]
  std::optional<Sides> sides;  // parts whose places are SMs
  // Places are SMs, or engines' CUs; lines are those of `lines`, or of all channels.
  std::optional<LatencyStructure> structure;
  std::optional<Homes> homes;        // parts whose places are no SMs; of one page
  std::optional<Caches> caches;      // AMD's parts, of topology_of()
  std::string caches_reason;         // why not
  std::vector<std::uint32_t> lines;  // of latency's columns where those are lines: offsets [bytes]
  bool from_cache{};
  [[nodiscard]] std::vector<int> engines() const;  // that were seen, sorted
};
[[nodiscard]] nlohmann::json to_json(const Topology& topology);
// Error parse_error names the key.
[[nodiscard]] Result<Topology> topology_from_json(const nlohmann::json& json);

// How long a launch took whose wavefronts read at two addresses (offsets, 0 and 0 for one).
struct Contention {
  std::uint64_t first{}, second{};
  double seconds{};
};

// Raw readings behind a topology.
struct TopologyReadings {
  std::vector<Contention> contentions;                  // in the order in which they were timed
  std::vector<std::vector<std::vector<double>>> ticks;  // [repeat][place][line]
};

// Probes an opened device. A part that cannot be found has a reason. An error means that the device
// failed. `readings`, if not null, takes what was read until then.
[[nodiscard]] Result<Topology> discover_topology(ComputeHost& host,
                                                 const std::function<void(double)>& progress,
                                                 TopologyReadings* readings = nullptr);

// The proof that kernels are pinned: the report of every wavefront without and with the patch.
struct WavePlace {
  std::uint32_t wave{};
  std::uint32_t group{};
  std::uint32_t unpatched{};  // group ^ 0x5EC0DE01
  std::uint32_t id{};         // hardware id
  int engine{};               // NVIDIA: the SM
  int cu{};
};
// Errors: unsupported (nothing can be pinned), those of the host.
[[nodiscard]] Result<std::vector<WavePlace>> record_wave_places(ComputeHost& host);

struct TopologyRequest {
  DeviceRequest device;
  bool fresh{};  // probe again and ignore the cache
};
// The floorplan that is published of a device: of a virtual one its own, which may be none; of a
// real one that of its target's die. Empty where none is. Errors: those of open_device.
[[nodiscard]] Result<std::string> published_floorplan(const TopologyRequest& request,
                                                      const Topology& topology);
// Opens the device. Returns the cached result of the same device and driver, or probes and caches.
// Errors: those of open_host and the device.
[[nodiscard]] Result<Topology> topology_of(const TopologyRequest& request,
                                           const std::function<void(double)>& progress);

// $XDG_CACHE_HOME/wirewatt/topology, else ~/.cache/wirewatt/topology.
[[nodiscard]] std::filesystem::path topology_cache_folder();

}  // namespace ww::microbench
