// The topology as a picture: text for a terminal, and SVG.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "drawing/svg_writer.hpp"
#include "drawing/topology_die.hpp"
#include "ww/microbench/topology.hpp"
#include "ww/report/topology_picture.hpp"

namespace ww::report {
namespace {

using microbench::AddressMap;
using microbench::DriverLayout;
using microbench::LatencyMap;
using microbench::LatencyStructure;
using microbench::Sides;
using microbench::Topology;
using microbench::TopologyPlace;

// "0-3, 7, 9-11"
std::string ranges(std::vector<int> numbers) {
  std::ranges::sort(numbers);
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text +=
        last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return text.empty() ? "none" : text;
}

std::string bits_of(std::uint64_t mask) {
  std::string text;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((mask >> bit & 1) == 0) continue;
    text += fmt::format("{}a{}", text.empty() ? "" : "^", bit);
  }
  return text;
}

std::string size_text(std::int64_t bytes) {
  if (bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes % 1024 == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

std::string layout_text(const DriverLayout& layout) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (layout.dies) add(fmt::format("{} dies", *layout.dies));
  if (layout.engines) add(fmt::format("{} engines", *layout.engines));
  if (layout.compute_units) add(fmt::format("{} CUs", *layout.compute_units));
  if (layout.channels) add(fmt::format("{} channels", *layout.channels));
  if (layout.interleave_bytes)
    add(fmt::format("interleave {}", size_text(*layout.interleave_bytes)));
  if (layout.l2_bytes) add(fmt::format("L2 {}", size_text(*layout.l2_bytes)));
  return text.empty() ? "nothing" : fmt::format("{} ({})", text, layout.source);
}

std::string seen_text(const Topology& topology) {
  if (topology.places.empty()) return "not found: " + topology.places_reason;
  std::map<int, int> cus;
  for (const TopologyPlace& place : topology.places) ++cus[place.engine];
  if (topology.sides) return fmt::format("{} SMs", cus.size());
  std::string counts;
  for (const auto& [engine, count] : cus) counts += fmt::format(" {}", count);
  return fmt::format("{} engines of{} CUs, by the hardware ids of wavefronts", cus.size(), counts);
}

std::string address_text(const AddressMap& map) {
  if (!map.found) return "not found: " + map.reason;
  std::string text =
      fmt::format("{}, {} in a row; ", map.channels, size_text(map.interleave_bytes));
  if (map.form == AddressMap::Form::modulo) {
    text += fmt::format("channel = address / {} mod {}", map.interleave_bytes, map.channels);
  } else {
    for (std::size_t i = 0; i < map.masks.size(); ++i) {
      text += fmt::format("{}bit {} = {}", i == 0 ? "" : ", ", i, bits_of(map.masks[i]));
    }
  }
  return text +
         fmt::format(" (predicts {:.0f}% of {} pairs)", 100 * map.predicted_share, map.pairs);
}

struct Extent {
  double low{};
  double high{};
};
Extent extent(const std::vector<std::vector<double>>& table) {
  Extent range{table.front().front(), table.front().front()};
  for (const auto& row : table) {
    for (const double value : row) {
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
    }
  }
  return range;
}

// A table of engines against channels: cycles above the least, the nearest engine of each marked.
std::string latency_table(const Topology& topology) {
  const LatencyMap& map = topology.latency;
  const auto engines = topology.engines();
  const Extent range = extent(map.ticks);
  const std::size_t channels = map.ticks.front().size();
  std::string text;
  constexpr std::size_t most_columns = 16;
  for (std::size_t first = 0; first < channels; first += most_columns) {
    const std::size_t end = std::min(channels, first + most_columns);
    text += "\n  channel ";
    for (std::size_t c = first; c < end; ++c) text += fmt::format("{:>6}", c);
    text += '\n';
    for (std::size_t e = 0; e < map.ticks.size(); ++e) {
      text += fmt::format("  engine {}", engines[e]);
      for (std::size_t c = first; c < end; ++c) {
        text += fmt::format("{:>5.1f}{}", map.ticks[e][c] - range.low,
                            map.nearest_place[c] == static_cast<int>(e) ? '*' : ' ');
      }
      text += '\n';
    }
  }
  text += fmt::format("  (ticks above {:.1f}; * the nearest engine)\n", range.low);
  for (std::size_t e = 0; e < map.ticks.size(); ++e) {
    std::vector<int> near;
    for (std::size_t c = 0; c < channels; ++c) {
      if (map.nearest_place[c] == static_cast<int>(e)) near.push_back(static_cast<int>(c));
    }
    text += fmt::format("  near engine {}: channels {}\n", engines[e], ranges(near));
  }
  return text;
}

std::string sides_text(const Topology& topology) {
  const Sides& sides = *topology.sides;
  if (!sides.found) return "sides       not found: " + sides.reason + "\n";
  std::string text =
      fmt::format("sides       near {:.1f}, far {:.1f} ticks ({:.0f}% of the contrast)\n",
                  sides.near_ticks, sides.far_ticks, 100 * sides.explained);
  for (int side = 0; side < 2; ++side) {
    std::vector<int> sms;
    for (std::size_t i = 0; i < sides.side_of_place.size(); ++i) {
      if (sides.side_of_place[i] == side) sms.push_back(topology.places[i].engine);
    }
    text += fmt::format("  side {}    SMs {}\n", side, ranges(sms));
  }
  text += "  lines     ";
  text += sides.line_mask != 0
              ? fmt::format("side = {} within 2 MiB (predicts {:.0f}%)\n", bits_of(sides.line_mask),
                            100 * sides.predicted_line_share)
              : "side by address not found: " + sides.line_reason + "\n";
  return text;
}

// How latencies are made up. `place` is what a place is: an SM, or a CU.
std::string structure_text(const LatencyStructure& structure, const char* place) {
  std::string text = fmt::format(
      "structure   {} + line explain R2 {:.3f}, with a product of both {:.3f}; {:.2f} ticks are "
      "left\n  product   {:.0f}% of what depends on the pair, the next one {:.0f}%: {}\n",
      place, structure.additive_r2, structure.with_product_r2, structure.residual_ticks,
      100 * structure.product_share, 100 * structure.next_share,
      structure.found ? "it tells near from far" : "not used, " + structure.reason);
  if (!structure.fingerprint.empty()) {
    text += fmt::format(
        "  die       {} by the {}s' offsets{}: alike on the same die, or one with the same {}s "
        "off\n",
        structure.fingerprint, place,
        structure.fingerprint_stable ? "" : " (near a bound: may change from run to run)", place);
  }
  return text;
}

std::string cache_figure_text(const char* name, const microbench::CacheFigure& figure,
                              const char* unit) {
  return figure.value ? fmt::format(", {} {:.0f} {}", name, *figure.value, unit) : "";
}

// One line a level.
std::string caches_text(const Topology& topology) {
  if (!topology.caches) return "caches      not measured: " + topology.caches_reason + "\n";
  const microbench::Caches& caches = *topology.caches;
  std::string text = "caches\n";
  const auto add = [&text](const char* name, const microbench::CacheLevel& level) {
    text +=
        fmt::format("  {:<9} {:.1f} cycles (p50 {:.0f}, p95 {:.0f})", name,
                    level.latency.mean_cycles, level.latency.p50_cycles, level.latency.p95_cycles);
    text += cache_figure_text("size", level.size_bytes, "B") +
            cache_figure_text("line", level.line_bytes, "B") +
            cache_figure_text("fetches", level.fetch_bytes, "B") +
            cache_figure_text("reads", level.read_gib_s, "GiB/s") +
            cache_figure_text("writes", level.write_gib_s, "GiB/s") + "\n";
  };
  add("L1", caches.l1);
  add("scalar L1", caches.scalar_l1);
  add("local", caches.shared);
  add("L2", caches.l2);
  // Memory, or a cache before it that holds the working set, such as AMD's Infinity Cache.
  add("beyond L2", caches.memory);
  return text;
}

}  // namespace

std::string topology_picture(const microbench::Topology& topology) {
  std::string text =
      fmt::format("device      {}{}, {}, driver {}{}\n", topology.device,
                  topology.is_virtual ? " (virtual)" : "",
                  topology.target.empty() ? "target not told" : topology.target, topology.driver,
                  topology.from_cache ? "; from the cache (--fresh probes again)" : "");
  text += fmt::format("driver says {}\n", layout_text(topology.reported_by_driver));
  text += fmt::format("seen        {}\n", seen_text(topology));
  text += fmt::format("L2 channels {}\n", address_text(topology.address));
  const LatencyMap& latency = topology.latency;
  text += "latency     ";
  if (!latency.found) {
    text += "not found: " + latency.reason + "\n";
  } else {
    text += fmt::format("contrast {:.2f} ticks, noise {:.2f}\n", latency.contrast_ticks,
                        latency.noise_ticks);
  }
  if (topology.sides) {
    text += sides_text(topology);
    if (topology.structure) text += structure_text(*topology.structure, "SM");
  } else if (latency.found) {
    text += latency_table(topology);
    if (topology.structure) text += structure_text(*topology.structure, "CU");
  }
  text += caches_text(topology);
  return text;
}

namespace {

constexpr int kCell = 22;
constexpr int kSmallCell = 6;  // of many SMs and lines
constexpr int kGridLeft = 90;
constexpr int kGridTop = 92;
constexpr int kFoot = 64;  // the scale of colours below the cells

// Colour of a latency between the least and the most: near is dark.
int shade_of(double value, const Extent& range) {
  const double span = std::max(range.high - range.low, 1e-9);
  return 60 + static_cast<int>(std::lround(180 * (value - range.low) / span));
}

// The colours from near to far, with the latencies at both ends.
void add_scale(SvgWriter& svg, int y, const Extent& range) {
  constexpr int kSteps = 9;
  svg.add(R"(<text x="8" y="{}">latency</text>)", y + 12);
  for (int i = 0; i < kSteps; ++i) {
    const double value = range.low + (range.high - range.low) * i / (kSteps - 1);
    const int shade = shade_of(value, range);
    svg.add(R"svg(<rect x="{}" y="{}" width="{}" height="16" fill="rgb({},{},255)"/>)svg",
            kGridLeft + i * kCell, y, kCell, shade, shade);
  }
  svg.add(R"(<text x="{}" y="{}">{:.1f} ticks (near)</text>)", kGridLeft, y + 32, range.low);
  svg.add(R"(<text x="{}" y="{}">{:.1f} ticks (far)</text>)", kGridLeft + (kSteps - 1) * kCell,
          y + 32, range.high);
  svg.add(R"(<text x="{}" y="{}">ticks of the device's counter a load</text>)",
          kGridLeft + (kSteps + 1) * kCell, y + 12);
}

// The number of every channel above its column; of many columns every 16th.
void add_channel_numbers(SvgWriter& svg, int columns, int width, bool lines) {
  svg.add(R"(<text x="8" y="{}">{}</text>)", kGridTop - 8, lines ? "L2 line" : "L2 channel");
  for (int c = 0; c < columns; c += width == kCell ? 1 : 16) {
    svg.add(R"(<text x="{}" y="{}" text-anchor="middle">{}</text>)",
            kGridLeft + c * width + width / 2, kGridTop - 8, c);
  }
}

void add_cells(SvgWriter& svg, const Topology& topology, int width, int height,
               const Extent& range) {
  const auto& ticks = topology.latency.ticks;
  const auto names = topology.engines();
  const auto& nearest = topology.latency.nearest_place;
  for (std::size_t r = 0; r < ticks.size(); ++r) {
    const int y = kGridTop + static_cast<int>(r) * height;
    if (height == kCell || r % 8 == 0) {
      svg.add("<text x=\"8\" y=\"{}\">{} {}</text>", y + 15, topology.sides ? "SM" : "engine",
              names[r]);
    }
    for (std::size_t c = 0; c < ticks[r].size(); ++c) {
      const double value = ticks[r][c];
      const int x = kGridLeft + static_cast<int>(c) * width;
      const int shade = shade_of(value, range);
      svg.add(
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"rgb({},{},255)\">"
          "<title>{:.1f} ticks</title></rect>",
          x, y, width - 1, height - 1, shade, shade, value);
      const bool is_nearest = c < nearest.size() && nearest[c] == static_cast<int>(r);
      if (is_nearest && width == kCell && height == kCell) {
        svg.add(R"(<circle cx="{}" cy="{}" r="3" fill="#fff"/>)", x + width / 2, y + height / 2);
      }
    }
  }
}

}  // namespace

std::string topology_svg(const microbench::Topology& topology, const model::Floorplan* die) {
  const auto& ticks = topology.latency.ticks;
  const int rows = static_cast<int>(ticks.size());
  const int columns = rows == 0 ? 0 : static_cast<int>(ticks.front().size());
  const int width = columns > 64 ? kSmallCell : kCell;
  const int height = rows > 32 ? kSmallCell : kCell;
  const int across = kGridLeft + std::max(columns * width, 640) + 20;
  const int die_down = die == nullptr ? 0 : static_cast<int>(die_height(*die));
  const int foot = kGridTop + std::max(rows * height, 20) + 14;
  const int down = foot + kFoot + die_down;
  const auto title =
      fmt::format("{}{}: latency from {} (rows) to {} (columns)", topology.device,
                  topology.is_virtual ? " (virtual)" : "", topology.sides ? "SM" : "engine",
                  topology.sides ? "L2 line" : "L2 channel");
  const auto channels = "L2 channels: " + address_text(topology.address);
  SvgWriter svg({0, 0, static_cast<double>(across), static_cast<double>(down), title, channels,
                 fmt::format(R"(width="{}" height="{}" font-family="sans-serif" font-size="12")",
                             across, down)});
  svg.add(R"(<text x="8" y="20">{}</text>)", title);
  svg.add(R"(<text x="8" y="40">{}</text>)", channels);
  if (!topology.latency.found || rows == 0 || columns == 0) {
    svg.add(R"(<text x="8" y="60">latency not found: {}</text>)", topology.latency.reason);
    return svg.finish();
  }
  if (!topology.sides)
    svg.add(R"(<text x="8" y="60">white dot: the channel's nearest engine</text>)");
  const Extent range = extent(ticks);
  add_channel_numbers(svg, columns, width, topology.sides.has_value());
  add_cells(svg, topology, width, height, range);
  add_scale(svg, foot, range);
  if (die != nullptr) add_die(svg, *die, topology.latency.nearest_place, rows, foot + kFoot);
  return svg.finish();
}

}  // namespace ww::report
