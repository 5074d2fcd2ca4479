// Topologies from files: TOML, and the network files of BookSim's anynet.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "network/graph/topologies.hpp"
#include "ww/core/atomic_file.hpp"

namespace ww::sim::net::graph {
namespace {

// Limit in cycles. A network keeps a list of events for each cycle that a flit may be under way.
constexpr std::uint32_t kMaxLinkDelay = 4096;

Error error_at(const std::string& origin, std::size_t line, const std::string& key,
               const std::string& message, ErrorCode code = ErrorCode::bad_data) {
  return Error{
      code, fmt::format("{}:{}: {}{}{}", origin, line, key, key.empty() ? "" : ": ", message), key};
}

// The settings of routes in a file.
struct Ways {
  std::string routing{"minimal"};
  std::string escape{"up-down"};  // of adaptive routing
  std::vector<Position> positions;
};

Result<Routes> routes_for(const Wiring& wiring, std::string_view routing, const Ways& ways,
                          const std::string& origin) {
  if (routing == "minimal") {
    return minimal_routes(wiring);
  }
  if (routing == "up-down") {
    return up_down_routes(wiring);
  }
  if (routing == "dimension-order") {
    if (ways.positions.empty()) {
      return fail(ErrorCode::bad_data,
                  origin + ": routing dimension-order needs `positions`, an [x, y] for each router",
                  "routing");
    }
    return dimension_order_routes(wiring, ways.positions);
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("{}: routing '{}' is unknown; minimal, up-down, dimension-order, or "
                          "adaptive with one of these as its escape",
                          origin, routing),
              "routing");
}

Result<Topology> finish(Wiring wiring, const Ways& ways, const std::string& origin) {
  Topology topology{std::move(wiring), {}};
  if (topology.wiring.terminals.size() < 2) {
    return fail(ErrorCode::bad_data, origin + ": a network needs two nodes", "nodes");
  }
  const bool adaptive = ways.routing == "adaptive";
  WW_ASSIGN(routes,
            routes_for(topology.wiring, adaptive ? ways.escape : ways.routing, ways, origin));
  if (adaptive) {
    routes.make_escape_of(distances(topology.wiring));
  }
  topology.routes = std::move(routes);
  return topology;
}

// One table of a TOML file. The first error stays; after it, every value is harmless.
class Table {
 public:
  Table(const toml::table& table, const std::string& origin, std::optional<Error>& error)
      : table_(table), origin_(origin), error_(error) {}

  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }
  double number(std::string_view key, double low, double high, std::optional<double> otherwise) {
    return number_of(find(key, !otherwise), key, low, high, otherwise.value_or(low));
  }
  std::uint32_t count(std::string_view key, double low, double high,
                      std::optional<double> otherwise = std::nullopt) {
    const double value = number(key, low, high, otherwise);
    if (value != std::floor(value)) {
      refuse(find(key, false), key, "is not a whole number");
    }
    return static_cast<std::uint32_t>(value);
  }
  std::string text(std::string_view key, const std::string& otherwise) {
    const toml::node* node = find(key, false);
    if (node == nullptr) {
      return otherwise;
    }
    if (!node->is_string()) {
      refuse(node, key, "is not a text");
    }
    return node->value_or(otherwise);
  }
  bool flag(std::string_view key, bool otherwise) {
    const toml::node* node = find(key, false);
    if (node != nullptr && !node->is_boolean()) {
      refuse(node, key, "is neither true nor false");
    }
    return node == nullptr ? otherwise : node->value_or(otherwise);
  }
  std::vector<double> list(std::string_view key, double low, double high) {
    std::vector<double> values;
    const toml::node* node = find(key, true);
    const toml::array* array = node == nullptr ? nullptr : node->as_array();
    if (node != nullptr && array == nullptr) {
      refuse(node, key, "is not a list");
    }
    for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
      values.push_back(number_of(array->get(i), key, low, high, low));
      if (values.back() != std::floor(values.back())) {
        refuse(array->get(i), key, "is not a list of whole numbers");
      }
    }
    return values;
  }
  std::vector<Table> tables(std::string_view key) {
    std::vector<Table> found;
    const toml::node* node = find(key, false);
    const toml::array* array = node == nullptr ? nullptr : node->as_array();
    if (node != nullptr && (array == nullptr || !array->is_array_of_tables())) {
      refuse(node, key, "is not a list of tables");
      return found;
    }
    for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
      found.emplace_back(*array->get_as<toml::table>(i), origin_, error_);
    }
    return found;
  }
  void refuse(std::string_view key, const std::string& message) {
    refuse(find(key, false), key, message);
  }
  std::vector<Position> positions(std::string_view key, std::size_t wanted) {
    std::vector<Position> found;
    const toml::node* node = find(key, false);
    const toml::array* array = node == nullptr ? nullptr : node->as_array();
    for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
      const toml::array* pair = array->get_as<toml::array>(i);
      if (pair == nullptr || pair->size() != 2) {
        break;
      }
      found.push_back({static_cast<int>(number_of(pair->get(0), key, 0, kMaxRouters, 0)),
                       static_cast<int>(number_of(pair->get(1), key, 0, kMaxRouters, 0))});
    }
    if (node != nullptr && found.size() != wanted) {
      refuse(node, key, fmt::format("is not a list of {} pairs [x, y], one a router", wanted));
    }
    return found;
  }
  void refuse_others() {
    for (const auto& [key, node] : table_) {
      if (!asked_.contains(std::string(key.str()))) {
        refuse(&node, key.str(), "is not a key of this table");
      }
    }
  }
  void refuse(const toml::node* node, std::string_view key, const std::string& message) {
    if (!error_) {
      const auto line = (node == nullptr ? table_.source() : node->source()).begin.line;
      error_ = error_at(origin_, line, std::string(key), message);
    }
  }

 private:
  const toml::node* find(std::string_view key, bool required) {
    asked_.insert(std::string(key));
    const toml::node* node = table_.get(key);
    if (node == nullptr && required) {
      refuse(nullptr, key, "is missing");
    }
    return node;
  }
  double number_of(const toml::node* node, std::string_view key, double low, double high,
                   double otherwise) {
    if (node == nullptr) {
      return otherwise;
    }
    const std::optional<double> value = node->is_number() ? node->value<double>() : std::nullopt;
    if (!value || !(*value >= low && *value <= high)) {
      refuse(node, key, fmt::format("is not a number of {} to {}", low, high));
      return otherwise;
    }
    return *value;
  }

  const toml::table& table_;
  const std::string& origin_;
  std::optional<Error>& error_;
  std::set<std::string> asked_;
};

