#include "ww/workloads/workloads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>

#include "registry.hpp"
#include "session.hpp"
#include "ww/core/file_system.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/core/suggest.hpp"

namespace ww::workloads {
namespace {

constexpr std::array<std::string_view, 4> kSizes{"small", "medium", "paper", "suite"};
// Host arrays grow with up to the third power of an extent.
constexpr std::size_t kMaxOverSuite = 4;

}  // namespace

Result<Input> complete_input(const Info& info, Input asked) {
  const auto& at = info.extents.at;
  if (asked.extent == 0) return Input{asked.size, at[static_cast<std::size_t>(asked.size)]};
  if (info.extents.of.empty()) {
    return fail(ErrorCode::invalid_argument, fmt::format("{} has no size by number; there are {}",
                                                         info.name, fmt::join(kSizes, ", ")));
  }
  if (asked.extent < at.front() || asked.extent > kMaxOverSuite * at.back()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} takes {} to {} {}, not {}", info.name, at.front(),
                            kMaxOverSuite * at.back(), info.extents.of, asked.extent));
  }
  return asked;
}

std::string to_string(const Input& input) {
  if (input.extent != 0) return std::to_string(input.extent);
  return std::string(kSizes[static_cast<std::size_t>(input.size)]);
}

Result<Input> input_from_string(std::string_view text) {
  const auto named = std::ranges::find(kSizes, text);
  if (named != kSizes.end()) return Input{static_cast<Size>(named - kSizes.begin()), 0};
  std::size_t extent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
  if (error == std::errc{} && end == text.data() + text.size() && extent > 0) {
    return Input{Size::paper, extent};
  }
  return fail(ErrorCode::invalid_argument,
              fmt::format("no size '{}'; there are {}, and a program's own numbers "
                          "('wirewatt workloads list --json' has them)",
                          text, fmt::join(kSizes, ", ")));
}

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass: return "pass";
    case Outcome::fail: return "fail";
    case Outcome::approximate: return "approximate";
    default: return "error";
  }
}

std::vector<Info> list() {
  std::vector<Info> infos;
  for (const Entry& entry : registry()) infos.push_back(entry.info);
  return infos;
}

Result<Batch> run(const Request& request, const std::function<void(const Report&)>& done) {
  std::vector<const Entry*> chosen;
  for (const std::string& name : request.names) {
    const auto entry =
        std::ranges::find(registry(), name, [](const Entry& e) { return e.info.name; });
    if (entry == registry().end()) {
      std::vector<std::string_view> all;
      for (const Entry& known : registry()) all.push_back(known.info.name);
      return fail(ErrorCode::not_found,
                  fmt::format("no workload '{}'; 'wirewatt workloads list' lists them{}", name,
                              did_you_mean(name, all)));
    }
    chosen.push_back(&*entry);
  }
  if (chosen.empty()) {
    for (const Entry& entry : registry()) chosen.push_back(&entry);
  }
  std::vector<Input> inputs;
  for (const Entry* entry : chosen) {
    WW_ASSIGN(input, complete_input(entry->info, request.input));
    inputs.push_back(input);
  }
  if (!request.output_folder.empty()) WW_TRY(make_folder(request.output_folder));
  microbench::DeviceRequest wanted;
  wanted.name = request.device;
  // A chip that is drawn is the one that the environment names already.
  if (const char* seed = std::getenv("WIREWATT_CHIP_SEED")) {
    wanted.chip_seed = std::strtoull(seed, nullptr, 10);
  }
  if (const char* chip_class = std::getenv("WIREWATT_CHIP_CLASS")) {
    wanted.chip_class = chip_class;
  }
  WW_ASSIGN(device, microbench::open_compute_device(wanted));

  Batch batch{device.name, device.is_virtual, {}, {}};
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Entry* entry = chosen[i];
    const auto start = std::chrono::steady_clock::now();
    constexpr std::uint64_t seed = 20160926;  // the same input in every run
    Session session(device, inputs[i], seed, request.time_launches);
    if (!request.output_folder.empty()) {
      session.write_outputs_to(request.output_folder, std::string(entry->info.name),
                               to_string(request.input));
    }
    entry->body(session);
    Report report = session.finish(entry->info.name);
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
    if (done) done(report);
    batch.reports.push_back(std::move(report));
  }
  const char* const timing = device.timing_report ? device.timing_report() : nullptr;
  if (timing != nullptr) batch.timing_report = timing;
  return batch;
}

}  // namespace ww::workloads
