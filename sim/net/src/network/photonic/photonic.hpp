// Crossbars of light: prior-opt, gpuopt and ps-gpuopt.
//
// A station has a lane for every MWSR link (to the station that reads it) and one for its own SWMR
// link. A lane with messages makes an attempt: it listens for a power token (where power is
// shared), then for the link's data token (MWSR alone), sends, and puts both back. Times of light
// are in optical cycles, those of the interface in core cycles; optical time stands still while the
// network halts for its lasers.
#pragma once

#include <algorithm>
#include <vector>

#include "network/photonic/event_wheel.hpp"
#include "network/photonic/laser_control.hpp"
#include "network/photonic/layout.hpp"
#include "network/photonic/predictor.hpp"
#include "network_base.hpp"
#include "reply_buffers.hpp"
#include "ring.hpp"

namespace ww::sim::net::photonic {

class Photonic final : public ClockedNetwork {
 public:
  explicit Photonic(const NetworkConfig& config);

  Status inject(const Packet& packet) override;
  void tick() override;
  [[nodiscard]] std::optional<Cycles> next_event() const override;
  [[nodiscard]] std::uint32_t source_queue(NodeId node, std::uint8_t message_class) const override {
    return unsent_[node * static_cast<std::uint32_t>(config_.classes) + message_class];
  }
  [[nodiscard]] power::NetworkEvents events() const override;
  [[nodiscard]] std::vector<LinkUse> link_use() const override;
  [[nodiscard]] Status check_conservation() const override;
  [[nodiscard]] std::optional<Stuck> stuck(Cycles patience) const override;

 private:
  void skip(Cycles to) override;

  // Lane 0 is the station's own SWMR link, lane m + 1 the MWSR link that position m reads.
  enum class State : std::uint8_t { idle, wants_power, wants_data, sends, backs_off };
  struct Lane {
    std::uint32_t front{kNoPacket}, back{kNoPacket};
    std::uint32_t stamp{};  // changes with the state: what a deadline was set for
    std::uint16_t token{};  // of power
    std::uint16_t sent{};   // messages since the data token was taken
    std::uint8_t fails{};
    State state{State::idle};
  };
  struct Station {
    std::vector<Lane> lanes;
    std::uint64_t wants_power{};  // lanes
    int next_lane{};              // round robin among them
    int held{};                   // power tokens
    int queued{};                 // messages, those on their way to it included
    int next_node{};              // round robin among its nodes
    std::uint32_t local{};        // packets of its nodes for its nodes, not sent yet
    // of the epoch, for the predictors
    std::uint64_t received{}, sent{}, waited{};
    // messages that wait for their first bit, and the sum of the optical cycles they entered in
    std::uint64_t waiting{}, entered_sum{};
    std::uint64_t waiting_time{};  // of the epoch: with such messages, in runs that have ended
    std::int64_t waiting_since{};  // the run under way, whenever it began
    std::uint32_t inside{};        // messages, waiting or on their way out
  };
  // A token passes slot (t - phase) mod loop of its waveguide at cycle t.
  struct Token {
    std::int64_t released{-1};
    int phase{};
    int from{};  // position that released it: in that cycle only those behind it see it
  };
  enum class Kind : std::uint8_t { sent, arrived, pause_over };
  struct Event {
    std::uint32_t packet;
    std::uint16_t lane;
    std::uint8_t station;
    Kind kind;
  };
  struct Deadline {
    std::int64_t at;
    std::uint32_t stamp;
    std::uint16_t lane;
    std::uint8_t station;
  };
  struct Due {
    std::int64_t at;  // core cycle
    std::uint32_t packet;
  };

  // photonic.cpp: electrical side and epochs
  void admit();
  bool admit_from(int station, NodeId node);
  void enter_stations();
  void hand_out(Ring<Due>& from);
  void count_toggles(std::uint32_t packet, NodeId node, bool up);
  void begin_cycle();
  void predict();
  void set_units(int units);
  void count_lit();
  void count_epoch();
  [[nodiscard]] std::uint64_t waited(const Station& station) const;
  [[nodiscard]] int llc_units_held();
  [[nodiscard]] std::int64_t optical(std::int64_t core_cycle) const;
  [[nodiscard]] std::uint64_t in_core_cycles(std::uint64_t optical_cycles) const {
    return optical_cycles * static_cast<std::uint64_t>(keys_.core_mhz) /
           static_cast<std::uint64_t>(keys_.optical_mhz);
  }
  [[nodiscard]] std::int64_t halted_before(std::int64_t core_cycle) const;
  [[nodiscard]] int position_of(NodeId node) const { return position_of_node_[node]; }
  [[nodiscard]] std::size_t lane_of(std::uint32_t packet) const;
  [[nodiscard]] bool on_swmr(int from, int to) const;

