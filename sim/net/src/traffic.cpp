#include "ww/sim/net/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "bits.hpp"
#include "booksim_stream.hpp"
#include "ww/core/suggest.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/placement.hpp"

namespace ww::sim::net {
namespace {

struct PatternName {
  Pattern pattern;
  std::string_view name;
  std::string_view also;  // BookSim's spelling
};

constexpr std::array kPatterns{
    PatternName{Pattern::uniform, "uniform", "uniform"},
    PatternName{Pattern::transpose, "transpose", "transpose"},
    PatternName{Pattern::bit_complement, "bit_complement", "bitcomp"},
    PatternName{Pattern::bit_reverse, "bit_reverse", "bitrev"},
    PatternName{Pattern::shuffle, "shuffle", "shuffle"},
    PatternName{Pattern::tornado, "tornado", "tornado"},
    PatternName{Pattern::neighbour, "neighbour", "neighbor"},
    PatternName{Pattern::hot_spot, "hot_spot", "hotspot"},
    PatternName{Pattern::many_to_few, "many_to_few", "many_to_few_to_many"},
};

Status fraction(std::string_view key, double value) {
  if (!(value >= 0 && value <= 1)) {
    return fail(ErrorCode::out_of_range, fmt::format("{} = {} is outside 0 to 1", key, value),
                std::string(key));
  }
  return {};
}

Status positive(std::string_view key, int value) {
  if (value < 1 || value > 65535) {
    return fail(ErrorCode::out_of_range, fmt::format("{} = {} is outside 1 to 65535", key, value),
                std::string(key));
  }
  return {};
}

double mean_request_flits(const TrafficConfig& config) {
  return (1 - config.write_fraction) * config.read_request_flits +
         config.write_fraction * config.write_request_flits;
}

double packet_rate(const TrafficConfig& config) {
  const double flits = config.pattern == Pattern::many_to_few
                           ? mean_request_flits(config)
                           : static_cast<double>(config.packet_size);
  return config.rate / flits;
}

double rate_while_on(const TrafficConfig& config) {
  const double mean = packet_rate(config);
  return config.burst_start == 0
             ? mean
             : mean * (config.burst_start + config.burst_stop) / config.burst_start;
}

std::uint64_t threshold(double probability) {
  return static_cast<std::uint64_t>(std::llround(probability * 0x1.0p32));
}

bool booksim_knows(const TrafficConfig& config) {
  return config.pattern != Pattern::many_to_few && config.pattern != Pattern::hot_spot &&
         config.burst_start == 0;
}

constexpr std::uint64_t kBooksimSeeds = std::uint64_t{1} << 30;
constexpr std::size_t kGapTable = 256;
constexpr std::size_t kGapTops = 1024;
constexpr int kGapShift = 54;             // leaves that many tops
constexpr std::size_t kManyPlanned = 64;  // packets; they and their deliveries stay in the caches
constexpr double kLightLoad = 0.05;       // below, chance matters little and drawing matters much

bool draws_as_booksim(const TrafficConfig& config) {
  return config.stream == Stream::booksim ||
         (config.stream == Stream::automatic && booksim_knows(config) &&
          config.seed < kBooksimSeeds && config.rate >= kLightLoad);
}

bool is_permutation(Pattern pattern) {
  return pattern != Pattern::uniform && pattern != Pattern::hot_spot &&
         pattern != Pattern::many_to_few;
}

}  // namespace

NodeId permutation_partner(Pattern pattern, NodeId source, const NetworkConfig& network) {
  const auto nodes = static_cast<NodeId>(node_count(network));
  const auto width = static_cast<NodeId>(network.width * network.concentration);
  const auto height = static_cast<NodeId>(network.height);
  const NodeId x = source % width;
  const NodeId y = source / width;
  switch (pattern) {
    case Pattern::transpose: return x * width + y;
    case Pattern::bit_complement: return nodes - 1 - source;
    case Pattern::bit_reverse: {
      NodeId reversed = 0;
      for (NodeId bit = 1; bit < nodes; bit <<= 1) {
        reversed = (reversed << 1) | ((source & bit) != 0 ? 1u : 0u);
      }
      return reversed;
    }
    case Pattern::shuffle: {
      const NodeId shifted = source << 1;
      return (shifted & (nodes - 1)) | ((shifted & nodes) != 0 ? 1u : 0u);
    }
    case Pattern::tornado:
      return (x + (width + 1) / 2 - 1) % width + width * ((y + (height + 1) / 2 - 1) % height);
    case Pattern::neighbour: return (x + 1) % width + width * ((y + 1) % height);
    default: return source;
  }
}

std::string_view to_string(Pattern pattern) {
  for (const PatternName& entry : kPatterns) {
    if (entry.pattern == pattern) {
      return entry.name;
    }
  }
  return "unknown";
}

Result<Pattern> pattern_from_string(std::string_view text) {
  std::string plain(text);
  std::replace(plain.begin(), plain.end(), '-', '_');
  std::string names;
  std::vector<std::string_view> all;
  for (const PatternName& entry : kPatterns) {
    if (plain == entry.name || plain == entry.also) {
      return entry.pattern;
    }
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
    all.push_back(entry.name);
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("traffic '{}' is unknown; there are: {}{}", text, names,
                          did_you_mean(plain, all)),
              "traffic");
}

double most_rate(const TrafficConfig& traffic) {
  TrafficConfig full = traffic;
  full.rate = 1;
  const double packets = rate_while_on(full);
  return packets > 1 ? 1 / packets : 1;
}

Status validate(const TrafficConfig& traffic, const NetworkConfig& network) {
  const int nodes = node_count(network);
  WW_TRY(fraction("rate", traffic.rate));
  WW_TRY(positive("packet_size", traffic.packet_size));
  WW_TRY(fraction("hot_fraction", traffic.hot_fraction));
  WW_TRY(fraction("write_fraction", traffic.write_fraction));
  WW_TRY(fraction("burst_start", traffic.burst_start));
  WW_TRY(fraction("burst_stop", traffic.burst_stop));
  if ((traffic.burst_start > 0) != (traffic.burst_stop > 0)) {
    return fail(ErrorCode::invalid_argument,
                "burst_start and burst_stop go together: bursts must begin and end", "burst_start");
  }
  if (traffic.rate > most_rate(traffic)) {
    return fail(
        ErrorCode::out_of_range,
        fmt::format("rate = {} needs more than a packet per cycle while a burst lasts; {:.4g} "
                    "is the most",
                    traffic.rate, most_rate(traffic)),
        "rate");
  }
  if (traffic.stream == Stream::booksim) {
    if (!booksim_knows(traffic)) {
      return fail(ErrorCode::invalid_argument,
                  "stream booksim knows uniform traffic and permutations without bursts", "stream");
    }
    if (traffic.seed >= kBooksimSeeds) {
      return fail(ErrorCode::out_of_range, "stream booksim takes seeds below 2^30", "seed");
    }
  }
  if (traffic.pattern == Pattern::transpose &&
      network.width * network.concentration != network.height) {
    return fail(ErrorCode::invalid_argument,
                "traffic transpose needs a square mesh with one node per router", "traffic");
  }
  if ((traffic.pattern == Pattern::bit_reverse || traffic.pattern == Pattern::shuffle) &&
      !std::has_single_bit(static_cast<unsigned>(nodes))) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("traffic {} needs a power of two of nodes, not {}",
                            to_string(traffic.pattern), nodes),
                "traffic");
  }
  for (const NodeId node : traffic.hot_nodes) {
    if (node >= static_cast<NodeId>(nodes)) {
      return fail(ErrorCode::out_of_range,
                  fmt::format("hot_nodes: node {} is not one of {}", node, nodes), "hot_nodes");
    }
  }
  if (traffic.pattern == Pattern::many_to_few) {
    WW_TRY(place(network, traffic.core_nodes, traffic.memory_nodes));
  }
  if (traffic.pattern == Pattern::many_to_few) {
    WW_TRY(positive("read_request_flits", traffic.read_request_flits));
    WW_TRY(positive("read_reply_flits", traffic.read_reply_flits));
    WW_TRY(positive("write_request_flits", traffic.write_request_flits));
    WW_TRY(positive("write_reply_flits", traffic.write_reply_flits));
    if (traffic.memory_delay < 1 || traffic.max_outstanding < 0) {
      return fail(ErrorCode::out_of_range,
                  "memory_delay is at least 1 cycle, max_outstanding at least 0",
                  traffic.memory_delay < 1 ? "memory_delay" : "max_outstanding");
    }
    const NetworkKind* kind = find_network(network.network);
    if (kind != nullptr && kind->needs_classes && network.classes < 2) {
      return fail(ErrorCode::invalid_argument,
                  "traffic many_to_few needs classes = 2: requests and replies that share "
                  "virtual channels can deadlock",
                  "classes");
    }
  }
  return {};
}