constexpr std::uint32_t kMaxPieces = 64;  // of a flit on a narrow link
constexpr double kMaxMhz = 100000;
constexpr std::uint32_t kMaxRatio = 64;  // of two clocks

// [router]: MHz; empty without domains.
std::vector<std::uint32_t> clocks_of(Table& table, std::uint32_t routers) {
  std::vector<Table> domains = table.tables("domain");
  std::vector<std::uint32_t> mhz(domains.empty() ? 0 : routers);
  for (Table& domain : domains) {
    const std::uint32_t clock = domain.count("mhz", 1, kMaxMhz);
    for (const double router : domain.list("routers", 0, routers - 1.0)) {
      std::uint32_t& of = mhz[static_cast<std::size_t>(router)];
      if (of != 0) {
        domain.refuse("routers", fmt::format("names router {}, which has a clock", router));
      }
      of = clock;
    }
    domain.refuse_others();
  }
  const auto [slowest, fastest] = std::minmax_element(mhz.begin(), mhz.end());
  if (!mhz.empty() && *slowest == 0) {
    table.refuse("domain", fmt::format("leaves router {} without a clock",
                                       std::distance(mhz.begin(), slowest)));
  } else if (!mhz.empty() && *fastest > kMaxRatio * *slowest) {
    table.refuse("domain", fmt::format("has clocks of {} and {} MHz, which differ by more than {}",
                                       *slowest, *fastest, kMaxRatio));
  }
  return mhz;
}

