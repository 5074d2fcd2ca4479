#include "launch/alike_waves.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "compute_unit/line_update.hpp"
#include "launch/store_tape.hpp"

namespace ww::sim::gpu::exec {

bool AlikeWaves::learn(std::span<const Request> requests) {
  if (requests.empty() || requests.size() > kMaxRuns) return false;
  for (const Request& request : requests) {
    if (!stores_whole_lines(request)) return false;
    runs_.push_back({request.lines, lines_ * kLineBytes});
    lines_ += request.lines;
  }
  return true;
}

std::uint64_t AlikeWaves::bytes_of_wave() const {
  return lines_ * kLineBytes + runs_.size() * sizeof(line_.front()) + sizeof(taken_.front());
}

bool AlikeWaves::make_room(std::uint64_t waves) {
  bytes_.reset(new (std::nothrow) std::byte[waves * lines_ * kLineBytes]);
  if (bytes_ == nullptr) return false;
  taken_.resize(waves);
  line_.resize(waves * runs_.size());
  return true;
}

bool AlikeWaves::take(std::uint64_t wave, const Request& request) {
  const unsigned run = taken_[wave];
  if (run == runs_.size() || request.lines != runs_[run].lines || !stores_whole_lines(request)) {
    return false;
  }
  const MemoryOperation& operation = *request.operation;
  const auto* const stored = reinterpret_cast<const std::byte*>(operation.data()) +
                             (line_address(request.line) - operation.base);
  std::memcpy(bytes(wave, run), stored, request.lines * kLineBytes);
  line_[wave * runs_.size() + run] = request.line;
  ++taken_[wave];
  return true;
}

bool AlikeWaves::have_all() const {
  return std::ranges::all_of(taken_, [this](unsigned taken) { return taken == runs_.size(); });
}

void NothingBehind::commit(std::vector<std::unique_ptr<ComputeUnit>>& cus,
                           std::span<const std::size_t> engaged, std::int64_t, std::int64_t end,
                           Workers&) {
  const auto differ = [&cus](std::size_t place) { return cus[place]->ways_differ(); };
  if (!recorder_.is_recording() || !are_alike_ || std::ranges::any_of(engaged, differ)) {
    error_ = Error{ErrorCode::device_error, "the waves are not alike", {}};
    return;
  }
  for (const std::size_t place : engaged) {
    ComputeUnit& cu = *cus[place];
    const auto done = static_cast<std::ptrdiff_t>(cu.requests_done);
    const auto later =
        std::find_if(cu.requests.begin() + done, cu.requests.end(),
                     [end](const Request& request) { return request.departure >= end; });
    cu.answer_requests(static_cast<std::size_t>(later - cu.requests.begin() - done), end);
  }
}

}  // namespace ww::sim::gpu::exec
