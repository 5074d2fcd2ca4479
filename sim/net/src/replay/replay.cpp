#include "ww/sim/net/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <deque>

#include "replay/coalescer.hpp"
#include "replay/l1_model.hpp"
#include "run_record.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/sim/net/factory.hpp"
#include "ww/sim/net/placement.hpp"

namespace ww::sim::net {
namespace {

constexpr std::uint64_t kPatience = 20000;  // cycles without any movement that count as deadlock
constexpr std::uint64_t kWatchPeriod = 4096;
constexpr std::size_t kWindowPerCore = 256;  // line accesses read ahead, for all cores together

Status check(bool good, std::string_view key, std::string message) {
  if (good) {
    return {};
  }
  return fail(ErrorCode::out_of_range, std::move(message), std::string(key));
}

Status power_of_two(std::string_view key, int value, int low, int high) {
  return check(value >= low && value <= high && std::has_single_bit(static_cast<unsigned>(value)),
               key,
               fmt::format("{} = {} is not a power of two from {} to {}", key, value, low, high));
}

Status check_between(std::string_view key, int value, int low, int high) {
  return check(value >= low && value <= high, key,
               fmt::format("{} = {} is outside {} to {}", key, value, low, high));
}

class Replay {
 public:
  Replay(Network& network, trace::Reader& reader, const ReplayConfig& config, Placement placement)
      : network_(network),
        reader_(reader),
        config_(config),
        memory_nodes_(std::move(placement.memory)),
        coalescer_(config.coalesce_lanes, config.line_bytes, config.seed),
        header_bytes_(static_cast<std::size_t>(config.header_bytes)),
        flit_bytes_(static_cast<std::size_t>(network.config().flit_bits) / 8),
        reply_class_(network.config().classes > 1 ? std::uint8_t{1} : std::uint8_t{0}) {
    core_at_.resize(static_cast<std::size_t>(node_count(network.config())));
    memory_at_.resize(core_at_.size());
    for (const NodeId node : placement.cores) {
      core_at_[node] = static_cast<std::uint32_t>(cores_.size());
      cores_.push_back(Core{node, L1Model(config.l1_sets, config.l1_ways), {}, 0});
    }
    for (std::size_t i = 0; i < memory_nodes_.size(); ++i) {
      memory_at_[memory_nodes_[i]] = static_cast<std::uint32_t>(i);
    }
    slices_.resize(memory_nodes_.size());
  }

  Result<ReplayResult> run() {
    std::uint64_t next_watch = record_.first_cycle() + kWatchPeriod;
    while (true) {
      WW_TRY(read_ahead());
      if (ended_ && drained()) {
        break;
      }
      WW_TRY(send_replies());
      WW_ASSIGN(issued, issue());
      if (!issued && skip()) {
        continue;  // a reply may be due
      }
      network_.tick();
      for (const Delivery& delivery : network_.deliveries()) {
        take(delivery);
      }
      if (network_.now().value() >= next_watch) {
        next_watch = network_.now().value() + kWatchPeriod;
        if (interrupted()) {
          return fail(ErrorCode::cancelled, "interrupted", network_.config().network);
        }
        const auto why = network_.stuck(Cycles{kPatience});
        // A node that traffic under way keeps out gets in when the closed loop has run dry.
        if (why && why->kind != Stuck::Kind::starvation) {
          return fail(ErrorCode::bad_data, why->text, network_.config().network);
        }
      }
    }
    stats_.avg_round_trip = static_cast<double>(round_trip_) /
                            static_cast<double>(std::max<std::uint64_t>(round_trips_, 1));
    // Where the trace holds no data, an assumed toggle rate says as much as random bits do.
    return ReplayResult{record_.finish_whole(stats_.has_values), stats_};
  }

 private:
  struct Core {
    NodeId node{};
    L1Model l1;
    std::deque<LineAccess> queue;
    int outstanding{};
  };
  // A request under way, or its reply.
  struct Open {
    std::uint32_t core{};
    LineAccess access;
    std::uint64_t created{};
  };
  struct Due {
    std::uint64_t cycle{};
    std::uint32_t open{};
  };
  // An L2 slice: takes a request a cycle, answers in order after the delay.
  struct Slice {
    std::uint64_t free_at{};
    std::deque<Due> replies;
  };

  [[nodiscard]] bool drained() const { return queued_ == 0 && under_way_ == 0; }

  // Reads the trace until the window is full or a launch begins that must wait.
  Status read_ahead() {
    while (!ended_ && queued_ < kWindowPerCore * cores_.size()) {
      if (!held_) {
        WW_ASSIGN(more, reader_.next(access_));
        if (!more) {
          ended_ = true;
          finish_reading();
          return {};
        }
        held_ = true;
      }
      if (!started_ || access_.launch != launch_) {
        if (!drained()) {
          return {};
        }
        started_ = true;
        launch_ = access_.launch;
        for (Core& core : cores_) {
          core.l1.invalidate_all();
        }
      }
      held_ = false;
      stats_.has_values |= access_.has_values;
      Core& core = cores_[access_.group % cores_.size()];
      const auto& instruction = reader_.instructions()[access_.instruction];
      for (LineAccess& line : coalescer_.coalesce(access_, instruction)) {
        core.queue.push_back(line);
        ++queued_;
      }
    }
    return {};
  }

