// Fast Walsh-Hadamard transform of uniform random floats, as the vendors' samples have them. Device
// and host add in the same order, so that every coefficient agrees to the bit.
#include "reference.hpp"
#include "session.hpp"

namespace ww::workloads {

void run_fwt(Session& s) {
  const auto log_n = s.pick(16, 20, 23);
  const std::size_t n = std::size_t{1} << log_n;
  std::vector<float> data(n);
  for (auto& value : data) value = s.random.uniform(0, 1);
  std::vector<float> want = data;
  for (std::size_t stride = n / 2; stride > 0; stride /= 2) butterfly(want, stride);
  s.build("fwt.cl");
  const Buffer buffer = s.upload(data);
  s.approximable(buffer, microbench::ApproximableType::float32);
  double passes = 1;
  for (std::size_t stride = n / 2; stride >= 1024; stride /= 2, ++passes) {
    s.launch("global_butterfly", {n / 2}, {256}, buffer, static_cast<std::uint32_t>(stride));
  }
  s.launch("local_transform", {n / 4}, {256}, buffer);
  s.check("coefficient", s.download<float>(buffer), want);
  const double bytes = passes * static_cast<double>(buffer.bytes);
  s.reads(bytes, bytes);
  s.writes(bytes, bytes);
}

}  // namespace ww::workloads
