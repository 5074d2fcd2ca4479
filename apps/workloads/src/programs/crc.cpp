// CRC-32 of network packets, slicing by four (Kounavis, Berry, 2005).
#include "session.hpp"

namespace ww::workloads {

void run_crc(Session& s) {
  const auto pages = s.extent(256);
  const auto words = s.pick<std::size_t>(64, 256, 256);
  constexpr std::uint32_t polynomial = 0xEDB88320;
  std::vector<std::uint32_t> table(1024);
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
    table[i] = crc;
  }
  for (std::size_t i = 256; i < 1024; ++i) {
    table[i] = (table[i - 256] >> 8) ^ table[table[i - 256] & 255];
  }
  std::vector<std::uint32_t> data(pages * words), want(pages);
  for (auto& word : data) word = s.random.bits();
  for (std::size_t page = 0; page < pages; ++page) {
    // Bit by bit, from the definition.
    std::uint32_t crc = 0xFFFFFFFF;
    for (std::size_t i = 0; i < words; ++i) {
      crc ^= data[page * words + i];
      for (int bit = 0; bit < 32; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
    }
    want[page] = ~crc;
  }
  s.build("crc.cl");
  const Buffer in = s.upload(data);
  const Buffer out = s.zeros<std::uint32_t>(pages);
  s.launch("crc32", {pages}, {64}, in, s.upload(table), out, static_cast<std::uint32_t>(words));
  s.check("crc", s.download<std::uint32_t>(out), want);
  // A lane walks its own page: every line once if the L1 keeps it for 16 words, else 16 times.
  const auto bytes = static_cast<double>(in.bytes);
  const auto groups = pages / 64;
  s.reads(bytes, 16 * bytes + 4096.0 * static_cast<double>(groups));
  s.writes(static_cast<double>(out.bytes), static_cast<double>(out.bytes));
}

}  // namespace ww::workloads
