// Finds where lines live by measuring: which runs of addresses share an L2 channel, which channels
// lie together (a home), and how far each shader engine is from each home. What a campaign needs of
// a chip whose addresses are hashed or steered, with or without a floorplan.
//
// Two loads on one channel wait for each other, which separates channels whatever their order
// (AddressMap). How long a place waits for a channel, with the means of rows and columns taken out,
// shows where the channel lies; channels whose profiles agree are one home.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/microbench/i_compute_host.hpp"
#include "ww/microbench/topology.hpp"
#include "ww/model/floorplan.hpp"

namespace ww::microbench {

[[nodiscard]] nlohmann::json to_json(const Homes& homes);
// Error parse_error names the key.
[[nodiscard]] Result<Homes> homes_from_json(const nlohmann::json& json);

// Channels of an address map with a page's constant: a sum over GF(2), or of remainders.
[[nodiscard]] int shifted_channel(const AddressMap& map, int channel, std::uint32_t constant);

// Memory in which every line's home is known: `pages` pages of 2 MiB, aligned to their size. It is
// zero when it is made.
struct HomeMemory {
  std::unique_ptr<DeviceBuffer> buffer;
  std::uint64_t aligned{};  // offset of the first page in the buffer
  std::uint64_t address{};  // of the first page, as the device sees it
  std::size_t pages{};
  Homes homes;
  std::vector<TopologyPlace> places;
};
inline constexpr std::uint64_t kHomePage = std::uint64_t{2} << 20;

// Finds the homes of a device whose kernels can be pinned. Where they cannot be found,
// Homes::reason says why; errors mean that the device failed. 2 to 20 s on a virtual GPU.
[[nodiscard]] Result<HomeMemory> discover_homes(ComputeHost& host, std::size_t pages,
                                                const std::function<void(double)>& progress);

// Homes beside a floorplan's quadrants.
struct FloorplanAgreement {
  std::string floorplan;
  bool agrees{};       // its millimetres may be used
  std::string reason;  // why not
  // Home in each of the floorplan's quadrants, where the order is known.
  std::vector<int> home_of;
  // Correlation of crossed latencies and distances in that order (less rows' and columns' means).
  double correlation{};
  std::optional<double> rank_correlation;  // Spearman's
};
[[nodiscard]] nlohmann::json to_json(const FloorplanAgreement& agreement);
// Finds the order in which latencies and the floorplan's distances go together best. They disagree
// where numbers of homes and engines differ, where another order is nearly as good, where latencies
// depart from the distances beyond the floorplan's declared errors (model::judge_latency_table), or
// where those errors leave the scale of distances open by 100% (Floorplan::scale_error_95).
[[nodiscard]] FloorplanAgreement compare_floorplan(const Homes& homes,
                                                   const model::Floorplan& plan);

// Offsets in the buffer [bytes] of `count` runs of `run_bytes` that live in a home, from one page.
// They go round the home's channels, so that runs in a row keep all of them busy. Error
// out_of_range: the page has not as many.
[[nodiscard]] Result<std::vector<std::uint32_t>> lines_of_home(const HomeMemory& memory, int home,
                                                               std::size_t page, std::size_t count,
                                                               std::size_t run_bytes);

}  // namespace ww::microbench