// The fields of a link that say what it is made of.
Wiring::Link link_of(Table& table, int flit_bits) {
  Wiring::Link link;
  link.width_bits = table.count("width", 1, 65536, flit_bits);
  const auto bits = static_cast<std::uint32_t>(flit_bits);
  if (link.width_bits > bits) {
    table.refuse("width", fmt::format("is wider than a flit of {} bits, which takes one cycle "
                                      "already; a second link doubles the bandwidth",
                                      bits));
  } else if (link.width_bits % 8 != 0 || bits % link.width_bits != 0 ||
             bits / link.width_bits > kMaxPieces) {
    table.refuse("width", fmt::format("is no multiple of 8 bits that divides a flit of {} bits "
                                      "into at most {} pieces",
                                      bits, kMaxPieces));
  }
  link.delay = static_cast<int>(table.count("delay", 1, kMaxLinkDelay, 1));
  link.length_um =
      static_cast<std::uint32_t>(std::lround(1e3 * table.number("length_mm", 0, 1000, 0)));
  const std::string kind = table.text("class", "wire");
  if (kind == "wire" || kind == "l2-crossing") {
    link.l2_crossing = kind == "l2-crossing";
    if (link.l2_crossing && link.length_um != 0) {
      table.refuse(
          nullptr, "length_mm",
          "is for wires: a link of class l2-crossing costs what a calibration of crossings "
          "says, per bit");
    }
    if (table.has("pj_per_bit")) {
      table.refuse(nullptr, "pj_per_bit", "is for links of class die-to-die and off-package");
    }
  } else if (kind == "die-to-die" || kind == "off-package") {
    link.pj_per_bit = table.number("pj_per_bit", 1e-6, 1e6, std::nullopt);
  } else {
    table.refuse(nullptr, "class",
                 "'" + kind + "' is none of wire, die-to-die, off-package, l2-crossing");
  }
  return link;
}

}  // namespace

Result<Topology> topology_of_toml(const std::string& text, const std::string& origin,
                                  std::string_view routing, int flit_bits) {
  const toml::parse_result parsed = [&]() -> toml::parse_result {
    try {
      return toml::parse(text, origin);
    } catch (const toml::parse_error& error) {
      toml::table failed;
      failed.insert(
          "", fmt::format("{}:{}: {}", origin, error.source().begin.line, error.description()));
      return failed;
    }
  }();
  const toml::table& root = parsed;
  if (root.contains("")) {
    return fail(ErrorCode::parse_error, root[""].value_or(std::string()), origin);
  }
  std::optional<Error> error;
  Table table(root, origin, error);
  const std::uint32_t routers = table.count("routers", 1, kMaxRouters);
  Ways ways;
  ways.routing = table.text("routing", ways.routing);
  ways.escape = table.text("escape", ways.escape);
  ways.positions = table.positions("positions", routers);
  if (routing != "file") {
    ways.routing = routing;
  } else if (table.has("escape") && ways.routing != "adaptive") {
    table.refuse("escape", "is for routing adaptive");
  }
  GraphBuilder builder(std::max(routers, 1u));
  for (const double router : table.list("nodes", 0, std::max(routers, 1u) - 1.0)) {
    builder.add_node(static_cast<std::uint32_t>(router));
  }
  for (Table& link : table.tables("link")) {
    const std::uint32_t from = link.count("from", 0, std::max(routers, 1u) - 1.0);
    const std::uint32_t to = link.count("to", 0, std::max(routers, 1u) - 1.0);
    const bool one_way = link.flag("one_way", false);
    const Wiring::Link like = link_of(link, flit_bits);
    if (from == to) {
      link.refuse(nullptr, "to", "is the router that the link comes from");
    }
    link.refuse_others();
    builder.add_link(from, to, like);
    if (!one_way) {
      builder.add_link(to, from, like);
    }
  }
  Wiring wiring = builder.take();
  wiring.synchronizer = static_cast<int>(table.count("synchronizer", 0, 8, wiring.synchronizer));
  wiring.clock_mhz = clocks_of(table, std::max(routers, 1u));
  if (wiring.clock_mhz.empty() && table.has("synchronizer")) {
    table.refuse("synchronizer", "is for routers of different domains, and there is no [[domain]]");
  }
  table.refuse_others();
  if (error) {
    return tl::unexpected<Error>(std::move(*error));
  }
  return finish(std::move(wiring), ways, origin);
}

