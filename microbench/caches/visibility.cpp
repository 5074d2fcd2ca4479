#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "device/topology_probe.hpp"
#include "host/pinning.hpp"
#include "ww/core/interrupt.hpp"
#include "ww/microbench/raw_probes.hpp"

namespace ww::microbench {
namespace {

// Half of the smallest cache of a shader array (128 KiB), so that its lines stay there.
constexpr std::uint32_t kVisibleLines = 512;
constexpr std::size_t kVisibleLineBytes = 128;
// Rounds for each kind of load. 16,384 lines without a stale one bound their share at 0.02% (95%).
constexpr int kVisibilityRounds = 32;
constexpr int kVisibilityTries = 5;  // each with four times as many wavefronts
constexpr std::size_t kControlWords = 8;
constexpr std::size_t kStaleAt = 4, kDoneAt = 5;

class VisibilityTest {
 public:
  VisibilityTest(ComputeHost& host, const Prober& prober) : host_(host), prober_(prober) {}

  Status set_up(std::uint32_t mask, std::uint32_t reader, std::uint32_t writer) {
    WW_ASSIGN(kernel, prober_.kernel("visible", true));
    kernel_ = std::move(kernel);
    WW_ASSIGN(lines, host_.create_buffer(kVisibleLines * kVisibleLineBytes));
    lines_ = std::move(lines);
    WW_ASSIGN(control, host_.create_buffer(kControlWords * sizeof(std::uint32_t)));
    control_ = std::move(control);
    const std::vector<std::byte> zeros(kVisibleLines * kVisibleLineBytes);
    WW_TRY(lines_->write(0, zeros));
    WW_TRY(kernel_->set(0, *lines_));
    WW_TRY(kernel_->set(1, kVisibleLines));
    WW_TRY(kernel_->set(2, mask));
    WW_TRY(kernel_->set(3, reader));
    WW_TRY(kernel_->set(4, writer));
    return kernel_->set(7, *control_);
  }

  // Stale lines of one round.
  Result<std::int64_t> round(bool plain) {
    WW_TRY(kernel_->set(6, static_cast<std::uint32_t>(plain)));
    for (int attempt = 0; attempt < kVisibilityTries; ++attempt) {
      if (interrupted()) return fail(ErrorCode::cancelled, "interrupted");
      std::array<std::uint32_t, kControlWords> control{};
      WW_TRY(control_->write(0, std::as_bytes(std::span(control))));
      WW_TRY(kernel_->set(5, ++value_));  // never what the lines hold
      WW_TRY(kernel_->launch(groups_, prober_.wave_size()));
      WW_TRY(host_.finish());
      WW_TRY(control_->read(0, std::as_writable_bytes(std::span(control))));
      if (control[kDoneAt] == 1) return control[kStaleAt];
      groups_ *= 4;
    }
    return fail(ErrorCode::bad_data,
                "wavefronts of the two places never ran at once, so that neither saw the other",
                host_.device_name());
  }

 private:
  ComputeHost& host_;
  const Prober& prober_;
  std::unique_ptr<LoadedKernel> kernel_;
  std::unique_ptr<DeviceBuffer> lines_, control_;
  std::uint32_t value_{};
  std::size_t groups_{512};
};

}  // namespace

Result<Visibility> test_visibility(ComputeHost& host) {
  const HostFacts facts = host.facts();
  WW_ASSIGN(pinning, make_pinning(facts.target));
  Prober prober(host, pinning.get(), {});
  WW_TRY(prober.set_up());
  WW_ASSIGN(places, prober.places(facts.compute_units));
  // Units of one engine are numbered by shader array, 64 to each.
  const auto array_of = [](const TopologyPlace& place) {
    return std::pair(place.engine, place.cu / 64);
  };
  const auto other = std::ranges::find_if(places, [&](const TopologyPlace& place) {
    return array_of(place) != array_of(places.front());
  });
  if (other == places.end()) {
    return fail(ErrorCode::unsupported, "it has one shader array, whose caches all places share",
                facts.device);
  }
  Visibility found;
  found.lines = static_cast<int>(kVisibleLines);
  found.places = static_cast<int>(places.size());
  found.reader = places.front().id;
  found.writer = other->id;
  VisibilityTest test(host, prober);
  WW_TRY(test.set_up(pinning->place_mask(), found.reader, found.writer));
  for (; found.rounds < kVisibilityRounds; ++found.rounds) {
    WW_ASSIGN(stale_plain, test.round(true));
    WW_ASSIGN(stale, test.round(false));
    found.stale_plain += stale_plain;
    found.stale += stale;
  }
  return found;
}

}  // namespace ww::microbench
