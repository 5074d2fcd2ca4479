#include "ww/microbench/counter_check.hpp"

#include <fmt/format.h>

#include "host/pinning.hpp"
#include "ww/kernels/patterns.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::microbench {

namespace {

constexpr std::size_t kBytesOfWorkItem = 16;

}  // namespace

std::size_t KnownCopy::groups() const {
  return bytes() / kBytesOfWorkItem / kernels::kPtxGroupSize;
}

Result<KnownCopy> KnownCopy::make(ComputeHost& host, std::size_t bytes) {
  kernels::Macros macros;
  macros.group_size = kernels::kPtxGroupSize;
  macros.target = kernel_target(host.facts().target);
  const std::size_t step = kBytesOfWorkItem * macros.group_size;
  bytes = bytes / step * step;
  if (bytes == 0) return fail(ErrorCode::invalid_argument, "too few bytes to copy");
  KnownCopy copy(host);
  WW_ASSIGN(source, kernels::find_source("known_bytes"));
  WW_ASSIGN(text, kernels::program_text(source, macros));
  WW_ASSIGN(binary, host.build(text, "known_bytes"));
  WW_ASSIGN(kernel, host.load(binary, "known_bytes"));
  copy.kernel_ = std::move(kernel);
  WW_ASSIGN(from, host.create_buffer(bytes));
  WW_ASSIGN(to, host.create_buffer(bytes));
  copy.from_ = std::move(from);
  copy.to_ = std::move(to);
  copy.content_.resize(bytes);
  WW_TRY(copy.kernel_->set(0, *copy.from_));
  WW_TRY(copy.kernel_->set(1, *copy.to_));
  WW_TRY(copy.kernel_->set(2, static_cast<std::uint32_t>(bytes / kBytesOfWorkItem)));
  return copy;
}

Status KnownCopy::fill(std::uint64_t seed) {
  kernels::fill(content_, kernels::Pattern::random, seed);
  WW_TRY(from_->write(0, content_));
  return host_->finish();
}

Status KnownCopy::launch() {
  return kernel_->launch(groups(), kernels::kPtxGroupSize);
}

Status KnownCopy::launch_and_wait() {
  WW_TRY(launch());
  return host_->finish();
}

Result<double> KnownCopy::time_launch() {
  return kernel_->time_launch(groups(), kernels::kPtxGroupSize);
}

Status KnownCopy::check() {
  std::vector<std::byte> copy(bytes());
  WW_TRY(to_->read(0, copy));
  for (std::size_t i = 0; i < copy.size(); ++i) {
    if ((copy[i] ^ content_[i]) != std::byte{0xA5}) {
      return fail(ErrorCode::bad_data, fmt::format("byte {} of the known copy is wrong", i),
                  host_->device_name());
    }
  }
  return {};
}

Result<std::size_t> copy_known_bytes(ComputeHost& host, std::size_t bytes, int runs,
                                     const std::function<Status(int)>& after_each) {
  WW_ASSIGN(copy, KnownCopy::make(host, bytes));
  for (int run = 0; run < runs; ++run) {
    // New data each time: writing what is there already might be no write at all.
    WW_TRY(copy.fill(static_cast<std::uint64_t>(run) + 1));
    WW_TRY(copy.launch_and_wait());
    if (after_each) WW_TRY(after_each(run));
  }
  WW_TRY(copy.check());
  return copy.bytes();
}

Result<std::vector<measure::MappingCheck>> check_counter_mapping(ComputeHost& host,
                                                                 const measure::Counters& counters,
                                                                 std::int64_t l2_bytes,
                                                                 std::size_t bytes, int runs) {
  std::vector<measure::CounterDispatch> dispatches;
  const auto note = [&](int) -> Status {
    // The copy is the last thing that was launched.
    const std::uint64_t end = counters.dispatch_count();
    measure::CounterDispatch dispatch;
    dispatch.id = end - 1;
    dispatch.kernel = "known_bytes";
    WW_ASSIGN(sums, counters.sum(end - 1, end));
    dispatch.counters = std::move(sums);
    dispatches.push_back(std::move(dispatch));
    return {};
  };
  WW_ASSIGN(copied, copy_known_bytes(host, bytes, runs, note));
  measure::KnownBytes known;
  known.read = known.written = static_cast<double>(copied);
  known.l2_bytes = static_cast<double>(l2_bytes);
  return measure::check_mapping(host.facts().target, dispatches, known);
}

}  // namespace ww::microbench
