// Synthetic traffic: who sends what to whom, and when. Deterministic from its seed.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/sim/net/i_network.hpp"
#include "ww/sim/net/random.hpp"

namespace ww::sim::net {

// Definitions as in Dally and Towles (2004), table 3.1, on node numbers x + y * width.
enum class Pattern {
  uniform,         // any node with equal chance, the sender itself included (as BookSim does)
  transpose,       // (x, y) -> (y, x); square meshes
  bit_complement,  // node -> nodes - 1 - node
  bit_reverse,     // nodes a power of two
  shuffle,         // nodes a power of two
  tornado,         // half way round each axis
  neighbour,       // one step along each axis
  hot_spot,        // hot_fraction to the hot nodes, the rest uniform
  many_to_few,     // cores ask memory controllers, which reply: needs two message classes
};
[[nodiscard]] std::string_view to_string(Pattern pattern);
// Error invalid_argument, key traffic, for an unknown name.
[[nodiscard]] Result<Pattern> pattern_from_string(std::string_view text);

// Source of the random numbers.
enum class Stream {
  // BookSim's where it knows the traffic and the load is at least 0.05; native below, where runs
  // differ by chance in the fourth digit only and drawing would cost a quarter of the time.
  automatic,
  native,   // xoshiro256**: fast, every pattern
  booksim,  // the very packets that BookSim 2 draws for this seed, created in the same cycles;
            // uniform traffic and permutations without bursts
};

struct TrafficConfig {
  Pattern pattern{Pattern::uniform};
  double rate{0.1};    // flits offered per node and cycle; for many_to_few, request flits per core
  int packet_size{1};  // flits
  std::uint64_t seed{1};
  Stream stream{Stream::automatic};

  // Bursts: a node sends only while it is on. Mean burst 1/burst_stop cycles, mean pause
  // 1/burst_start; the rate while on is raised so that the mean stays `rate`. 0, 0: no bursts.
  double burst_start{0};
  double burst_stop{0};

  std::vector<NodeId> hot_nodes;  // empty: the middle node
  double hot_fraction{0.2};

  // many_to_few. Empty memory_nodes: spread over the top and bottom rows, a quarter of the nodes.
  // Empty core_nodes: all others.
  std::vector<NodeId> core_nodes;
  std::vector<NodeId> memory_nodes;
  double write_fraction{0};
  int read_request_flits{1};
  int read_reply_flits{5};
  int write_request_flits{5};
  int write_reply_flits{1};
  int memory_delay{100};   // cycles from the request's arrival to the reply's creation
  int max_outstanding{0};  // requests a core may have open; 0: no bound (open loop)
};

// Errors invalid_argument or out_of_range: the message names the key and the reason (rate > 1,
// transpose on a mesh that is not square, a hot node that does not exist, ...).
[[nodiscard]] Status validate(const TrafficConfig& traffic, const NetworkConfig& network);

// The highest rate that validate() takes: below 1 where a node only sends in bursts, since it sends
// at most a packet a cycle while one lasts.
[[nodiscard]] double most_rate(const TrafficConfig& traffic);

// Returns where packets of `source` go under a permutation. Precondition: validate() has succeeded,
// and the pattern is neither uniform, hot_spot nor many_to_few.
[[nodiscard]] NodeId permutation_partner(Pattern pattern, NodeId source,
                                         const NetworkConfig& network);

class BooksimStream;

class TrafficSource {
 public:
  // Precondition: validate(config, network) has succeeded.
  TrafficSource(const TrafficConfig& config, const NetworkConfig& network);
  ~TrafficSource();

  // Packets generated from cycle `begin` on and created before `end` are measured: tag 1, else 0.
  void measure(Cycles begin, Cycles end);
  [[nodiscard]] std::uint64_t measured_packets() const { return measured_packets_; }
  // No packet created before the end of the measurement is still to be generated.
  [[nodiscard]] bool caught_up() const;

  // Injects what is created in the cycle network.now(); call once before every tick.
  // Precondition: !plans().
  Status generate(Network& network);
  // Whether the packets depend on nothing that the network does. Then plan() replaces generate().
  [[nodiscard]] bool plans() const { return !misses_.empty(); }
  // The packets of the cycles from `now` on and before `end`, or before an earlier cycle if they
  // are many. They last until the next call. Precondition: plans(), and now < end.
  [[nodiscard]] Plan plan(Cycles now, Cycles end);
  // Reports to the source what arrived (replies, open requests); call for every delivery.
  void on_delivery(const Delivery& delivery);

  // The numbers that the destinations come from, or others of the same seed where these are no
  // integers of BookSim's. A network that draws ways shares them, as BookSim does.
  [[nodiscard]] std::shared_ptr<Draws> draws() const;

  // Flits created so far, those of nodes that have fallen behind estimated from their rate.
  [[nodiscard]] double offered_flits(Cycles now) const;

 private:
  struct Reply {
    std::uint64_t due;
    NodeId from;
    NodeId to;
    std::uint16_t flits;
    PacketKind kind;
  };

  Status generate_as_booksim(Network& network);
  Status send_to(Network& network, NodeId source, NodeId destination, std::uint64_t created);
  [[nodiscard]] NodeId destination(NodeId source);
  [[nodiscard]] std::uint64_t draw_gap();
  Status send_request(Network& network, NodeId source);
  Status send(Network& network, Packet& packet);
  Status send_replies(Network& network);

  TrafficConfig config_;
  std::uint32_t nodes_;
  Packet packet_;  // what the packets of send_to() have in common
  std::uint64_t coin_threshold_{};
  // The native stream of steady traffic: every node throws a coin in every cycle, the one with the
  // lowest number first, and all coins are counted in one row.
  std::vector<std::uint64_t> misses_;    // [n]: probability that n + 1 coins miss, times 2^64
  std::vector<std::uint16_t> gap_from_;  // [top bits of a number]: the first entry of misses_
                                         // that is not above the highest such number
  std::uint64_t misses_left_{};          // before the next coin that hits
  std::vector<Plan::Entry> planned_;
  std::uint64_t start_threshold_{};
  std::uint64_t stop_threshold_{};
  std::vector<NodeId> partner_;  // of permutations
  std::vector<std::uint64_t> sender_mask_;
  std::vector<std::uint64_t> on_;  // nodes within a burst
  std::vector<int> outstanding_;
  std::vector<Reply> replies_;  // a ring, by due cycle: the delay is the same for all
  std::size_t reply_front_{};
  std::uint64_t offered_flits_{};
  std::uint64_t begin_{};
  std::uint64_t end_{};
  std::uint64_t now_{};  // in which generate() was called last
  std::uint64_t measured_packets_{};
  Random random_;
  // Stream::booksim. A node draws a coin per cycle while its queue is empty; one that has been
  // busy catches up from the cycle after its last packet.
  std::shared_ptr<BooksimStream> booksim_;
  std::vector<std::uint64_t> behind_;  // nodes with an entry in next_draw_
  std::vector<std::uint64_t> next_draw_;
};

}  // namespace ww::sim::net
