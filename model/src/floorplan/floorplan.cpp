#include "ww/model/floorplan.hpp"

#include <toml++/toml.h>
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <set>

#include "ww/core/atomic_file.hpp"

namespace ww::model {
namespace {

// Dies beyond the reticle limit (about 33 mm) exist only as several reticles; 100 mm is absurd.
constexpr double kLargestDieMm = 100.0;
constexpr std::string_view kFormerTolerance = "distance_tolerance_95";
constexpr std::size_t kMaxEngines = 64;
constexpr std::size_t kMaxUnits = 256;
constexpr std::size_t kMaxChannels = 1024;

double manhattan_mm(const Point& a, const Point& b) {
  return std::abs(a.x_mm - b.x_mm) + std::abs(a.y_mm - b.y_mm);
}

// Reads one floorplan; every error names origin, line and key.
class Reader {
 public:
  explicit Reader(std::string origin) : origin_(std::move(origin)) {}

  Result<Floorplan> read(const toml::table& root) {
    Floorplan plan;
    WW_TRY(
        only(root, "",
             {"name", "estimated", "source", "width_mm", "height_mm", "registers_to_l1_mm",
              "position_error_95_mm", kFormerTolerance, "quadrants", "evidence", "engine", "l2"}));
    WW_ASSIGN(name, text(root, "name"));
    plan.name = name;
    WW_ASSIGN(source, text(root, "source"));
    plan.source = source;
    WW_ASSIGN(estimated_node, need(root, "", "estimated"));
    const auto estimated = estimated_node->value_exact<bool>();
    if (!estimated) return wrong(*estimated_node, "estimated", "must be true or false");
    plan.estimated = *estimated;
    WW_ASSIGN(width, number(root, "", "width_mm", 0.1, kLargestDieMm));
    WW_ASSIGN(height, number(root, "", "height_mm", 0.1, kLargestDieMm));
    WW_ASSIGN(registers, number(root, "", "registers_to_l1_mm", 0.0, kLargestDieMm));
    // A recording of an earlier version declares a share of all distances, which had no source.
    double position_mm = kUnstatedPositionErrorMm;
    if (!root.contains(kFormerTolerance) || root.contains("position_error_95_mm")) {
      WW_ASSIGN(stated, number(root, "", "position_error_95_mm", 0.0, kLargestDieMm));
      position_mm = stated;
    }
    plan.width = Millimetre(width);
    plan.height = Millimetre(height);
    plan.registers_to_l1 = Millimetre(registers);
    plan.position_error_95 = Millimetre(position_mm);
    width_mm_ = width;
    height_mm_ = height;
    WW_TRY(read_engines(root, plan));
    WW_TRY(read_channels(root, plan));
    WW_TRY(read_quadrants(root, plan));
    WW_TRY(read_evidence(root, plan));
    return plan;
  }

 private:
  using Node = const toml::node*;

  std::string at(const toml::node& node) const {
    return origin_ + ":" + std::to_string(node.source().begin.line);
  }
  tl::unexpected<Error> wrong(const toml::node& node, const std::string& key,
                              const std::string& what) const {
    return fail(ErrorCode::parse_error, "key '" + key + "' " + what, at(node));
  }
  tl::unexpected<Error> outside(const toml::node& node, const std::string& key,
                                const std::string& what) const {
    return fail(ErrorCode::out_of_range, "key '" + key + "' " + what, at(node));
  }

  Status only(const toml::table& table, const std::string& where,
              std::initializer_list<std::string_view> known) const {
    for (const auto& [key, node] : table) {
      if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
        return fail(ErrorCode::parse_error, "unknown key '" + where + std::string(key.str()) + "'",
                    origin_ + ":" + std::to_string(key.source().begin.line));
      }
    }
    return {};
  }

  Result<Node> need(const toml::table& table, const std::string& where,
                    std::string_view key) const {
    if (const toml::node* node = table.get(key)) return node;
    return fail(ErrorCode::parse_error, "missing key '" + where + std::string(key) + "'",
                at(table));
  }

  Result<std::string> text(const toml::table& table, std::string_view key) const {
    WW_ASSIGN(node, need(table, "", key));
    const auto value = node->value_exact<std::string>();
    if (!value || value->empty()) return wrong(*node, std::string(key), "must be a non-empty text");
    return *value;
  }

  Result<double> number(const toml::table& table, const std::string& where, std::string_view key,
                        double low, double high) const {
    WW_ASSIGN(node, need(table, where, key));
    const auto value = node->is_number() ? node->value<double>() : std::nullopt;
    if (!value) return wrong(*node, where + std::string(key), "must be a number");
    if (!(*value >= low && *value <= high)) {
      return outside(*node, where + std::string(key),
                     "must lie between " + std::to_string(low) + " and " + std::to_string(high));
    }
    return *value;
  }

