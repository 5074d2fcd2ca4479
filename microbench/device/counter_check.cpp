#include "ww/microbench/counter_check.hpp"

#include <fmt/format.h>

#include "host/pinning.hpp"
#include "ww/kernels/patterns.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::microbench {

Result<std::size_t> copy_known_bytes(ComputeHost& host, std::size_t bytes, int runs,
                                     const std::function<Status(int)>& after_each) {
  const HostFacts facts = host.facts();
  kernels::Macros macros;
  macros.group_size = kernels::kPtxGroupSize;
  macros.target = kernel_target(facts.target);
  bytes = bytes / (16 * macros.group_size) * (16 * macros.group_size);
  if (bytes == 0) return fail(ErrorCode::invalid_argument, "too few bytes to copy");
  WW_ASSIGN(source, kernels::find_source("known_bytes"));
  WW_ASSIGN(text, kernels::program_text(source, macros));
  WW_ASSIGN(binary, host.build(text, "known_bytes"));
  WW_ASSIGN(kernel, host.load(binary, "known_bytes"));
  WW_ASSIGN(from, host.create_buffer(bytes));
  WW_ASSIGN(to, host.create_buffer(bytes));
  std::vector<std::byte> content(bytes);
  WW_TRY(kernel->set(0, *from));
  WW_TRY(kernel->set(1, *to));
  WW_TRY(kernel->set(2, static_cast<std::uint32_t>(bytes / 16)));
  for (int run = 0; run < runs; ++run) {
    // New data each time: writing what is there already might be no write at all.
    kernels::fill(content, kernels::Pattern::random, static_cast<std::uint64_t>(run) + 1);
    WW_TRY(from->write(0, content));
    WW_TRY(host.finish());
    WW_TRY(kernel->launch(bytes / 16 / macros.group_size, macros.group_size));
    WW_TRY(host.finish());
    if (after_each) WW_TRY(after_each(run));
  }
  std::vector<std::byte> copy(bytes);
  WW_TRY(to->read(0, copy));
  for (std::size_t i = 0; i < bytes; ++i) {
    if ((copy[i] ^ content[i]) != std::byte{0xA5}) {
      return fail(ErrorCode::bad_data, fmt::format("byte {} of the known copy is wrong", i),
                  facts.device);
    }
  }
  return bytes;
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
