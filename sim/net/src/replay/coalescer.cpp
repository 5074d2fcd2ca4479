#include "replay/coalescer.hpp"

#include <algorithm>
#include <bit>

namespace ww::sim::net {

std::span<LineAccess> Coalescer::coalesce(const trace::Access& access,
                                          const trace::Instruction& instruction) {
  using trace::Operation;
  const std::size_t element = instruction.element_bytes;
  results_ = 0;
  // Notes the memory that the instruction shows, before its lines are made up.
  for (std::uint64_t left = access.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    const bool plain =
        instruction.operation == Operation::load || instruction.operation == Operation::store;
    if (plain && access.has_values) {
      memory_.write(access.address[lane], &access.value[lane * trace::kMaxValueBytes], element);
    } else if (instruction.operation != Operation::load) {
      memory_.forget(access.address[lane], element);
    }
  }
  for (unsigned first = 0; first < trace::kLanes; first += lanes_) {
    const std::uint64_t all =
        lanes_ == trace::kLanes ? ~std::uint64_t{0} : (std::uint64_t{1} << lanes_) - 1;
    const std::uint64_t group = access.lanes & (all << first);
    find_lines(access, group, element);
    for (const Touched& touched : touched_) {
      emit(touched, access, instruction);
    }
  }
  return {result_.data(), results_};
}

void Coalescer::find_lines(const trace::Access& access, std::uint64_t group,
                           std::size_t element_bytes) {
  touched_.clear();
  std::size_t latest = 0;
  for (std::uint64_t left = group; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    const std::uint64_t address = access.address[lane];
    const std::uint64_t last = (address + element_bytes - 1) / line_bytes_;
    for (std::uint64_t line = address / line_bytes_; line <= last; ++line) {
      if (latest >= touched_.size() || touched_[latest].line != line) {
        const auto found = std::find_if(touched_.begin(), touched_.end(),
                                        [&](const Touched& one) { return one.line == line; });
        latest = static_cast<std::size_t>(found - touched_.begin());
        if (found == touched_.end()) {
          touched_.push_back(Touched{line, 0});
        }
      }
      touched_[latest].lanes |= std::uint64_t{1} << lane;
    }
  }
}

void Coalescer::emit(const Touched& touched, const trace::Access& access,
                     const trace::Instruction& instruction) {
  using trace::Operation;
  if (results_ == result_.size()) {
    result_.emplace_back();
  }
  LineAccess& out = result_[results_++];
  out.line = touched.line;
  out.operation = instruction.operation;
  out.reply_bytes = 0;
  switch (instruction.operation) {
    case Operation::load:
      out.reply_bytes = static_cast<std::uint16_t>(line_bytes_);
      out.data.resize(line_bytes_);
      out.known = static_cast<std::uint16_t>(
          memory_.read(touched.line * line_bytes_, out.data.data(), line_bytes_, random_));
      return;
    case Operation::store: store_data(out, touched, access, instruction.element_bytes); return;
    case Operation::atomic:
    case Operation::atomic_return: atomic_data(out, touched, access, instruction); return;
  }
}

void Coalescer::store_data(LineAccess& out, const Touched& touched, const trace::Access& access,
                           std::size_t element_bytes) {
  std::array<bool, kMaxLineBytes> written{};
  const std::uint64_t begin = touched.line * line_bytes_;
  for (std::uint64_t left = touched.lanes; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    const std::uint64_t from = std::max(access.address[lane], begin);
    const std::uint64_t to = std::min(access.address[lane] + element_bytes, begin + line_bytes_);
    std::fill(written.begin() + static_cast<std::ptrdiff_t>(from - begin),
              written.begin() + static_cast<std::ptrdiff_t>(to - begin), true);
  }
  std::array<std::byte, kMaxLineBytes> line;
  // Bytes that the store has just shown are known; without values none of them is.
  memory_.read(begin, line.data(), line_bytes_, random_);
  out.data.clear();
  for (std::size_t at = 0; at < line_bytes_; ++at) {
    if (written[at]) {
      out.data.push_back(line[at]);
    }
  }
  out.known = static_cast<std::uint16_t>(access.has_values ? out.data.size() : 0);
}

void Coalescer::atomic_data(LineAccess& out, const Touched& touched, const trace::Access& access,
                            const trace::Instruction& instruction) {
  const std::size_t bytes = instruction.value_bytes;
  out.data.clear();
  std::size_t lanes = 0;
  for (std::uint64_t left = touched.lanes; left != 0; left &= left - 1, ++lanes) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(left));
    for (std::size_t i = 0; i < bytes; ++i) {
      out.data.push_back(access.has_values ? access.value[lane * trace::kMaxValueBytes + i]
                                           : static_cast<std::byte>(random_.bits() >> 56));
    }
  }
  out.known = static_cast<std::uint16_t>(access.has_values ? out.data.size() : 0);
  if (instruction.operation == trace::Operation::atomic_return) {
    out.reply_bytes = static_cast<std::uint16_t>(lanes * instruction.element_bytes);
  }
}

}  // namespace ww::sim::net