TrafficSource::TrafficSource(const TrafficConfig& config, const NetworkConfig& network)
    : config_(config),
      nodes_(static_cast<std::uint32_t>(node_count(network))),
      random_(config.seed) {
  const std::size_t words = (nodes_ + 63) / 64;
  sender_mask_.assign(words, ~std::uint64_t{0});
  if (nodes_ % 64 != 0) {
    sender_mask_.back() = (std::uint64_t{1} << (nodes_ % 64)) - 1;
  }
  if (config_.hot_nodes.empty()) {
    config_.hot_nodes.push_back(static_cast<NodeId>(
        (network.height / 2 * network.width + network.width / 2) * network.concentration));
  }
  if (config_.pattern == Pattern::many_to_few) {
    if (auto placement = place(network, config_.core_nodes, config_.memory_nodes)) {
      config_.core_nodes = std::move(placement->cores);
      config_.memory_nodes = std::move(placement->memory);
    }
    std::fill(sender_mask_.begin(), sender_mask_.end(), 0);
    for (const NodeId core : config_.core_nodes) {
      sender_mask_[core / 64] |= std::uint64_t{1} << (core % 64);
    }
    outstanding_.resize(nodes_);
  }
  if (is_permutation(config_.pattern)) {
    for (NodeId node = 0; node < nodes_; ++node) {
      partner_.push_back(permutation_partner(config_.pattern, node, network));
    }
  }
  packet_.flits = static_cast<std::uint16_t>(config_.packet_size);
  coin_threshold_ = threshold(rate_while_on(config_));
  if (draws_as_booksim(config_)) {
    booksim_ = std::make_shared<BooksimStream>(static_cast<std::uint32_t>(config_.seed),
                                               packet_rate(config_));
    behind_.resize(words);
    next_draw_.resize(nodes_);
  }
  if (booksim_ == nullptr && config_.burst_start == 0 && coin_threshold_ > 0 &&
      config_.pattern != Pattern::many_to_few) {
    const std::uint64_t miss = (std::uint64_t{1} << 32) - coin_threshold_;  // times 2^32
    misses_.push_back(miss << 32);
    while (misses_.size() < kGapTable) {
      misses_.push_back(static_cast<std::uint64_t>(Mask128{misses_.back()} * miss >> 32));
    }
    for (std::size_t top = 0; top < kGapTops; ++top) {
      const std::uint64_t highest = ((top + 1) << kGapShift) - 1;
      const auto first = std::find_if(misses_.begin(), misses_.end() - 1,
                                      [&](std::uint64_t miss) { return miss <= highest; });
      gap_from_.push_back(static_cast<std::uint16_t>(first - misses_.begin()));
    }
    misses_left_ = draw_gap();
  }
  if (config_.burst_start > 0) {
    start_threshold_ = threshold(config_.burst_start);
    stop_threshold_ = threshold(config_.burst_stop);
    const double share = config_.burst_start / (config_.burst_start + config_.burst_stop);
    for (std::size_t word = 0; word < words; ++word) {
      on_.push_back(random_.coins(threshold(share)));
    }
  }
}

