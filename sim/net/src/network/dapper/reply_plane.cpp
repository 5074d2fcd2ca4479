#include "network/dapper/reply_plane.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace ww::sim::net {

ReplyPlane::ReplyPlane(const NetworkConfig& config, std::vector<NodeId> mcs)
    : config_(config),
      overlay_(config.own<OverlayConfig>()),
      mcs_(std::move(mcs)),
      mc_of_(static_cast<std::size_t>(node_count(config)), kNoMc),
      store_(node_count(config), config.classes),
      circuits_(config, mcs_),
      controllers_(mcs_.size()),
      word_(static_cast<std::size_t>(config.flit_bits) / 8),
      stats_(mcs_.size()),
      reports_(mcs_.size()) {
  for (std::uint32_t mc = 0; mc < mcs_.size(); ++mc) {
    mc_of_[mcs_[mc]] = mc;
  }
  node_bits_ = static_cast<std::uint32_t>(
      std::bit_width(static_cast<std::uint32_t>(node_count(config)) - 1));
  lay_out();
}

std::uint32_t ReplyPlane::header_flits(std::size_t destinations) const {
  constexpr std::size_t kFixed = 16;
  constexpr std::size_t kTag = 8;
  const auto width = static_cast<std::size_t>(config_.flit_bits);
  const std::size_t bits = kFixed + destinations * (node_bits_ + kTag);
  return static_cast<std::uint32_t>((bits + width - 1) / width);
}

void ReplyPlane::inject(const Packet& packet, NodeId destination, std::int64_t now) {
  Controller& controller = controllers_[mc_of_[packet.source]];
  count_occupancy(controller, now);
  const std::uint32_t index = store_.enqueue(packet, destination);
  store_.pop(packet.source, packet.message_class);
  Approximable how = packet.approximable;
  if (config_.error_threshold) {
    how.threshold = *config_.error_threshold;
  }
  // Data of which no word is whole is not data.
  if (!(how.threshold > 0) || packet.payload.size() < std::size_t{how.first_byte} + 4) {
    how.type = WordType::exact;
  }
  controller.buffer.push({index, now + overlay_.approximator_delay, how});
  ++controller.arrivals;
  ++queued_;
  injected_flits_ += packet.flits;
}

void ReplyPlane::count_occupancy(Controller& controller, std::int64_t now) {
  controller.occupancy_sum +=
      static_cast<std::uint64_t>(now - controller.counted_to) * controller.buffer.size();
  controller.counted_to = now;
}

void ReplyPlane::lay_out() {
  for (std::uint32_t mc = 0; mc < controllers_.size(); ++mc) {
    Controller& controller = controllers_[mc];
    stats_[mc].arrivals =
        static_cast<double>(controller.arrivals) * overlay_.period / overlay_.epoch;
    stats_[mc].occupancy = static_cast<double>(controller.occupancy_sum) / overlay_.epoch;
    reports_[mc] = controller.arrivals << 32 | (controller.occupancy_sum & 0xFFFFFFFF);
    controller.arrivals = 0;
    controller.occupancy_sum = 0;
  }
  lengths_ =
      time_windows(stats_, overlay_.alpha, overlay_.gamma, overlay_.period, overlay_.min_window);
  lay_out_epoch(lengths_, overlay_.epoch, overlay_.literal_selection, windows_);
  window_ = 0;
  setups_ = 0;
}

void ReplyPlane::end_epoch() {
  const std::int64_t end = epoch_begin_ + overlay_.epoch;
  for (Controller& controller : controllers_) {
    count_occupancy(controller, end);
  }
  for (; setups_ < windows_.size(); ++setups_) {
    circuits_.set_up();
  }
  lay_out();
  std::uint64_t word = 0;
  for (const int length : lengths_) {
    word = word << 16 | static_cast<std::uint64_t>(length);
  }
  circuits_.exchange_statistics(reports_, word, config_.count_toggles);
  epoch_begin_ = end;
}

void ReplyPlane::advance_to(std::int64_t now) {
  while (now - epoch_begin_ >= overlay_.epoch) {
    end_epoch();
  }
  const std::int64_t offset = now - epoch_begin_;
  while (windows_[window_].end <= offset) {
    ++window_;
  }
  for (; setups_ <= window_; ++setups_) {
    circuits_.set_up();
  }
}

ReplyPlane::Usable ReplyPlane::usable(const Window& window) const {
  return {epoch_begin_ + window.begin + overlay_.setup,
          epoch_begin_ + window.end - kDrain - (window.last_of_epoch ? 1 : 0)};
}

