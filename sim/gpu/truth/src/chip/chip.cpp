#include "ww/sim/gpu/chip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <tuple>
#include <utility>

#include "builtin_chips.hpp"
#include "chip/random_chip.hpp"
#include "chip_timeline.hpp"
#include "dies_ledger.hpp"
#include "draw.hpp"
#include "energy_ledger.hpp"
#include "file/chip_file.hpp"
#include "truth.hpp"
#include "ww/model/known_floorplans.hpp"
#include "ww/sim/gpu/chip_catalog.hpp"
#include "ww/sim/gpu/data_sheet.hpp"
#include "ww/sim/gpu/memory_home.hpp"

namespace ww::sim::gpu {
namespace {

Result<std::string> read_file(const std::filesystem::path& path) {
  std::error_code status;
  if (!std::filesystem::is_regular_file(path, status)) {
    return fail(ErrorCode::not_found, "no such chip or floorplan file", path.string());
  }
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) {
    return fail(ErrorCode::io_error, "cannot be read", path.string());
  }
  return std::move(text).str();
}

// The published floorplan's text: built in, beside the chip file, or the true geometry itself;
// empty where none is public.
Result<std::string> floorplan_text(const ChipSpec& spec, const std::filesystem::path& chip_file) {
  if (spec.floorplan == "none") {
    return std::string{};
  }
  if (spec.floorplan.empty()) {
    PublishedFloorplan exact;
    exact.name = spec.architecture.name;
    exact.estimated = false;
    exact.source = "the chip file itself";
    exact.geometry = spec.truth.geometry;
    return to_floorplan_toml(exact);
  }
  if (spec.floorplan.ends_with(".toml")) {
    return read_file(chip_file.parent_path() / spec.floorplan);
  }
  if (const auto text = model::known_floorplan(spec.floorplan)) {
    return std::string(*text);
  }
  return fail(ErrorCode::not_found,
              fmt::format("floorplan \"{}\" is neither built in nor a .toml file", spec.floorplan),
              chip_file.string());
}

class TruePowerSide final : public PowerSide {
 public:
  [[nodiscard]] std::unique_ptr<ActivityObserver> make_ledger(const Chip& chip) const override {
    return chip.architecture().dies > 1 ? make_dies_ledger(chip) : make_energy_ledger(chip);
  }
  [[nodiscard]] std::unique_ptr<PowerTimeline> make_timeline(const Chip& chip,
                                                             std::uint64_t seed) const override {
    return std::make_unique<ChipTimeline>(chip, seed);
  }
};

Status shape_error(const std::string& message, const std::string& key) {
  return fail(ErrorCode::out_of_range, message, key);
}

}  // namespace

double Truth::routed_distance_mm(int engine, int quadrant) const {
  double trunk = 0;
  const auto& members = geometry.quadrants[static_cast<std::size_t>(quadrant)];
  for (const int channel : members) {
    trunk += trunks[static_cast<std::size_t>(engine * channels() + channel)].length_mm;
  }
  const auto cus = geometry.compute_units[static_cast<std::size_t>(engine)].size();
  double leg = 0;
  for (std::size_t cu = 0; cu < cus; ++cu) {
    leg += legs[static_cast<std::size_t>(engine) * cus + cu].length_mm;
  }
  return trunk / static_cast<double>(members.size()) + leg / static_cast<double>(cus);
}