// Lines as "router 0 node 0 node 1 router 1 5": what follows is joined to the first, and a number
// after a name is the delay of the link towards it. A link back exists, with a delay of 1 where no
// line says otherwise.
Result<Topology> topology_of_anynet(const std::string& text, const std::string& origin,
                                    std::string_view routing) {
  std::map<std::uint32_t, std::pair<std::uint32_t, int>> nodes;  // router, delay
  std::map<std::uint32_t, std::map<std::uint32_t, int>> links;   // [from][to]: delay
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    const auto bad = [&](const std::string& message) {
      return tl::unexpected<Error>(error_at(origin, number, "", message, ErrorCode::parse_error));
    };
    struct Place {
      bool router{};
      std::uint32_t id{};
    };
    std::optional<Place> head;
    std::optional<Place> body;
    for (std::string word; words >> word;) {
      std::uint32_t value = 0;
      const auto number_in = [&](const std::string& digits) {
        const char* end = digits.data() + digits.size();
        const auto [stop, code] = std::from_chars(digits.data(), end, value);
        return code == std::errc{} && stop == end;
      };
      if (word != "router" && word != "node") {
        if (!body || !number_in(word)) {
          return bad(fmt::format("'{}' is neither router, node nor a delay", word));
        }
        if (value < 1 || value > kMaxLinkDelay) {
          return bad(
              fmt::format("a delay of {} cycles: it can be 1 to {}; divide all delays by one "
                          "factor, for cycles that are so much longer",
                          word, kMaxLinkDelay));
        }
        if (head->router && body->router) {
          links[head->id][body->id] = static_cast<int>(value);
        } else {
          nodes[head->router ? body->id : head->id].second = static_cast<int>(value);
        }
        continue;
      }
      const bool router = word == "router";
      std::string id;
      words >> id;
      if (!number_in(id) || value >= (router ? kMaxRouters : 65536u)) {
        return bad(fmt::format("'{}' is not the number of a {}", id, word));
      }
      const Place place{router, value};
      if (router) {
        links[value];
      }
      if (!head) {
        head = place;
        continue;
      }
      body = place;
      if (!head->router && !router) {
        return bad("a node cannot be joined to a node");
      }
      if (head->router && router) {
        if (head->id == value) {
          return bad(fmt::format("router {} is joined to itself", value));
        }
        links[head->id][value] = 1;
        links[value].try_emplace(head->id, 1);
        continue;
      }
      const std::uint32_t node = router ? head->id : value;
      const std::uint32_t at = router ? value : head->id;
      const auto [known, is_new] = nodes.try_emplace(node, at, 1);
      if (!is_new && known->second.first != at) {
        return bad(fmt::format("node {} is at router {} already", node, known->second.first));
      }
    }
  }
  // Numbers without gaps, as BookSim wants them.
  if (links.empty() || links.rbegin()->first + 1 != links.size() || nodes.empty() ||
      nodes.rbegin()->first + 1 != nodes.size()) {
    return fail(ErrorCode::bad_data,
                origin + ": routers and nodes must be numbered from 0 without gaps", "topology");
  }
  GraphBuilder builder(static_cast<std::uint32_t>(links.size()));
  for (const auto& [node, place] : nodes) {
    builder.add_node(place.first, place.second);
  }
  for (const auto& [from, others] : links) {
    for (const auto& [to, delay] : others) {
      builder.add_link(from, to, {.delay = delay});
    }
  }
  Ways ways;
  if (routing != "file") {
    ways.routing = routing;
  }
  return finish(builder.take(), ways, origin);
}

Result<Topology> topology_of_file(const NetworkConfig& config) {
  const GraphConfig& keys = config.own<GraphConfig>();
  if (keys.topology.empty()) {
    return fail(ErrorCode::invalid_argument,
                "topology is empty: name a file with routers, nodes and links", "topology");
  }
  WW_ASSIGN(text, read_file(keys.topology));
  return keys.topology.ends_with(".toml")
             ? topology_of_toml(text, keys.topology, keys.routing, config.flit_bits)
             : topology_of_anynet(text, keys.topology, keys.routing);
}

}  // namespace ww::sim::net::graph
