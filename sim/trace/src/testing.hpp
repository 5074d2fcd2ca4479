// Traces for tests: made of random accesses, or from bytes in a temporary folder.
#pragma once

#include <cstring>
#include <filesystem>
#include <random>
#include <vector>

#include "ww/core/atomic_file.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sim/trace/reader.hpp"
#include "ww/sim/trace/writer.hpp"

namespace ww::sim::trace::test {

class Folder : public ScratchFolder {
 public:
  Folder() : ScratchFolder(create("trace").value()) {}
  [[nodiscard]] std::filesystem::path operator/(const char* name) const { return path() / name; }
};

struct Content {
  std::vector<Launch> launches;
  std::vector<Instruction> instructions;
  std::vector<Access> accesses;
};

inline const std::vector<Instruction>& instructions() {
  static const std::vector<Instruction> all{
      {0x1000, "buffer_load_dword", Operation::load, 4, 4},
      {0x1008, "buffer_load_ubyte", Operation::load, 1, 1},
      {0x1010, "flat_load_dwordx4", Operation::load, 16, 16},
      {0x1018, "buffer_store_dword", Operation::store, 4, 4},
      {0x1020, "flat_store_dwordx3", Operation::store, 12, 12},
      {0x1028, "buffer_store_short", Operation::store, 2, 2},
      {0x1030, "buffer_atomic_add", Operation::atomic, 4, 4},
      {0x1038, "buffer_atomic_cmpswap_x2", Operation::atomic_return, 8, 16}};
  return all;
}

// Strided, scattered and repeated addresses, whole and partial masks, known and unknown values.
inline Content random_content(std::uint64_t seed, std::size_t accesses) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  Content content;
  content.instructions = instructions();
  for (std::uint32_t i = 0; i < 1 + below(3); ++i) {
    content.launches.push_back({i * 7ULL, "kernel" + std::to_string(i), {1 + i, 2, 3}, {64, 1, 2}});
  }
  for (std::size_t i = 0; i < accesses; ++i) {
    Access access;
    access.launch = static_cast<std::uint32_t>(i * content.launches.size() / accesses);
    access.instruction = static_cast<std::uint32_t>(below(content.instructions.size()));
    access.group = static_cast<std::uint32_t>(below(4) == 0 ? random() : below(50));
    access.wave = static_cast<std::uint32_t>(below(16));
    access.lanes = below(2) == 0 ? ~std::uint64_t{0} : random() & random();
    if (access.lanes == 0) access.lanes = 1;
    const auto& instruction = content.instructions[access.instruction];
    const std::uint64_t base = 0x100000 + below(64) * 1024;
    const std::uint64_t stride = below(4) == 0 ? below(5000) - 2500 : instruction.element_bytes;
    const auto form = below(3);
    // Sometimes pages that displace one another in the image.
    const std::uint64_t spread = below(3) == 0 ? std::uint64_t{1} << 40 : 1 << 14;
    access.has_values = below(10) != 0;
    const bool zeros = below(3) == 0;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if ((access.lanes >> lane & 1) == 0) continue;
      access.address[lane] = form == 0 ? base + below(spread) * 4 : base + stride * lane;
      if (!access.has_values) continue;
      for (unsigned byte = 0; byte < instruction.value_bytes; ++byte) {
        access.value[lane * kMaxValueBytes + byte] = static_cast<std::byte>(zeros ? 0 : random());
      }
    }
    content.accesses.push_back(access);
    if (below(3) == 0) content.accesses.push_back(access);  // finds what it just wrote
  }
  return content;
}

inline AccessView view(const Access& access) {
  AccessView view;
  view.instruction = access.instruction;
  view.group = access.group;
  view.wave = access.wave;
  view.lanes = access.lanes;
  view.address = access.address.data();
  view.values = access.has_values ? access.value.data() : nullptr;
  view.value_stride = kMaxValueBytes;
  return view;
}

enum class Values { kept, left_out };

inline Totals write(const std::filesystem::path& file, const Content& content,
                    Values values = Values::kept) {
  auto writer = Writer::create(file, "test");
  if (!writer) throw std::runtime_error(writer.error().text());
  if (values == Values::left_out) (*writer)->leave_out_values();
  for (const auto& instruction : content.instructions) {
    static_cast<void>((*writer)->instruction(instruction));
  }
  std::size_t launched = 0;
  for (const Access& access : content.accesses) {
    while (launched <= access.launch) (*writer)->launch(content.launches[launched++]);
    (*writer)->access(view(access));
  }
  while (launched < content.launches.size()) (*writer)->launch(content.launches[launched++]);
  const auto finished = (*writer)->finish();
  if (!finished) throw std::runtime_error(finished.error().text());
  return (*writer)->totals();
}

}  // namespace ww::sim::trace::test