Status finish_truth(Truth& truth, const Architecture& architecture) {
  const Geometry& geometry = truth.geometry;
  const auto engines = static_cast<std::size_t>(architecture.shader_engines);
  const auto cus = static_cast<std::size_t>(architecture.cus_per_engine);
  const auto channels = static_cast<std::size_t>(architecture.l2_channels);
  for (const Geometry* each : {&geometry, &std::as_const(truth).published.geometry}) {
    const std::string which = each == &geometry ? "geometry" : "published floorplan";
    if (each->compute_units.size() != engines) {
      return shape_error(
          fmt::format("{} engines, {} expected", each->compute_units.size(), engines),
          which + ".engine");
    }
    for (const auto& engine : each->compute_units) {
      if (engine.size() != cus) {
        return shape_error(fmt::format("{} CUs in an engine, {} expected", engine.size(), cus),
                           which + ".engine.cu");
      }
    }
    if (each->l2_channels.size() != channels || each->memory_controllers.size() != channels) {
      return shape_error(
          fmt::format("{} L2 channels, {} expected", each->l2_channels.size(), channels),
          which + ".l2");
    }
    const std::vector<int> quadrant = each->quadrant_of_channel();
    std::size_t members = 0;
    for (const auto& row : each->quadrants) {
      members += row.size();
      if (row.empty()) {
        return shape_error("a quadrant without channels", which + ".quadrants");
      }
    }
    if (members != channels || std::find(quadrant.begin(), quadrant.end(), -1) != quadrant.end()) {
      return shape_error("every channel must be in exactly one quadrant", which + ".quadrants");
    }
  }
  if (truth.published.geometry.quadrants != geometry.quadrants) {
    return shape_error("published and true quadrants differ", "quadrants");
  }
  const auto zones = static_cast<std::size_t>(truth.zones());
  const double share =
      std::accumulate(truth.leakage.zone_share.begin(), truth.leakage.zone_share.end(), 0.0);
  if (truth.leakage.zone_share.size() != zones || std::abs(share - 1.0) > 1e-6) {
    return shape_error(fmt::format("{} shares that sum to 1 are needed (engines, quadrants, "
                                   "middle); there are {} and they sum to {}",
                                   zones, truth.leakage.zone_share.size(), share),
                       "leakage.zone_share");
  }

  const VariationTruth& variation = truth.variation;
  Draw draw(variation.seed);
  const auto around_one = [&](double spread) { return draw.uniform(1.0 - spread, 1.0 + spread); };
  truth.quadrant_of_channel = geometry.quadrant_of_channel();
  truth.trunks.clear();
  truth.legs.clear();
  truth.memory_links.clear();
  truth.engine_scale.clear();
  truth.slice_scale.clear();
  for (std::size_t engine = 0; engine < engines; ++engine) {
    for (std::size_t channel = 0; channel < channels; ++channel) {
      Truth::Link link;
      link.length_mm = manhattan_mm(geometry.hubs[engine], geometry.l2_channels[channel]) *
                       around_one(variation.trunk_detour);
      link.scale = around_one(variation.trunk_capacitance);
      if (!truth.wires.pair_scale.empty()) {
        link.scale *=
            truth.wires.pair_scale[engine * geometry.quadrants.size() +
                                   static_cast<std::size_t>(truth.quadrant_of_channel[channel])];
      }
      truth.trunks.push_back(link);
    }
  }
  double mean_mm = 0;
  for (const Truth::Link& link : truth.trunks) {
    mean_mm += link.length_mm / static_cast<double>(truth.trunks.size());
  }
  for (Truth::Link& link : truth.trunks) {
    link.scale *= std::max(0.0, 1.0 + truth.wires.growth_per_mm * (link.length_mm - mean_mm));
  }
  for (std::size_t engine = 0; engine < engines; ++engine) {
    for (std::size_t cu = 0; cu < cus; ++cu) {
      truth.legs.push_back({manhattan_mm(geometry.hubs[engine], geometry.compute_units[engine][cu]),
                            around_one(variation.leg_capacitance)});
    }
    truth.engine_scale.push_back(around_one(variation.engine_offset));
  }
  for (std::size_t channel = 0; channel < channels; ++channel) {
    truth.memory_links.push_back(
        {manhattan_mm(geometry.l2_channels[channel], geometry.memory_controllers[channel]),
         around_one(variation.memory_capacitance)});
    truth.slice_scale.push_back(around_one(variation.slice_offset));
  }
  return {};
}