TrafficSource::~TrafficSource() = default;

std::shared_ptr<Draws> TrafficSource::draws() const {
  if (booksim_ != nullptr) {
    return booksim_;
  }
  return native_draws(config_.seed);
}

void TrafficSource::measure(Cycles begin, Cycles end) {
  begin_ = begin.value();
  end_ = end.value();
}

bool TrafficSource::caught_up() const {
  for (std::size_t word = 0; word < behind_.size(); ++word) {
    for (std::uint64_t left = behind_[word]; left != 0; left &= left - 1) {
      if (next_draw_[word * 64 + static_cast<std::size_t>(std::countr_zero(left))] < end_) {
        return false;
      }
    }
  }
  return true;
}

double TrafficSource::offered_flits(Cycles now) const {
  double cycles_behind = 0;
  for (std::size_t word = 0; word < behind_.size(); ++word) {
    for (std::uint64_t left = behind_[word]; left != 0; left &= left - 1) {
      const std::uint64_t next =
          next_draw_[word * 64 + static_cast<std::size_t>(std::countr_zero(left))];
      cycles_behind += static_cast<double>(now.value() - std::min(next, now.value()));
    }
  }
  return static_cast<double>(offered_flits_) + cycles_behind * config_.rate;
}

inline NodeId TrafficSource::destination(NodeId source) {
  if (!partner_.empty()) {
    return partner_[source];
  }
  if (config_.pattern == Pattern::hot_spot && random_.unit() < config_.hot_fraction) {
    return config_.hot_nodes[random_.below(static_cast<std::uint32_t>(config_.hot_nodes.size()))];
  }
  return random_.below(nodes_);
}