  Result<Point> point(const toml::node& node, const std::string& key) const {
    const toml::array* pair = node.as_array();
    if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_number() ||
        !(*pair)[1].is_number()) {
      return wrong(node, key, "must be a point [x_mm, y_mm]");
    }
    const Point p{(*pair)[0].value<double>().value_or(-1), (*pair)[1].value<double>().value_or(-1)};
    if (!(p.x_mm >= 0 && p.x_mm <= width_mm_ && p.y_mm >= 0 && p.y_mm <= height_mm_)) {
      return outside(node, key, "lies outside the die");
    }
    return p;
  }

  Result<const toml::array*> tables(const toml::table& root, std::string_view key,
                                    std::size_t most) const {
    WW_ASSIGN(node, need(root, "", key));
    const toml::array* list = node->as_array();
    if (list == nullptr || list->empty() || !list->is_homogeneous(toml::node_type::table)) {
      return wrong(*node, std::string(key), "must be one or more [[" + std::string(key) + "]]");
    }
    if (list->size() > most) {
      return outside(*node, std::string(key), "has more than " + std::to_string(most) + " entries");
    }
    return list;
  }

  Status read_engines(const toml::table& root, Floorplan& plan) const {
    WW_ASSIGN(engines, tables(root, "engine", kMaxEngines));
    for (const toml::node& entry : *engines) {
      const toml::table& engine = *entry.as_table();
      WW_TRY(only(engine, "engine.", {"cu"}));
      WW_ASSIGN(node, need(engine, "engine.", "cu"));
      const toml::array* units = node->as_array();
      if (units == nullptr || units->empty()) {
        return wrong(*node, "engine.cu", "must list at least one point");
      }
      if (units->size() > kMaxUnits) return outside(*node, "engine.cu", "has too many points");
      std::vector<Point> points;
      for (const toml::node& unit : *units) {
        WW_ASSIGN(p, point(unit, "engine.cu"));
        points.push_back(p);
      }
      plan.compute_units.push_back(std::move(points));
    }
    return {};
  }

  Status read_channels(const toml::table& root, Floorplan& plan) const {
    WW_ASSIGN(channels, tables(root, "l2", kMaxChannels));
    for (const toml::node& entry : *channels) {
      const toml::table& channel = *entry.as_table();
      WW_TRY(only(channel, "l2.", {"at", "memory_controller"}));
      WW_ASSIGN(at_node, need(channel, "l2.", "at"));
      WW_ASSIGN(place, point(*at_node, "l2.at"));
      WW_ASSIGN(controller_node, need(channel, "l2.", "memory_controller"));
      WW_ASSIGN(controller, point(*controller_node, "l2.memory_controller"));
      plan.l2_channels.push_back(place);
      plan.memory_controllers.push_back(controller);
    }
    return {};
  }

  Status read_quadrants(const toml::table& root, Floorplan& plan) const {
    WW_ASSIGN(node, need(root, "", "quadrants"));
    const toml::array* list = node->as_array();
    if (list == nullptr || list->empty()) {
      return wrong(*node, "quadrants", "must be lists of channel numbers");
    }
    std::set<int> seen;
    for (const toml::node& entry : *list) {
      const toml::array* members = entry.as_array();
      if (members == nullptr || members->empty()) {
        return wrong(entry, "quadrants", "must be non-empty lists of channel numbers");
      }
      std::vector<int> channels;
      for (const toml::node& member : *members) {
        const auto channel = member.value_exact<std::int64_t>();
        if (!channel) return wrong(member, "quadrants", "must hold whole channel numbers");
        if (*channel < 0 || *channel >= static_cast<std::int64_t>(plan.l2_channels.size())) {
          return outside(member, "quadrants",
                         "names channel " + std::to_string(*channel) + ", which has no [[l2]]");
        }
        if (!seen.insert(static_cast<int>(*channel)).second) {
          return outside(member, "quadrants",
                         "names channel " + std::to_string(*channel) + " twice");
        }
        channels.push_back(static_cast<int>(*channel));
      }
      plan.quadrants.push_back(std::move(channels));
    }
    if (seen.size() != plan.l2_channels.size()) {
      return outside(*node, "quadrants", "leaves out some of the [[l2]] channels");
    }
    return {};
  }

  // A block cannot be off by more than the floorplan declares for all of them.
  Status read_evidence(const toml::table& root, Floorplan& plan) const {
    if (!root.contains("evidence")) return {};
    WW_ASSIGN(entries, tables(root, "evidence", kMaxChannels));
    for (const toml::node& entry : *entries) {
      const toml::table& table = *entry.as_table();
      WW_TRY(only(table, "evidence.", {"block", "source", "url", "error_95_mm", "inferred"}));
      BlockEvidence evidence;
      WW_ASSIGN(block, text(table, "block"));
      evidence.block = block;
      WW_ASSIGN(source, text(table, "source"));
      evidence.source = source;
      if (table.contains("url")) {
        WW_ASSIGN(url, text(table, "url"));
        evidence.url = url;
      }
      WW_ASSIGN(error_mm,
                number(table, "evidence.", "error_95_mm", 0.0, plan.position_error_95.value()));
      evidence.error_95 = Millimetre(error_mm);
      WW_ASSIGN(inferred_node, need(table, "evidence.", "inferred"));
      const auto inferred = inferred_node->value_exact<bool>();
      if (!inferred) return wrong(*inferred_node, "evidence.inferred", "must be true or false");
      evidence.inferred = *inferred;
      plan.evidence.push_back(std::move(evidence));
    }
    return {};
  }