namespace {

// The counters of gfx94, gfx10 and gfx11 are read as requests of 128 bytes, those of the others as
// of 64: a chip that asks otherwise would be counted wrong by two.
Status check_requests(const Architecture& architecture) {
  const bool wide = architecture.gfx_target.starts_with("gfx94") ||
                    architecture.gfx_target.starts_with("gfx10") ||
                    architecture.gfx_target.starts_with("gfx11");
  const int wanted = wide ? 128 : 64;
  if (architecture.l1_line_bytes != wanted ||
      (wide &&
       (architecture.l2_fetch_bytes != 128 || architecture.channel_interleave_bytes < 128))) {
    return fail(
        ErrorCode::out_of_range,
        fmt::format("the L1 of a chip of {} has lines of {} bytes: set l1_line_bytes = {}{}",
                    architecture.gfx_target, wanted, wanted,
                    wide ? ", l2_fetch_bytes = 128, and channel_interleave_bytes to 128 or "
                           "more"
                         : ""),
        "architecture.l1_line_bytes");
  }
  return {};
}

Status check_tags(const Architecture& architecture) {
  if (architecture.l2_line_bytes % 64 == 0 &&
      architecture.l2_line_bytes <= architecture.channel_interleave_bytes) {
    return {};
  }
  return fail(ErrorCode::out_of_range,
              fmt::format("a tag of the L2 stands for 64 or 128 bytes of one channel, not for {}",
                          architecture.l2_line_bytes),
              "architecture.l2_line_bytes");
}

Status check_scalar_cache(const Architecture& architecture) {
  constexpr int kSetBytes = 4 * 64;
  if (architecture.scalar_cache_bytes % kSetBytes == 0) return {};
  return fail(ErrorCode::out_of_range,
              fmt::format("the scalar cache has sets of {} bytes, and {} are no whole sets",
                          kSetBytes, architecture.scalar_cache_bytes),
              "architecture.scalar_cache_bytes");
}

Status check_arrays(const Architecture& architecture) {
  if (architecture.shader_engines % architecture.arrays_per_engine() == 0) return {};
  return fail(ErrorCode::out_of_range,
              fmt::format("two shader arrays make an engine of {}, and {} were given",
                          architecture.gfx_target, architecture.shader_engines),
              "architecture.shader_engines");
}

Status check_set_hash(const Architecture& architecture) {
  if (architecture.l2_set_hash_bits == 0) return {};
  const std::int64_t sets = architecture.l2_bytes / architecture.line_bytes /
                            architecture.l2_channels / architecture.l2_ways;
  if (std::has_single_bit(static_cast<std::uint64_t>(sets)) &&
      sets >= std::int64_t{4} << architecture.l2_set_hash_bits) {
    return {};
  }
  return fail(ErrorCode::out_of_range,
              fmt::format("{} sets of a channel; a hash of {} bits needs a power of two from {} on",
                          sets, architecture.l2_set_hash_bits, 4 << architecture.l2_set_hash_bits),
              "architecture.l2_set_hash_bits");
}

Status check_gl1(const Architecture& architecture) {
  if (architecture.gl1_bytes == 0) return {};
  const std::string& target = architecture.gfx_target;
  if (!target.starts_with("gfx10") && !target.starts_with("gfx11")) {
    return fail(ErrorCode::out_of_range,
                fmt::format("{} has no cache of a shader array; gfx10 and gfx11 have", target),
                "architecture.gl1_bytes");
  }
  const std::int64_t smallest = std::int64_t{128} * architecture.gl1_ways;
  if (architecture.gl1_bytes < smallest || architecture.gl1_hit_cycles < 1) {
    return fail(ErrorCode::out_of_range,
                fmt::format("{} ways need {} bytes or more, and a hit takes a cycle or more",
                            architecture.gl1_ways, smallest),
                "architecture.gl1_bytes");
  }
  return {};
}

// A driver divides a package's memory into no more parts than its dies (SPX goes with NPS1, CPX
// with NPS1 and NPS4: AMD SMI, "GPU partitioning").
Status check_devices(const Architecture& architecture) {
  const auto& [dies, devices, domains] =
      std::tie(architecture.dies, architecture.devices, architecture.memory_domains);
  if (dies % devices != 0 || devices % domains != 0) {
    return fail(ErrorCode::out_of_range,
                fmt::format("{} dies make no {} equal devices in {} domains of memory", dies,
                            devices, domains),
                "architecture.devices");
  }
  const bool pair = architecture.xgmi_links != 0;
  if (pair &&
      (dies != 2 || devices != 2 || domains != 2 || architecture.infinity_cache_bytes != 0)) {
    return fail(ErrorCode::out_of_range,
                "links join two dies that are two devices, each with memory of its own and no "
                "Infinity Cache",
                "architecture.xgmi_links");
  }
  if (!pair && domains != 1 && (domains != MemoryHome::kIoDies || dies != 2 * domains)) {
    return fail(ErrorCode::out_of_range,
                fmt::format("eight dies stand on {} I/O dies, each of which is a domain of memory, "
                            "or all are one",
                            MemoryHome::kIoDies),
                "architecture.memory_domains");
  }
  return {};
}

// Dies of one device are distinguished by XCC_ID, which gfx94 alone has.
Status check_dies(const Architecture& architecture) {
  WW_TRY(check_devices(architecture));
  if (architecture.cus_off_per_die > architecture.shader_engines) {
    return fail(
        ErrorCode::out_of_range,
        fmt::format("at most one CU of each of {} engines is off", architecture.shader_engines),
        "architecture.cus_off_per_die");
  }
  const int slices = architecture.dies > 1 ? MemoryHome::kSlices : architecture.l2_channels;
  const std::int64_t smallest = std::int64_t{64} * slices * architecture.infinity_cache_ways;
  const bool cached = (architecture.dies > 1 && architecture.xgmi_links == 0) ||
                      architecture.infinity_cache_bytes != 0;
  if (cached && architecture.infinity_cache_bytes < smallest) {
    return fail(ErrorCode::out_of_range,
                fmt::format("{} slices of {} ways need {} bytes or more", slices,
                            architecture.infinity_cache_ways, smallest),
                "architecture.infinity_cache_bytes");
  }
  if (architecture.dies == 1) {
    if (!cached || architecture.gfx_target.starts_with("gfx1")) return {};
    return fail(
        ErrorCode::out_of_range,
        fmt::format("on one die, {} has no Infinity Cache; RDNA has", architecture.gfx_target),
        "architecture.infinity_cache_bytes");
  }
  if (architecture.dies_per_device() > 1 && !architecture.gfx_target.starts_with("gfx94")) {
    return fail(
        ErrorCode::out_of_range,
        fmt::format(
            "several dies of a device need gfx942, whose programs can read on which they run; "
            "the chip has {}",
            architecture.gfx_target),
        "architecture.dies");
  }
  return {};
}

}  // namespace