  void finish_reading() {
    stats_.producer = reader_.producer();
    stats_.launches = reader_.totals().launches;
    stats_.wave_accesses = reader_.totals().wave_accesses;
    stats_.lane_accesses = reader_.totals().lane_accesses;
  }

  // Every core handles one line if it can. Whether any did.
  Result<bool> issue() {
    bool any = false;
    for (std::uint32_t index = 0; index < cores_.size(); ++index) {
      Core& core = cores_[index];
      if (core.queue.empty()) {
        continue;
      }
      LineAccess& front = core.queue.front();
      if (front.operation == trace::Operation::load) {
        const L1Model::Found found = core.l1.find(front.line);
        if (found == L1Model::Found::miss && core.outstanding >= config_.max_outstanding) {
          continue;
        }
        ++stats_.l1_loads;
        if (found == L1Model::Found::miss) {
          core.l1.allocate(front.line);
          WW_TRY(request(index));
        } else {
          ++stats_.l1_hits;
          stats_.l1_joined += found == L1Model::Found::under_way ? 1 : 0;
        }
      } else {
        if (core.outstanding >= config_.max_outstanding) {
          continue;
        }
        core.l1.invalidate(front.line);
        WW_TRY(request(index));
      }
      ++stats_.l1_accesses;
      core.queue.pop_front();
      --queued_;
      any = true;
    }
    return any;
  }

  [[nodiscard]] NodeId memory_of(std::uint64_t line) const {
    const std::uint64_t block = line * static_cast<std::uint64_t>(config_.line_bytes) /
                                static_cast<std::uint64_t>(config_.interleave_bytes);
    return memory_nodes_[block % memory_nodes_.size()];
  }

  // Sends the request for the access at the front of a core's queue.
  Status request(std::uint32_t index) {
    Core& core = cores_[index];
    std::uint32_t at;
    if (free_.empty()) {
      at = static_cast<std::uint32_t>(open_.size());
      open_.emplace_back();
    } else {
      at = free_.back();
      free_.pop_back();
    }
    Open& open = open_[at];
    open.core = index;
    open.access = std::move(core.queue.front());
    open.created = network_.now().value();
    ++core.outstanding;
    ++under_way_;
    const bool load = open.access.operation == trace::Operation::load;
    const bool store = open.access.operation == trace::Operation::store;
    ++(load ? stats_.read_requests : store ? stats_.write_requests : stats_.atomic_requests);
    const PacketKind kind = load    ? PacketKind::read_request
                            : store ? PacketKind::write_request
                                    : PacketKind::atomic_request;
    begin_payload(open, kind);
    if (!load) {
      add_payload(open.access.data, open.access.known);
    }
    return send(core.node, memory_of(open.access.line), at, kind, 0);
  }

  Status send_replies() {
    const std::uint64_t now = network_.now().value();
    for (std::size_t slice = 0; slice < slices_.size(); ++slice) {
      std::deque<Due>& replies = slices_[slice].replies;
      while (!replies.empty() && replies.front().cycle <= now) {
        const std::uint32_t at = replies.front().open;
        replies.pop_front();
        const Open& open = open_[at];
        const bool load = open.access.operation == trace::Operation::load;
        const PacketKind kind = load ? PacketKind::read_reply
                                : open.access.operation == trace::Operation::store
                                    ? PacketKind::write_reply
                                    : PacketKind::atomic_reply;
        begin_payload(open, kind);
        if (load) {
          add_payload(open.access.data, open.access.known);
        } else {
          add_unknown(open.access.reply_bytes);  // an atomic's result is not in the trace
        }
        WW_TRY(send(memory_nodes_[slice], cores_[open.core].node, at, kind, reply_class_));
      }
    }
    return {};
  }

  // Header: address below, operation in the top byte.
  void begin_payload(const Open& open, PacketKind kind) {
    const std::uint64_t address = open.access.line * static_cast<std::uint64_t>(config_.line_bytes);
    payload_.assign(header_bytes_, std::byte{0});
    for (std::size_t i = 0; i < std::min<std::size_t>(header_bytes_, 7); ++i) {
      payload_[i] = static_cast<std::byte>(address >> (8 * i));
    }
    payload_.back() = static_cast<std::byte>(kind);
    stats_.known_bytes += header_bytes_;
  }
  void add_payload(const std::vector<std::byte>& data, std::size_t known) {
    payload_.insert(payload_.end(), data.begin(), data.end());
    stats_.known_bytes += known;
    stats_.random_bytes += data.size() - known;
  }
  void add_unknown(std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      payload_.push_back(static_cast<std::byte>(random_.bits() >> 56));
    }
    stats_.random_bytes += bytes;
  }

