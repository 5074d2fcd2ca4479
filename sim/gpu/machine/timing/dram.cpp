#include "machine/timing/dram.hpp"

#include <algorithm>
#include <limits>

namespace ww::sim::gpu::timing {
namespace {
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t kLineBytes = 64;
}  // namespace

Dram::Dram(const DramConfig& config)
    : config_(config),
      lines_per_row_(static_cast<std::uint32_t>(config.row_bytes) / kLineBytes),
      banks_(static_cast<std::size_t>(config.banks)),
      last_activate_(-config.rrd) {}

void Dram::push(const Command& command) {
  // Rows follow one another from bank to bank.
  const std::uint32_t row = command.line / lines_per_row_;
  const auto banks = static_cast<std::uint32_t>(config_.banks);
  queue_.push_back({command, row % banks, row / banks, false});
}

// When the command's column access may go, given that its row is open.
std::int64_t Dram::column_at(const Waiting& waiting) const {
  const std::int64_t bank = banks_[waiting.bank].column;
  if (waiting.command.write) return std::max(bank, bus_free_ - config_.wl);
  return std::max({bank, bus_free_ - config_.cl, read_after_write_});
}

bool Dram::issue_column(std::int64_t now) {
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const Waiting& waiting = queue_[i];
    Bank& bank = banks_[waiting.bank];
    if (bank.row != waiting.row || column_at(waiting) > now) continue;
    const bool write = waiting.command.write;
    const std::int64_t data_end = now + (write ? config_.wl : config_.cl) + config_.burst;
    bus_free_ = data_end;
    bank.column = now + config_.burst;
    if (write) {
      ++writes_;
      read_after_write_ = data_end + config_.cdlr;
      bank.precharge = std::max(bank.precharge, data_end + config_.wr);
    } else {
      ++reads_;
      bank.precharge = std::max(bank.precharge, now + config_.rtp);
      done_.push_back({data_end, waiting.command.tag});
    }
    row_hits_ += waiting.missed ? 0 : 1;
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

// Opens the row of the oldest command whose bank has no use for the row that is open.
bool Dram::issue_activate(std::int64_t now) {
  if (now < last_activate_ + config_.rrd) return false;
  // Banks that are spoken for: first those whose open row a command still wants.
  std::uint64_t claimed = 0;
  for (const Waiting& waiting : queue_) {
    claimed |= std::uint64_t{banks_[waiting.bank].row == waiting.row} << waiting.bank;
  }
  for (Waiting& waiting : queue_) {
    const std::uint64_t bit = std::uint64_t{1} << waiting.bank;
    if ((claimed & bit) != 0) continue;
    claimed |= bit;
    Bank& bank = banks_[waiting.bank];
    const std::int64_t close = bank.row >= 0 ? config_.rp : 0;
    if (bank.row >= 0 && bank.precharge > now) continue;
    if (bank.activate > now + close) continue;
    const std::int64_t opened = now + close;
    bank.row = waiting.row;
    bank.activate = opened + config_.rc;
    bank.column = opened + config_.rcd;
    bank.precharge = opened + config_.ras;
    last_activate_ = now;
    waiting.missed = true;
    return true;
  }
  return false;
}

void Dram::run(std::int64_t cycle) {
  while (now_ < cycle) {
    if (queue_.empty()) {
      now_ = cycle;
      return;
    }
    bool any = issue_column(now_);
    any = issue_activate(now_) || any;
    now_ = any ? now_ + 1 : std::min(cycle, std::max(now_ + 1, next_event()));
  }
}

std::int64_t Dram::next_event() const {
  std::int64_t next = kNever;
  for (const Waiting& waiting : queue_) {
    const Bank& bank = banks_[waiting.bank];
    if (bank.row == waiting.row) {
      next = std::min(next, column_at(waiting));
    } else {
      const std::int64_t close = bank.row >= 0 ? config_.rp : 0;
      const std::int64_t ready =
          std::max(bank.row >= 0 ? bank.precharge : 0, bank.activate - close);
      next = std::min(next, std::max(ready, last_activate_ + config_.rrd));
    }
  }
  return next == kNever ? kNever : std::max(next, now_);
}

}  // namespace ww::sim::gpu::timing