Result<Chip> ChipBuilder::build(ChipRequest request, Architecture architecture, Truth truth,
                                std::string public_floorplan_toml) {
  if (public_floorplan_toml.empty()) {
    truth.published = {};
    truth.published.geometry = truth.geometry;  // its shape alone is looked at
    truth.published.hidden = true;
  } else {
    const std::string origin = fmt::format("floorplan of {}", architecture.name);
    WW_ASSIGN(published, parse_published_floorplan(public_floorplan_toml, origin));
    truth.published = std::move(published);
  }
  if (architecture.dvfs.empty() || architecture.reference_state < 0 ||
      static_cast<std::size_t>(architecture.reference_state) >= architecture.dvfs.size()) {
    return fail(ErrorCode::out_of_range, "the reference state is not in the list", "dvfs");
  }
  WW_TRY(check_requests(architecture));
  WW_TRY(check_tags(architecture));
  WW_TRY(check_scalar_cache(architecture));
  WW_TRY(check_arrays(architecture));
  WW_TRY(check_gl1(architecture));
  WW_TRY(check_set_hash(architecture));
  WW_TRY(check_dies(architecture));
  WW_TRY(check_channel_map(architecture.channel_map, architecture.l2_channels,
                           architecture.channel_interleave_bytes));
  WW_TRY(finish_truth(truth, architecture));
  Chip chip;
  // The emulator counts core cycles; flight is in the fabric's.
  const double core_per_fabric =
      architecture.dvfs[static_cast<std::size_t>(architecture.reference_state)].clock_hz /
      truth.fabric.clock_hz;
  for (int engine = 0; engine < architecture.shader_engines; ++engine) {
    for (int cu = 0; cu < architecture.cus_per_engine; ++cu) {
      for (int channel = 0; channel < architecture.l2_channels; ++channel) {
        const auto trunk = static_cast<std::size_t>(engine * architecture.l2_channels + channel);
        const auto leg = static_cast<std::size_t>(engine * architecture.cus_per_engine + cu);
        const double way = truth.trunks[trunk].length_mm + truth.legs[leg].length_mm;
        const double fabric_cycles =
            truth.fabric.port_cycles + std::ceil(2.0 * way / truth.fabric.mm_per_cycle);
        chip.crossbar_cycles_.push_back(
            static_cast<int>(std::ceil(fabric_cycles * core_per_fabric)));
      }
    }
  }
  chip.architecture_ = std::move(architecture);
  chip.request_ = std::move(request);
  chip.public_floorplan_ = std::move(public_floorplan_toml);
  chip.truth_ = std::make_shared<const Truth>(std::move(truth));
  chip.power_side_ = std::make_shared<const TruePowerSide>();
  return chip;
}

