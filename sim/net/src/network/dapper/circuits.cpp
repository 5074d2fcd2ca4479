#include "network/dapper/circuits.hpp"

#include <algorithm>
#include <cstring>

#include "bits.hpp"

namespace ww::sim::net {
namespace {

constexpr std::uint32_t kNoLink = ~std::uint32_t{0};

Port opposite(Port port) {
  switch (port) {
    case Port::east: return Port::west;
    case Port::west: return Port::east;
    case Port::south: return Port::north;
    case Port::north: return Port::south;
    case Port::local: break;
  }
  return Port::local;
}

}  // namespace

Coordinates Circuits::where(std::uint32_t node) const {
  return {static_cast<int>(node) % width_, static_cast<int>(node) / width_};
}

Circuits::Circuits(const NetworkConfig& config, std::span<const NodeId> mcs)
    : width_(config.width),
      height_(config.height),
      mcs_(mcs.begin(), mcs.end()),
      link_at_(static_cast<std::size_t>(config.width * config.height) * 4, kNoLink),
      open_(static_cast<std::size_t>(config.width) * 2),
      reached_(static_cast<std::size_t>(config.width * config.height)),
      word_bytes_(static_cast<std::size_t>(config.flit_bits) / 8),
      word_(word_bytes_) {
  const auto width = static_cast<std::uint32_t>(width_);
  const auto routers = static_cast<std::uint32_t>(width_ * height_);
  for (std::uint32_t router = 0; router < routers; ++router) {
    const Coordinates here = where(router);
    const auto add = [&](Port port, bool exists, std::uint32_t to) {
      if (exists) {
        link_at_[router * 4 + static_cast<std::uint32_t>(port)] =
            static_cast<std::uint32_t>(links_.size());
        links_.push_back({router, to, 0, 0});
      }
    };
    add(Port::east, here.x + 1 < width_, router + 1);
    add(Port::west, here.x > 0, router - 1);
    add(Port::south, here.y + 1 < height_, router + width);
    add(Port::north, here.y > 0, router - width);
  }
  last_word_.resize(links_.size() * word_bytes_);
  events_.routers = routers;
  events_.links = links_.size();
  for (std::uint32_t mc = 0; mc < mcs_.size(); ++mc) {
    Circuit circuit;
    for (const Port port : {Port::east, Port::west}) {
      const auto part = follow(mc, mcs_[mc], port);
      circuit.row.insert(circuit.row.end(), part.begin(), part.end());
    }
    const std::uint32_t row = mcs_[mc] / width * width;
    for (std::uint32_t x = 0; x < width; ++x) {
      circuit.column.push_back(follow(mc, row + x, Port::north));
      circuit.column.push_back(follow(mc, row + x, Port::south));
    }
    circuits_.push_back(std::move(circuit));
  }
}

// The links that a flit drives which leaves `router` at `output`, as the selection units connect
// them, to the rim.
std::vector<std::uint32_t> Circuits::follow(std::uint32_t mc, std::uint32_t router,
                                            Port output) const {
  std::vector<std::uint32_t> path;
  while (true) {
    const std::uint32_t link = link_at_[router * 4 + static_cast<std::uint32_t>(output)];
    if (link == kNoLink) {
      return path;
    }
    path.push_back(link);
    router = links_[link].to;
    const auto input = static_cast<std::uint8_t>(opposite(output));
    const PortMap map = select_ports(where(router), where(mcs_[mc]));
    const auto next = std::find(map.from_input.begin(), map.from_input.end(), input);
    if (next == map.from_input.end()) {
      return path;
    }
    output = static_cast<Port>(next - map.from_input.begin());
  }
}

void Circuits::send(std::uint32_t mc, std::span<const NodeId> destinations, std::uint64_t flits) {
  const Circuit& circuit = circuits_[mc];
  const Coordinates from = where(mcs_[mc]);
  driven_ = circuit.row;
  std::uint64_t passes = static_cast<std::uint64_t>(width_);  // switches of the row
  std::uint64_t latches = static_cast<std::uint64_t>(width_);
  for (const NodeId node : destinations) {
    const Coordinates to = where(node);
    passes += reached_[node] == 0 ? 1 : 0;  // its latch to its local port
    reached_[node] = 1;
    const std::size_t column =
        2 * static_cast<std::size_t>(to.x) + (to.y > from.y ? std::size_t{1} : 0);
    if (to.y != from.y && open_[column] == 0) {
      open_[column] = 1;
      const auto& links = circuit.column[column];
      driven_.insert(driven_.end(), links.begin(), links.end());
      passes += 1 + links.size();  // the turn, then every router on the way
      latches += links.size();
    }
  }
  for (const NodeId node : destinations) {
    reached_[node] = 0;
    const auto x = 2 * static_cast<std::size_t>(where(node).x);
    open_[x] = open_[x + 1] = 0;
  }
  ++events_.packets;
  events_.flits += flits;
  events_.crossbar_flits += flits * passes;
  events_.latch_flits += flits * latches;
  events_.link_flits += flits * driven_.size();
  for (const std::uint32_t link : driven_) {
    links_[link].flits += flits;
  }
}

void Circuits::count_word(std::span<const std::byte> word) {
  for (const std::uint32_t link : driven_) {
    std::byte* last = &last_word_[link * word_bytes_];
    const std::uint64_t toggles = transitions(last, word.data(), word_bytes_);
    links_[link].toggles += toggles;
    events_.link_toggles += toggles;
    std::copy(word.begin(), word.end(), last);
  }
}

void Circuits::count_value(std::uint64_t value) {
  std::fill(word_.begin(), word_.end(), std::byte{0});
  std::memcpy(word_.data(), &value, std::min(sizeof value, word_.size()));
  count_word(word_);
}

void Circuits::exchange_statistics(std::span<const std::uint64_t> reports, std::uint64_t windows,
                                   bool toggles) {
  const NodeId controller = mcs_.front();
  for (std::uint32_t mc = 1; mc < mcs_.size(); ++mc) {
    send(mc, {&controller, 1}, 1);
    --events_.packets;  // not a reply
    if (toggles) count_value(reports[mc]);
  }
  const Circuit& circuit = circuits_.front();
  const auto routers = static_cast<std::uint64_t>(width_ * height_);
  driven_ = circuit.row;
  for (const auto& column : circuit.column) {
    driven_.insert(driven_.end(), column.begin(), column.end());
  }
  for (const std::uint32_t link : driven_) ++links_[link].flits;
  if (toggles) count_value(windows);
  events_.flits += 1;
  events_.crossbar_flits += routers;
  events_.latch_flits += routers;
  events_.link_flits += driven_.size();
  events_.windows += mcs_.size();
}

void Circuits::add_use(std::vector<LinkUse>& links) const {
  for (LinkUse& use : links) {
    const auto found = std::find_if(links_.begin(), links_.end(), [&](const Link& link) {
      return link.from == use.from_router && link.to == use.to_router;
    });
    if (found != links_.end()) {
      use.flits += found->flits;
      use.toggles += found->toggles;
    }
  }
}

}  // namespace ww::sim::net
