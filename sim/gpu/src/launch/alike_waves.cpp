#include "launch/alike_waves.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "compute_unit/line_update.hpp"
#include "launch/store_tape.hpp"

namespace ww::sim::gpu::exec {

AlikeWaves::Run AlikeWaves::run_of(const Request& request, const Request* before) {
  Run run{.lines = request.lines, .past_gl1 = request.past_gl1};
  run.opens = before == nullptr || before->operation != request.operation;
  if (!run.opens) run.after = request.departure - before->departure;
  return run;
}

bool AlikeWaves::learn(std::span<const Request> requests) {
  if (requests.empty() || requests.size() > kMostRuns) return false;
  for (const Request& request : requests) {
    if (!stores_whole_lines(request)) return false;
    Run& run =
        runs_.emplace_back(run_of(request, &request == requests.data() ? nullptr : &request - 1));
    run.at = lines_ * kLineBytes;
    lines_ += run.lines;
  }
  return true;
}

std::uint64_t AlikeWaves::bytes_of_wave() const {
  return lines_ * kLineBytes + runs_.size() * sizeof(line_.front()) + sizeof(taken_.front());
}

void AlikeWaves::make_room(std::uint64_t waves) {
  taken_.resize(waves);
  line_.resize(waves * runs_.size());
  bytes_ = std::make_unique_for_overwrite<std::byte[]>(waves * lines_ * kLineBytes);
}

bool AlikeWaves::take(std::uint64_t wave, const Request& request, const Request* before) {
  const unsigned number = taken_[wave];
  if (number == runs_.size() || !stores_whole_lines(request)) return false;
  Run run = run_of(request, before);
  run.at = runs_[number].at;
  if (run != runs_[number]) return false;
  const MemoryOperation& operation = *request.operation;
  const auto* const stored = reinterpret_cast<const std::byte*>(operation.data()) +
                             (line_address(request.line) - operation.base);
  std::memcpy(bytes(wave, number), stored, run.lines * kLineBytes);
  line_[wave * runs_.size() + number] = request.line;
  ++taken_[wave];
  return true;
}

bool AlikeWaves::take(std::uint64_t wave, std::span<const Request> requests) {
  const Request* before = nullptr;
  return std::ranges::all_of(requests, [&](const Request& request) {
    return take(wave, request, std::exchange(before, &request));
  });
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