inline Status TrafficSource::send(Network& network, Packet& packet) {
  offered_flits_ += packet.flits;
  const bool measured = now_ >= begin_ && packet.created.value() < end_;
  measured_packets_ += measured ? 1 : 0;
  packet.tag = measured ? 1 : 0;
  return network.inject(packet);
}

inline Status TrafficSource::send_to(Network& network, NodeId source, NodeId destination,
                                     std::uint64_t created) {
  packet_.source = source;
  packet_.destinations = {&destination, 1};
  packet_.created = Cycles{created};
  return send(network, packet_);
}

// BookSim 2 draws a node's coins only while nothing of it waits at the source, then for all cycles
// that have passed, up to the next packet; nodes in ascending order. A packet's destination comes
// from the integers, and one more is drawn to choose among its one subnetwork.
Status TrafficSource::generate_as_booksim(Network& network) {
  const std::uint64_t now = now_;
  const std::span<const std::uint64_t> waiting = network.waiting_sources();
  const auto begin_packet = [&](NodeId source, std::uint64_t created) -> Status {
    const NodeId to = partner_.empty() ? booksim_->below(nodes_) : partner_[source];
    static_cast<void>(booksim_->next_integer());
    behind_[source / 64] |= std::uint64_t{1} << (source % 64);
    next_draw_[source] = created + 1;
    return send_to(network, source, to, created);
  };
  for (std::size_t word = 0; word < behind_.size(); ++word) {
    const auto first = static_cast<NodeId>(word * 64);
    const int count = static_cast<int>(std::min<NodeId>(64, nodes_ - first));
    const std::uint64_t draws = ~waiting[word] & (~std::uint64_t{0} >> (64 - count));
    std::uint64_t late = 0;  // by more than this cycle
    for (std::uint64_t left = behind_[word] & draws; left != 0; left &= left - 1) {
      const int node = std::countr_zero(left);
      late |= std::uint64_t{next_draw_[first + static_cast<NodeId>(node)] != now} << node;
    }
    behind_[word] &= ~draws;
    // The nodes up to the next late one draw one coin each.
    for (std::uint64_t left = draws; left != 0;) {
      const std::uint64_t next_late = late & (~late + 1);
      const std::uint64_t on_time = left & (next_late - 1);
      if (on_time != 0) {
        for (std::uint64_t hits = booksim_->coins(ones(on_time)); hits != 0; hits &= hits - 1) {
          const int node = nth_bit(on_time, std::countr_zero(hits));
          WW_TRY(begin_packet(first + static_cast<NodeId>(node), now));
        }
      }
      if (late != 0) {
        const NodeId source = first + static_cast<NodeId>(std::countr_zero(late));
        const std::uint64_t most = now + 1 - next_draw_[source];
        const std::uint64_t misses = booksim_->misses(most);
        if (misses < most) {
          WW_TRY(begin_packet(source, next_draw_[source] + misses));
        }
        late &= late - 1;
      }
      left &= ~(on_time | next_late);
    }
  }
  return {};
}

Status TrafficSource::send_request(Network& network, NodeId source) {
  if (config_.max_outstanding > 0 && outstanding_[source] >= config_.max_outstanding) {
    return {};
  }
  ++outstanding_[source];
  const bool write = config_.write_fraction > 0 && random_.unit() < config_.write_fraction;
  const NodeId memory =
      config_.memory_nodes[random_.below(static_cast<std::uint32_t>(config_.memory_nodes.size()))];
  Packet packet;
  packet.source = source;
  packet.destinations = {&memory, 1};
  packet.flits =
      static_cast<std::uint16_t>(write ? config_.write_request_flits : config_.read_request_flits);
  packet.kind = write ? PacketKind::write_request : PacketKind::read_request;
  packet.created = Cycles{now_};
  return send(network, packet);
}

