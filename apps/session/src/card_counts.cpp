#include "ww/session/card_counts.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "ww/measure/counted/in_process.hpp"
#include "ww/measure/gpu_choice.hpp"

namespace ww::session {
namespace {

// Between samples that no stretch asks for: sums of 32 bits, which some blocks have, wrap later.
constexpr std::chrono::milliseconds kInterval{1000};

std::mutex the_mutex;
// The folder of this process. A child that exits must leave the parent's folder alone, so it never
// goes there.
struct Owned {
  std::unique_ptr<CardCounts> counts;
  pid_t process{};
  ~Owned() {
    if (process != ::getpid()) static_cast<void>(counts.release());
  }
};
Owned& owned() {
  static Owned all;
  return all;
}

void add(measure::CounterDispatch& sum, const measure::CounterDispatch& stretch) {
  for (const auto& [counter, value] : stretch.counters) sum.counters[counter] += value;
  for (const auto& [counter, reason] : stretch.missing) sum.missing[counter] = reason;
  sum.duration_ns = sum.duration_ns.value_or(0) + stretch.duration_ns.value_or(0);
}

}  // namespace

CardCounts::CardCounts(measure::DeviceCounting counting, std::string card, std::string part)
    : counting_(std::move(counting)), card_(std::move(card)), part_(std::move(part)) {}

Status CardCounts::request(const std::string& device) {
  const auto telemetry = measure::find_telemetry();
  WW_ASSIGN(index, measure::choose_gpu(telemetry, device));
  const measure::TelemetryGpu& gpu = telemetry.gpus[index];
  if (!gpu.amd || gpu.amd->target.empty()) {
    return fail(ErrorCode::unsupported,
                "is no card of AMD's that the driver lists among what computes: only those are "
                "counted from inside a program",
                measure::name_with_address(gpu));
  }
  const std::lock_guard lock(the_mutex);
  const std::string card = to_string(gpu.pci);
  if (owned().counts != nullptr) {
    if (owned().counts->card_ == card) return {};
    return fail(ErrorCode::invalid_argument, "another card is counted: " + owned().counts->card_,
                card);
  }
  const std::string& part = gpu.amd->target;
  WW_ASSIGN(sdk, measure::find_counting_sdk(part));
  measure::DeviceCountRequest request{part, {card}, kInterval};
  if (gpu.amd->other_die) request.cards.push_back(to_string(gpu.amd->other_die->pci));
  WW_ASSIGN(counting, measure::DeviceCounting::prepare(sdk, std::move(request)));
  std::unique_ptr<CardCounts> counts(new CardCounts(std::move(counting), card, part));
  counts->take_environment();
  owned().counts = std::move(counts);
  owned().process = ::getpid();
  return {};
}

CardCounts* CardCounts::of(const measure::TelemetryGpu& gpu) {
  const std::lock_guard lock(the_mutex);
  CardCounts* counts = owned().counts.get();
  return counts != nullptr && counts->card_ == to_string(gpu.pci) ? counts : nullptr;
}

void CardCounts::take_environment() {
  for (const auto& [name, value] : counting_.environment()) {
    const char* set = std::getenv(name.c_str());
    before_.emplace_back(name, set == nullptr ? std::nullopt : std::optional<std::string>(set));
    ::setenv(name.c_str(), value.c_str(), 1);
  }
}

void CardCounts::restore_environment() {
  for (const auto& [name, value] : std::exchange(before_, {})) {
    if (value) {
      ::setenv(name.c_str(), value->c_str(), 1);
    } else {
      ::unsetenv(name.c_str());
    }
  }
}

Result<CardCounts::Sums> CardCounts::now() {
  const std::lock_guard lock(mutex_);
  const Status sampled = counting_.sample_now();
  WW_ASSIGN(news, counting_.poll());
  if (!sampled) {
    const auto& error = sampled.error();
    return fail(error.code, error.message + (news.trouble.empty() ? "" : ": " + news.trouble));
  }
  restore_environment();  // children of this process are not to be counted
  for (const measure::CounterDispatch& stretch : news.stretches) {
    const auto [sum, is_new] = sums_.emplace(stretch.agent, stretch);
    if (!is_new) add(sum->second, stretch);
  }
  return sums_;
}

std::vector<measure::CounterDispatch> CardCounts::between(const Sums& before, const Sums& after) {
  std::vector<measure::CounterDispatch> found;
  for (const auto& [agent, sum] : after) {
    measure::CounterDispatch part = sum;
    part.start_ns.reset();  // of a sum of stretches it says nothing
    if (const auto earlier = before.find(agent); earlier != before.end()) {
      for (auto& [counter, value] : part.counters) {
        const auto at = earlier->second.counters.find(counter);
        if (at != earlier->second.counters.end()) value -= at->second;
      }
      part.duration_ns = part.duration_ns.value_or(0) - earlier->second.duration_ns.value_or(0);
    }
    if (*part.duration_ns > 0) found.push_back(std::move(part));
  }
  return found;
}

std::string CardCounts::source() const {
  return "counted on the whole card, other processes included, by rocprofiler-sdk " +
         counting_.release() + " inside the program";
}

}  // namespace ww::session