  std::string origin_;
  double width_mm_{};
  double height_mm_{};
};

}  // namespace

Millimetre Floorplan::distance(int engine, int quadrant) const {
  const auto& units = compute_units.at(static_cast<std::size_t>(engine));
  const auto& channels = quadrants.at(static_cast<std::size_t>(quadrant));
  double sum_mm = 0;
  for (const Point& unit : units) {
    for (const int channel : channels) {
      sum_mm += manhattan_mm(unit, l2_channels.at(static_cast<std::size_t>(channel)));
    }
  }
  return Millimetre(sum_mm / static_cast<double>(units.size() * channels.size()));
}

Millimetre Floorplan::l2_to_memory() const {
  double sum_mm = 0;
  for (std::size_t c = 0; c < l2_channels.size(); ++c) {
    sum_mm += manhattan_mm(l2_channels[c], memory_controllers.at(c));
  }
  return Millimetre(l2_channels.empty() ? 0.0 : sum_mm / static_cast<double>(l2_channels.size()));
}

namespace {

// Distances of engines and quadrants [mm], rows and columns centred: what the energy per millimetre
// comes from.
std::vector<double> centred_distances(const Floorplan& plan) {
  const std::size_t rows = plan.compute_units.size();
  const std::size_t columns = plan.quadrants.size();
  std::vector<double> d(rows * columns);
  std::vector<double> row(rows, 0);
  std::vector<double> column(columns, 0);
  double mean = 0;
  for (std::size_t e = 0; e < rows; ++e) {
    for (std::size_t q = 0; q < columns; ++q) {
      const double mm = plan.distance(static_cast<int>(e), static_cast<int>(q)).value();
      d[e * columns + q] = mm;
      row[e] += mm / static_cast<double>(columns);
      column[q] += mm / static_cast<double>(rows);
      mean += mm / static_cast<double>(rows * columns);
    }
  }
  for (std::size_t e = 0; e < rows; ++e) {
    for (std::size_t q = 0; q < columns; ++q) d[e * columns + q] += mean - row[e] - column[q];
  }
  return d;
}

// Moves points by `mm` away from the die's middle, along x or y.
struct Outward {
  bool along_y{};
  double mm{};
  void apply(Point& point, const Floorplan& plan) const {
    double& at = along_y ? point.y_mm : point.x_mm;
    const double middle = (along_y ? plan.height : plan.width).value() / 2;
    at += at < middle ? -mm : mm;
  }
};

}  // namespace

double Floorplan::scale_error_95() const {
  const std::vector<double> exact = centred_distances(*this);
  double square = 0;
  for (const double mm : exact) square += mm * mm;
  if (!(square > 1e-12)) return 1;
  // The share by which the projection on the published distances changes.
  const auto change = [&](const Floorplan& moved) {
    const std::vector<double> other = centred_distances(moved);
    double product = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) product += exact[i] * other[i];
    return product / square - 1;
  };
  double variance = 0;
  const auto add = [&](const auto& move_points) {
    for (const bool along_y : {false, true}) {
      double most = 0;
      for (const double mm : {position_error_95.value(), -position_error_95.value()}) {
        Floorplan moved = *this;
        move_points(moved, Outward{along_y, mm});
        most = std::max(most, std::abs(change(moved)));
      }
      variance += most * most;
    }
  };
  add([this](Floorplan& moved, const Outward& move) {
    for (auto& engine : moved.compute_units) {
      for (Point& unit : engine) move.apply(unit, *this);
    }
  });
  add([this](Floorplan& moved, const Outward& move) {
    for (Point& channel : moved.l2_channels) move.apply(channel, *this);
  });
  return std::sqrt(variance);
}

Millimetre Floorplan::route_error_95() const {
  return position_error_95 * 2.0;
}

Result<Floorplan> parse_floorplan(std::string_view toml_text, const std::string& origin) {
  try {
    return Reader(origin).read(toml::parse(toml_text, origin));
  } catch (const toml::parse_error& error) {
    return fail(ErrorCode::parse_error, std::string(error.description()),
                origin + ":" + std::to_string(error.source().begin.line));
  }
}

Result<Floorplan> load_floorplan(const std::filesystem::path& file) {
  WW_ASSIGN(text, read_file(file));
  return parse_floorplan(text, file.string());
}

}  // namespace ww::model