// Whether the front of a buffer can leave at `from`.
bool ReplyPlane::fits(std::uint32_t mc, const Usable& part, std::int64_t from) const {
  const Controller& controller = controllers_[mc];
  if (from < part.begin || from >= part.end) {
    return false;
  }
  const std::int64_t flits = store_[controller.buffer.front().packet].flits;
  if (controller.partly_sent != 0) {
    return part.end - from >= 2;
  }
  return flits <= part.end - from || flits > part.end - part.begin;
}

void ReplyPlane::tick(std::int64_t now, Deliveries& deliveries) {
  store_.begin_tick();
  while (!under_way_.empty() && under_way_.front().arrival == now) {
    const std::uint32_t index = under_way_.front().packet;
    under_way_.pop();
    const PacketRecord& record = store_[index];
    const auto width = static_cast<std::uint32_t>(config_.width);
    const auto distance = [](std::uint32_t a, std::uint32_t b) { return a > b ? a - b : b - a; };
    const std::uint32_t hops = distance(record.source % width, record.destination % width) +
                               distance(record.source / width, record.destination / width) + 1;
    ejected_flits_ += record.flits;
    store_.deliver(index, now, static_cast<std::uint16_t>(hops), deliveries);
    last_move_ = now;
  }
  advance_to(now);
  if (queued_ != 0 && channel_free_ <= now) {
    try_send(now);
  }
}

void ReplyPlane::try_send(std::int64_t now) {
  const Window& window = windows_[window_];
  const Controller& controller = controllers_[window.mc];
  if (controller.buffer.empty() || controller.buffer.front().ready > now) {
    return;
  }
  const Usable part = usable(window);
  if (!fits(window.mc, part, now)) {
    return;
  }
  const std::int64_t room = part.end - now;
  if (controller.partly_sent != 0 || store_[controller.buffer.front().packet].flits > room) {
    send_part(window.mc, now, room);
  } else {
    send(window.mc, now, room);
  }
}

// The front, and what goes along with it: positions in followers_, all in group_.
void ReplyPlane::choose_group(Controller& controller, std::int64_t room) {
  const auto looked_at =
      static_cast<std::size_t>(overlay_.check_depth) * (overlay_.literal_approximator ? 2 : 1);
  const std::size_t count = std::min(looked_at, controller.buffer.size());
  candidates_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const Waiter& waiter = controller.buffer[i];
    Waiting waiting{waiter.how, store_[waiter.packet].flits, {}};
    if (waiter.how.type != WordType::exact) {
      waiting.data = store_.payload(waiter.packet).subspan(waiter.how.first_byte);
    }
    candidates_.push_back(waiting);
  }
  ApproximatorWork work;
  choose_followers(candidates_, overlay_.check_depth, overlay_.literal_approximator, followers_,
                   work);
  circuits_.events().leader_words += work.leader_words;
  circuits_.events().words_compared += work.words_compared;
  const std::int64_t flits = candidates_[0].flits;
  while (flits + header_flits(1 + followers_.size()) - header_flits(1) > room) {
    followers_.pop_back();
  }
  for (const std::uint32_t follower : followers_) {
    std::copy(candidates_[0].data.begin(), candidates_[0].data.end(),
              store_.payload(controller.buffer[follower].packet)
                  .subspan(controller.buffer[follower].how.first_byte)
                  .begin());
  }
}

void ReplyPlane::send(std::uint32_t mc, std::int64_t now, std::int64_t room) {
  Controller& controller = controllers_[mc];
  count_occupancy(controller, now);
  choose_group(controller, room);
  group_.assign(1, controller.buffer.front().packet);
  for (const std::uint32_t follower : followers_) {
    group_.push_back(controller.buffer[follower].packet);
  }
  for (std::size_t i = followers_.size(); i > 0; --i) {
    controller.buffer.erase(followers_[i - 1]);
  }
  controller.buffer.pop();
  queued_ -= group_.size();
  circuits_.events().coalesced += followers_.size();
  const std::uint32_t flits =
      store_[group_[0]].flits + header_flits(group_.size()) - header_flits(1);
  for (const std::uint32_t packet : group_) {
    store_[packet].injected = now;
  }
  launch(mc, flits, true, now);
}

// Sends as much of the front as the window takes; parts but the first begin with a header.
void ReplyPlane::send_part(std::uint32_t mc, std::int64_t now, std::int64_t room) {
  Controller& controller = controllers_[mc];
  const std::uint32_t packet = controller.buffer.front().packet;
  const std::uint32_t header = controller.partly_sent != 0 ? 1 : 0;
  const std::uint32_t left = store_[packet].flits - controller.partly_sent;
  const std::uint32_t taken = std::min(left, static_cast<std::uint32_t>(room) - header);
  group_.assign(1, packet);
  if (controller.partly_sent == 0) {
    store_[packet].injected = now;
  }
  controller.partly_sent += taken;
  const bool whole = taken == left;
  if (whole) {
    count_occupancy(controller, now);
    controller.partly_sent = 0;
    controller.buffer.pop();
    --queued_;
  }
  launch(mc, taken + header, whole, now);
}

