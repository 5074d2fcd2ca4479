// A memory channel with banks and open pages: first ready, first come, first served. Source of the
// scheme: Rixner et al., "Memory access scheduling" (ISCA 2000); of the timings: DramConfig.
#pragma once

#include <cstdint>
#include <vector>

#include "ww/sim/gpu/timing.hpp"

namespace ww::sim::gpu::timing {

class Dram {
 public:
  explicit Dram(const DramConfig& config);

  struct Command {
    std::uint32_t line{};  // of the channel: its lines in a row
    std::uint32_t tag{};   // the caller's
    bool write{};
  };
  struct Done {
    std::int64_t cycle{};  // of the channel's clock: the last datum is on the bus
    std::uint32_t tag{};
  };

  [[nodiscard]] bool has_room(int commands) const {
    return static_cast<int>(queue_.size()) + commands <= config_.queue;
  }
  void push(const Command& command);
  // Runs the clock up to `cycle`, exclusive. Reads appear in done(), in order of cycle.
  void run(std::int64_t cycle);
  // First cycle in which a command may go; the largest number when none waits.
  [[nodiscard]] std::int64_t next_event() const;
  [[nodiscard]] std::vector<Done>& done() { return done_; }

  [[nodiscard]] bool empty() const { return queue_.empty() && done_.empty(); }
  void forget_commands() {
    queue_.clear();
    done_.clear();
  }
  [[nodiscard]] std::uint64_t reads() const { return reads_; }
  [[nodiscard]] std::uint64_t writes() const { return writes_; }
  [[nodiscard]] std::uint64_t row_hits() const { return row_hits_; }

 private:
  struct Bank {
    std::int64_t row{-1};      // open; -1: none
    std::int64_t activate{};   // earliest next activation
    std::int64_t column{};     // earliest read or write of the open row
    std::int64_t precharge{};  // earliest closing
  };
  struct Waiting {
    Command command;
    std::uint32_t bank{};
    std::int64_t row{};
    bool missed{};  // its row had to be opened for it
  };
  [[nodiscard]] std::int64_t column_at(const Waiting& waiting) const;
  bool issue_column(std::int64_t now);
  bool issue_activate(std::int64_t now);

  DramConfig config_;
  std::uint32_t lines_per_row_;
  std::vector<Bank> banks_;
  std::vector<Waiting> queue_;  // in order of arrival
  std::vector<Done> done_;
  std::int64_t now_{};
  std::int64_t bus_free_{};
  std::int64_t read_after_write_{};  // bus turn-around
  std::int64_t last_activate_{};
  std::uint64_t reads_{}, writes_{}, row_hits_{};
};

}  // namespace ww::sim::gpu::timing