Status TrafficSource::send_replies(Network& network) {
  const std::uint8_t reply_class = network.config().classes > 1 ? 1 : 0;
  while (reply_front_ < replies_.size() && replies_[reply_front_].due <= now_) {
    const Reply& reply = replies_[reply_front_++];
    Packet packet;
    packet.source = reply.from;
    packet.destinations = {&reply.to, 1};
    packet.flits = reply.flits;
    packet.message_class = reply_class;
    packet.kind = reply.kind;
    packet.created = Cycles{now_};
    WW_TRY(send(network, packet));
  }
  if (reply_front_ > 4096 && reply_front_ * 2 > replies_.size()) {
    replies_.erase(replies_.begin(), replies_.begin() + static_cast<std::ptrdiff_t>(reply_front_));
    reply_front_ = 0;
  }
  return {};
}

// How many coins miss before the next one that hits: one number instead of one for each coin.
std::uint64_t TrafficSource::draw_gap() {
  for (std::uint64_t gap = 0;; gap += misses_.size()) {
    const std::uint64_t number = random_.bits();
    if (number >= misses_.back()) {
      // The first entry that is not above the number: mostly the one where its top bits begin.
      std::size_t above = gap_from_[number >> kGapShift];
      while (misses_[above] > number) {
        ++above;
      }
      return gap + above;
    }
  }
}

Plan TrafficSource::plan(Cycles now, Cycles end) {
  std::uint64_t cycle = now.value();
  std::uint64_t last = end.value();
  for (const std::uint64_t mark : {begin_, end_}) {  // one tag for all
    last = cycle < mark ? std::min(last, mark) : last;
  }
  const bool measured = cycle >= begin_ && cycle < end_;
  std::uint64_t coin = misses_left_;  // of the cycle
  const auto pass_cycles = [&] {
    const std::uint64_t cycles = coin / nodes_;
    cycle += cycles;
    coin -= cycles * nodes_;
  };
  planned_.clear();
  for (pass_cycles(); cycle < last; pass_cycles()) {
    if (planned_.size() >= kManyPlanned && cycle != planned_.back().created) {
      last = cycle;
      break;
    }
    const auto source = static_cast<NodeId>(coin);
    planned_.push_back({cycle, source, destination(source)});
    coin += 1 + draw_gap();
  }
  misses_left_ = (cycle - last) * nodes_ + coin;
  offered_flits_ += planned_.size() * packet_.flits;
  measured_packets_ += measured ? planned_.size() : 0;
  return {Cycles{last}, planned_, packet_.flits, measured ? std::uint64_t{1} : 0};
}

Status TrafficSource::generate(Network& network) {
  now_ = network.now().value();
  if (booksim_ != nullptr) {
    return generate_as_booksim(network);
  }
  for (std::size_t word = 0; word < sender_mask_.size(); ++word) {
    std::uint64_t senders = random_.coins(coin_threshold_) & sender_mask_[word];
    if (!on_.empty()) {
      const std::uint64_t stops = random_.coins(stop_threshold_);
      const std::uint64_t starts = random_.coins(start_threshold_);
      on_[word] = (on_[word] & ~stops) | (~on_[word] & starts);
      senders &= on_[word];
    }
    for (; senders != 0; senders &= senders - 1) {
      const auto source =
          static_cast<NodeId>(word * 64) + static_cast<NodeId>(std::countr_zero(senders));
      if (config_.pattern == Pattern::many_to_few) {
        WW_TRY(send_request(network, source));
        continue;
      }
      WW_TRY(send_to(network, source, destination(source), now_));
    }
  }
  return config_.pattern == Pattern::many_to_few ? send_replies(network) : Status{};
}

void TrafficSource::on_delivery(const Delivery& delivery) {
  if (config_.pattern != Pattern::many_to_few) {
    return;
  }
  if (delivery.kind == PacketKind::read_request || delivery.kind == PacketKind::write_request) {
    const bool read = delivery.kind == PacketKind::read_request;
    replies_.push_back(Reply{
        delivery.arrived.value() + static_cast<std::uint64_t>(config_.memory_delay),
        delivery.destination, delivery.source,
        static_cast<std::uint16_t>(read ? config_.read_reply_flits : config_.write_reply_flits),
        read ? PacketKind::read_reply : PacketKind::write_reply});
  } else {
    --outstanding_[delivery.destination];
  }
}

}  // namespace ww::sim::net
