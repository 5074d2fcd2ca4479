// The times that the probe gives, beside those that a virtual chip's wires take by its sealed
// truth. One chip a process: WW_TEST_CHIP chooses it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "device/device.hpp"
#include "device/topology_probe.hpp"
#include "host/pinning.hpp"
#include "ww/sim/gpu/chip.hpp"

namespace ww::microbench {
namespace {

using sim::gpu::Chip;
using Row = std::vector<double>;

// A line of each channel: offsets in the region, whose address is `base`.
std::vector<std::uint32_t> line_of_each_channel(const Chip& chip, std::uint64_t base) {
  const auto& architecture = chip.architecture();
  const auto interleave = static_cast<std::uint32_t>(architecture.channel_interleave_bytes);
  const sim::gpu::ChannelLookup lookup(architecture.channel_map, architecture.l2_channels,
                                       architecture.channel_interleave_bytes);
  std::map<std::uint32_t, std::uint32_t> lines;
  for (std::uint32_t offset = 0; std::ssize(lines) < architecture.l2_channels;
       offset += interleave) {
    lines.emplace(lookup.channel((base + offset - sim::gpu::kDeviceBase) / interleave), offset);
  }
  std::vector<std::uint32_t> offsets;
  for (const auto& [channel, offset] : lines) offsets.push_back(offset);
  return offsets;
}

Row above_first(const Row& times) {
  Row above;
  for (const double time : times) above.push_back(time - times.front());
  return above;
}

// How much later each channel answers than the first one, of every compute unit of an engine.
std::set<Row> true_rows(const Chip& chip, int engine) {
  const auto& architecture = chip.architecture();
  const int arrays = architecture.arrays_per_engine();
  std::set<Row> rows;
  for (int array = engine * arrays; array < (engine + 1) * arrays; ++array) {
    for (int cu = 0; cu < architecture.cus_per_engine; ++cu) {
      Row times;
      for (int channel = 0; channel < architecture.l2_channels; ++channel) {
        times.push_back(chip.crossbar_cycles(array, cu, channel));
      }
      rows.insert(above_first(times));
    }
  }
  return rows;
}

// A wavefront issues every fourth cycle, and the chip's flights take whole ones: the mean over
// accesses that come back 0 to 3 cycles later has no rounding left in it.
TEST(FlightTimes, AreTheChipsToTheCycle) {
  const char* const chosen = std::getenv("WW_TEST_CHIP");
  const std::string name = chosen != nullptr ? chosen : "w9100";
  const auto chip = Chip::load({.chip = name});
  ASSERT_TRUE(chip) << chip.error().text();
  DeviceRequest request;
  request.name = "virtual:" + name;
  const auto device = open_device(request, request.name);
  ASSERT_TRUE(device) << device.error().text();
  const HostFacts facts = device->host->facts();
  const auto pinning = make_pinning(facts.target);
  ASSERT_TRUE(pinning) << pinning.error().text();
  Prober prober(*device->host, pinning->get(), {});
  ASSERT_TRUE(prober.set_up());
  const auto places = prober.places(facts.compute_units);
  ASSERT_TRUE(places) << places.error().text();
  AddressMap address;
  address.interleave_bytes = chip->architecture().channel_interleave_bytes;
  ASSERT_EQ(lines_at_once(address), 4U);
  const auto table = prober.latencies(
      *places, line_of_each_channel(*chip, prober.address_of_region()), lines_at_once(address));
  ASSERT_TRUE(table) << table.error().text();
  for (std::size_t p = 0; p < places->size(); ++p) {
    const int engine = (*places)[p].engine;
    EXPECT_TRUE(true_rows(*chip, engine).contains(above_first((*table)[p])))
        << "engine " << engine << " CU " << (*places)[p].cu << ": "
        << ::testing::PrintToString(above_first((*table)[p]));
  }
}

}  // namespace
}  // namespace ww::microbench
