// The AMD APP SDK's Histogram: groups count in bytes of local memory, and the host adds them up.
#include "session.hpp"

namespace ww::workloads {

void run_sdk_histo(Session& s) {
  const std::size_t bins = 256;
  const std::size_t values_per_group = 128 * 128;
  // 1024 x 1024 is the sample's default.
  const auto n = s.extent(values_per_group);
  const std::size_t groups = n / values_per_group;
  std::vector<std::uint32_t> values(n), want(bins), got(bins);
  for (auto& value : values) {
    value = s.random.below(bins);
    ++want[value];
  }
  s.build("sdk_histo.cl");
  const Buffer in = s.upload(values);
  const Buffer out = s.zeros<std::uint32_t>(bins * groups);
  s.launch("count_bytes", {groups * 128}, {128}, in, out);
  const auto of_groups = s.download<std::uint32_t>(out);
  for (std::size_t i = 0; i < of_groups.size(); ++i) got[i % bins] += of_groups[i];
  s.check("bin", got, want);
  s.reads(static_cast<double>(in.bytes), static_cast<double>(in.bytes));
  s.writes(static_cast<double>(out.bytes), static_cast<double>(out.bytes));
}

}  // namespace ww::workloads