// group_ takes the x stage for `flits` cycles, and arrives once it has left as a whole.
void ReplyPlane::launch(std::uint32_t mc, std::uint32_t flits, bool whole, std::int64_t now) {
  channel_free_ = now + flits;
  sending_ = mc;
  last_move_ = channel_free_;
  destinations_.clear();
  for (const std::uint32_t packet : group_) {
    destinations_.push_back(store_[packet].destination);
    if (whole) {
      under_way_.push({channel_free_ + kDrain, packet});
    }
  }
  circuits_.send(mc, destinations_, flits);
  if (config_.count_toggles) {
    const PacketRecord& leader = store_[group_[0]];
    for (std::uint32_t flit = 0; flit < flits; ++flit) {
      store_.copy_flit(leader, static_cast<int>(flit), word_.size(), word_.data());
      circuits_.count_word(word_);
    }
  }
}

std::int64_t ReplyPlane::next_event(std::int64_t now) const {
  std::int64_t first = under_way_.empty() ? -1 : under_way_.front().arrival;
  if (queued_ == 0) {
    return first;
  }
  std::int64_t leaves = epoch_begin_ + overlay_.epoch;
  for (std::size_t i = window_; i < windows_.size(); ++i) {
    const Controller& controller = controllers_[windows_[i].mc];
    if (controller.buffer.empty()) {
      continue;
    }
    const Usable part = usable(windows_[i]);
    const std::int64_t from =
        std::max({now, part.begin, channel_free_, controller.buffer.front().ready});
    if (fits(windows_[i].mc, part, from)) {
      leaves = from;
      break;
    }
  }
  leaves = std::max(leaves, now);
  return first < 0 ? leaves : std::min(first, leaves);
}

std::uint32_t ReplyPlane::queued(NodeId node, std::int64_t now) const {
  const std::uint32_t mc = mc_of_[node];
  if (mc == kNoMc) {
    return 0;
  }
  const Controller& controller = controllers_[mc];
  // The one on its way out; a part's packet is in the buffer still.
  const bool leaving = sending_ == mc && channel_free_ > now && controller.partly_sent == 0;
  return static_cast<std::uint32_t>(controller.buffer.size()) + (leaving ? 1 : 0);
}

void ReplyPlane::mark_waiting(std::span<std::uint64_t> nodes, std::int64_t now) const {
  for (const NodeId node : mcs_) {
    if (queued(node, now) != 0) {
      nodes[node / 64] |= std::uint64_t{1} << (node % 64);
    }
  }
}

Status ReplyPlane::check_conservation() const {
  std::uint64_t held = under_way_.size();
  std::uint64_t flits = 0;
  for (std::size_t i = 0; i < under_way_.size(); ++i) {
    flits += store_[under_way_[i].packet].flits;
  }
  for (const Controller& controller : controllers_) {
    held += controller.buffer.size();
    for (std::size_t i = 0; i < controller.buffer.size(); ++i) {
      flits += store_[controller.buffer[i].packet].flits;
    }
  }
  if (held != store_.inside()) {
    return fail(ErrorCode::bad_data,
                fmt::format("the reply plane holds {} packets of {}", held, store_.inside()));
  }
  if (ejected_flits_ + flits != injected_flits_) {
    return fail(ErrorCode::bad_data,
                fmt::format("reply plane: {} flits went in, {} came out, {} are inside",
                            injected_flits_, ejected_flits_, flits));
  }
  return {};
}

std::int64_t ReplyPlane::longest_turn() const {
  return overlay_.literal_selection ? 0 : overlay_.epoch + 2 * std::int64_t{overlay_.period};
}

std::optional<Stuck> ReplyPlane::stuck(std::int64_t now, std::int64_t patience) const {
  std::int64_t longest = 0;
  for (const Controller& controller : controllers_) {
    if (!controller.buffer.empty()) {
      longest = std::max(longest, now - std::max(last_move_, controller.buffer.front().ready));
    }
  }
  if (longest <= patience + longest_turn()) {
    return std::nullopt;
  }
  return Stuck{Stuck::Kind::deadlock,
               fmt::format("deadlock: {} packets wait at memory controllers, none has left for "
                           "{} cycles",
                           queued_, longest)};
}

}  // namespace ww::sim::net