namespace {

// Resolves a request that is not drawn: the text of a chip file, and where it comes from.
struct ChipText {
  std::string toml;
  std::string origin;
  std::filesystem::path file;  // empty for a built-in chip
};

Result<ChipText> chip_text(const std::string& chip) {
  if (chip.ends_with(".toml")) {
    WW_ASSIGN(content, read_file(chip));
    return ChipText{std::move(content), chip, chip};
  }
  if (const auto builtin = builtin_chip_toml(chip)) {
    return ChipText{std::string(*builtin), fmt::format("sim/gpu/chips/{}.toml", chip), {}};
  }
  return fail(
      ErrorCode::not_found,
      fmt::format("unknown chip \"{}\"; one of {}, random, random_rdna, or a path ending in .toml",
                  chip, builtin_chip_names()));
}

}  // namespace

Result<Chip> Chip::load(const ChipRequest& request) {
  if (request.is_drawn()) {
    return draw_chip(request);
  }
  WW_ASSIGN(text, chip_text(request.chip));
  WW_ASSIGN(spec, parse_chip(text.toml, text.origin));
  WW_ASSIGN(floorplan, floorplan_text(spec, text.file));
  ChipRequest made = request;
  made.chip_class = spec.truth.chip_class;
  made.seed = 0;
  auto chip = ChipBuilder::build(std::move(made), std::move(spec.architecture),
                                 std::move(spec.truth), std::move(floorplan));
  if (!chip && !chip.error().context.starts_with(text.origin)) {
    return fail(chip.error().code, chip.error().message,
                fmt::format("{}: {}", text.origin, chip.error().context));
  }
  return chip;
}

std::vector<BuiltinChip> builtin_chips() {
  std::vector<BuiltinChip> chips;
  std::istringstream list{std::string(builtin_chip_names())};
  for (std::string name; std::getline(list >> std::ws, name, ',');) {
    BuiltinChip chip{name, name};
    if (const auto spec = parse_chip(*builtin_chip_toml(name), name)) {
      chip.description =
          spec->architecture.dies > 1
              ? fmt::format("{}, {}, {}{} dies of {} CUs", spec->title,
                            spec->architecture.gfx_target,
                            spec->architecture.devices > 1
                                ? fmt::format("{} devices, ", spec->architecture.devices)
                                : "",
                            spec->architecture.dies,
                            spec->architecture.compute_units() / spec->architecture.dies)
              : fmt::format("{}, {}, {} engines of {} CUs", spec->title,
                            spec->architecture.gfx_target, spec->architecture.shader_engines,
                            spec->architecture.cus_per_engine);
    }
    chips.push_back(std::move(chip));
  }
  return chips;
}

Result<std::string> chip_sheet(const ChipRequest& request) {
  if (request.is_drawn()) {
    WW_ASSIGN(chip, draw_chip(request));
    return to_toml({"a drawn chip", chip.architecture()});
  }
  WW_ASSIGN(text, chip_text(request.chip));
  WW_ASSIGN(spec, parse_chip(text.toml, text.origin));
  return to_toml({spec.title, spec.architecture});
}

}  // namespace ww::sim::gpu