  Status send(NodeId from, NodeId to, std::uint32_t open, PacketKind kind,
              std::uint8_t message_class) {
    Packet packet;
    packet.source = from;
    packet.destinations = {&to, 1};
    packet.flits = static_cast<std::uint16_t>((payload_.size() + flit_bytes_ - 1) / flit_bytes_);
    packet.message_class = message_class;
    packet.kind = kind;
    packet.tag = open;
    packet.created = network_.now();
    packet.payload = payload_;
    if (kind == PacketKind::read_reply) {
      packet.approximable = config_.approximable;
    }
    packet.approximable.first_byte = static_cast<std::uint16_t>(header_bytes_);
    return network_.inject(packet);
  }

  void take(const Delivery& delivery) {
    record_.add(delivery);
    const auto at = static_cast<std::uint32_t>(delivery.tag);
    Open& open = open_[at];
    const bool request = delivery.kind == PacketKind::read_request ||
                         delivery.kind == PacketKind::write_request ||
                         delivery.kind == PacketKind::atomic_request;
    if (request) {
      Slice& slice = slices_[memory_at_[delivery.destination]];
      const std::uint64_t begin = std::max(delivery.arrived.value(), slice.free_at);
      slice.free_at = begin + 1;
      slice.replies.push_back(Due{begin + static_cast<std::uint64_t>(config_.memory_delay), at});
      return;
    }
    Core& core = cores_[core_at_[delivery.destination]];
    if (open.access.operation == trace::Operation::load) {
      core.l1.fill(open.access.line);
    }
    --core.outstanding;
    --under_way_;
    round_trip_ += delivery.arrived.value() - open.created;
    ++round_trips_;
    free_.push_back(at);
  }

  // No core can go on before something arrives: to the next event of the network or a slice. False
  // when that is now.
  bool skip() {
    std::optional<Cycles> next = network_.next_event();
    for (const Slice& slice : slices_) {
      if (!slice.replies.empty()) {
        const Cycles due{slice.replies.front().cycle};
        next = next ? std::min(*next, due) : due;
      }
    }
    const Cycles now = network_.now();
    if (next && *next > now) {
      network_.skip_to(*next);
    }
    return network_.now() > now;
  }

  Network& network_;
  trace::Reader& reader_;
  const ReplayConfig config_;
  const std::vector<NodeId> memory_nodes_;
  Coalescer coalescer_;
  const std::size_t header_bytes_;
  const std::size_t flit_bytes_;
  const std::uint8_t reply_class_;
  std::vector<Core> cores_;
  std::vector<std::uint32_t> core_at_;    // [node]
  std::vector<std::uint32_t> memory_at_;  // [node]
  std::vector<Slice> slices_;
  std::vector<Open> open_;
  std::vector<std::uint32_t> free_;  // of open_
  std::vector<std::byte> payload_;
  Random random_{config_.seed ^ 0x9E3779B97F4A7C15};
  trace::Access access_;
  bool held_{};     // access_ waits for its launch
  bool started_{};  // a launch has begun
  bool ended_{};
  std::uint32_t launch_{};
  std::size_t queued_{};
  std::uint64_t under_way_{};
  ReplayStats stats_;
  RunRecord record_{network_};
  std::uint64_t round_trip_{};
  std::uint64_t round_trips_{};
};

}  // namespace

Status validate(const ReplayConfig& config, const NetworkConfig& network) {
  WW_TRY(
      check_between("coalesce_lanes", config.coalesce_lanes, 1, static_cast<int>(trace::kLanes)));
  if (static_cast<int>(trace::kLanes) % config.coalesce_lanes != 0) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("coalesce_lanes = {} does not divide a wave of {} lanes",
                            config.coalesce_lanes, trace::kLanes),
                "coalesce_lanes");
  }
  WW_TRY(power_of_two("line_bytes", config.line_bytes, 16, kMaxLineBytes));
  WW_TRY(power_of_two("l1_sets", config.l1_sets, 1, 1 << 20));
  WW_TRY(check_between("l1_ways", config.l1_ways, 1, 64));
  WW_TRY(power_of_two("interleave_bytes", config.interleave_bytes, 16, 1 << 30));
  if (config.interleave_bytes < config.line_bytes) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("interleave_bytes = {} cuts lines of {} bytes", config.interleave_bytes,
                            config.line_bytes),
                "interleave_bytes");
  }
  WW_TRY(check_between("max_outstanding", config.max_outstanding, 1, 1 << 20));
  WW_TRY(check_between("memory_delay", config.memory_delay, 1, 1 << 20));
  WW_TRY(check_between("header_bytes", config.header_bytes, 1, 64));
  WW_TRY(place(network, config.core_nodes, config.memory_nodes));
  const NetworkKind* kind = find_network(network.network);
  if (kind != nullptr && kind->needs_classes && network.classes < 2) {
    return fail(ErrorCode::invalid_argument,
                "a trace needs classes = 2: requests and replies that share virtual channels can "
                "deadlock",
                "classes");
  }
  return {};
}

Result<ReplayResult> replay(Network& network, trace::Reader& reader, const ReplayConfig& config) {
  WW_TRY(validate(config, network.config()));
  WW_ASSIGN(placement, place(network.config(), config.core_nodes, config.memory_nodes));
  return Replay(network, reader, config, std::move(placement)).run();
}

}  // namespace ww::sim::net
