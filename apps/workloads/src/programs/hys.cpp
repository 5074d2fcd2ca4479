// Hybrid sort (Sintorn, Assarsson, 2008): buckets, then each sorted on its own.
#include <algorithm>

#include "session.hpp"

namespace ww::workloads {

void run_hys(Session& s) {
  const auto n = s.pick<std::size_t>(1 << 16, 1 << 19, 1 << 22);
  const std::size_t capacity = 512;
  // Half full on average: 256 keys with a standard deviation of 16.
  const std::size_t buckets = n / 256;
  std::vector<float> keys(n);
  for (auto& key : keys) key = s.random.uniform(0, 1);
  std::vector<float> want = keys;
  std::ranges::sort(want);

  s.build("hys.cl");
  const Buffer in = s.upload(keys);
  const Buffer filled = s.zeros<std::uint32_t>(buckets);
  const Buffer store = s.zeros<float>(buckets * capacity);
  const Buffer out = s.zeros<float>(n);
  s.launch("scatter", {n}, {256}, in, filled, store, static_cast<std::uint32_t>(buckets));
  const auto sizes = s.download<std::uint32_t>(filled);
  s.require(std::ranges::all_of(sizes, [&](auto size) { return size <= capacity; }),
            "a bucket overflowed");
  std::vector<std::uint32_t> start(buckets);
  for (std::size_t b = 1; b < buckets; ++b) start[b] = start[b - 1] + sizes[b - 1];
  s.launch("sort_bucket", {buckets * 256}, {256}, filled, store, s.upload(start), out);
  s.check("key", s.download<float>(out), want);
  const auto bytes = static_cast<double>(in.bytes);
  const auto keys_count = static_cast<double>(n);
  // The scatter reads the keys, and the sort reads the buckets. At worst the scatter writes every
  // key to a line of its own.
  s.reads(2 * bytes, 2.6 * bytes + 256.0 * static_cast<double>(buckets));
  s.writes(keys_count * 4 + bytes, keys_count * 64 + 1.5 * bytes);
  s.atomics(64, keys_count * 64);
}

}  // namespace ww::workloads