  // inspect.cpp: how long nothing may move while nothing is wrong; everything that is lit, tuned
  // and passed by, from the keys
  [[nodiscard]] std::int64_t longest_darkness() const;
  [[nodiscard]] power::PhotonicStructure structure() const;

  // arbitration.cpp: light
  void run_light(std::int64_t end);
  void step();
  void take_events();
  void take_deadlines();
  void pass_data_tokens();
  void pass_power_tokens();
  void attempt(int station, std::size_t lane);
  void listen_for_power(int station, std::size_t lane);
  void listen_for_data(int station, std::size_t lane);
  void stop_listening(int station, std::size_t lane);
  void set_deadline(int station, std::size_t lane);
  void start(int station, std::size_t lane, std::int64_t first_bit);
  void finish(int station, std::size_t lane);
  void release_data(int link, int station);
  void release_power(std::uint16_t token, int station);
  void push(Kind kind, std::int64_t at, int station, std::size_t lane, std::uint32_t packet);
  [[nodiscard]] std::int64_t serialisation(std::uint32_t packet, std::size_t lane) const;
  // Positions that a token passes in this cycle.
  [[nodiscard]] std::uint64_t passes(const Token& token) const {
    int slot = turn_ - token.phase;
    slot += slot < 0 ? layout_.loop_cycles() : 0;
    const std::uint64_t here = layout_.slot_mask(slot);
    return token.released == light_ ? here & ~((std::uint64_t{2} << token.from) - 1) : here;
  }
  void put_on_waveguide(Token& token, int from);

  const PhotonicConfig& keys_;
  const Layout layout_;
  const bool prior_;    // prior-opt: own power for every link
  const bool control_;  // the lasers follow predictions
  const bool data_first_;
  std::uint64_t waiting_stations_{};  // positions with such nodes
  std::vector<std::uint8_t> position_of_node_;
  std::vector<std::uint32_t> unsent_;        // [node][class]
  std::vector<std::uint32_t> next_in_lane_;  // [packet]
  std::vector<std::uint32_t> next_copy_;     // [packet], of one broadcast
  std::vector<std::int64_t> entered_;        // [packet], optical
  std::vector<Station> stations_;            // [position]
  std::vector<std::uint8_t> next_class_;     // [node]
  Ring<Due> entering_, arriving_, local_;

  // light
  std::vector<Token> data_tokens_;        // [link]
  std::vector<std::uint64_t> listeners_;  // [link], positions
  std::uint64_t free_data_{};             // links
  std::uint64_t wanted_{};                // links with listeners
  std::vector<Token> power_tokens_;
  std::uint64_t free_power_{}, held_power_{};  // tokens
  std::uint64_t power_wanted_{};               // positions
  EventWheel<Event> events_;                   // by optical cycle
  Ring<Deadline> deadlines_;
  std::int64_t light_{};  // optical cycle
  int turn_{};            // light_ modulo the loop

  // lasers
  LaserControl laser_;
  int units_{};  // as the controller says; tokens beyond it go out when they are given back
  int next_units_{};
  std::int64_t lit_since_{};
  std::int64_t epoch_began_{}, predicted_at_{};  // optical cycles
  std::uint64_t held_before_epoch_{};            // units x optical cycles
  std::uint64_t llc_held_{};                     // held since the last prediction, by LLC
  int llc_holds_{};                              // now

  std::int64_t last_progress_{};
  std::uint64_t busy_stations_{};
  power::PhotonicEvents light_events_;
  power::NetworkEvents net_events_;
  ReplyBuffers reply_buffers_{config_};
  std::vector<std::uint64_t> link_flits_;      // [from position][to position]
  std::vector<std::vector<std::byte>> wires_;  // [node][up, down]: the last flit
};

}  // namespace ww::sim::net::photonic
