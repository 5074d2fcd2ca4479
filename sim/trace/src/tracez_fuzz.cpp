// Files in the layout of .tracez with bytes changed, added and cut: imported or refused, never a
// crash and never more memory than the file's limits allow.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "tracez_testing.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/sim/trace/accelsim.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace test = ww::sim::trace::test;
  // Removed when the process ends.
  static const auto folder = ww::ScratchFolder::create("tracez-fuzz").value();
  static const std::string sound = test::tracez(
      "-kernel name = k\n-grid dim = (2,2,2)\n-block dim = (64,1,1)\n",
      {{{1, 0, 1},
        {{"0010 ffffffff 1 R1 LDG.E.64 1 R2 8 1 0x100 8", "0020 3 0 STG.E 1 R2 4 0 0x2000 0x30"},
         {"0030 f 1 R1 ATOM.E 1 R2 4 2 0x40 -4 8 8"}}},
       {{0, 1, 0}, {{}}}},
      1);
  std::string bytes;
  if (size != 0 && data[0] % 8 == 0) {
    bytes.assign(reinterpret_cast<const char*>(data), size);
  } else {
    bytes = sound;
    // Three bytes an edit: how, where, what.
    for (std::size_t i = 1; i + 2 < size && i < 25; i += 3) {
      const std::size_t at = (data[i + 1] * std::size_t{256} + data[i]) % bytes.size();
      switch (data[i] % 4) {
        case 0: bytes.insert(at, 1, static_cast<char>(data[i + 2])); break;
        case 1:
          if (bytes.size() > 1) {
            bytes.erase(at, 1 + data[i + 2] % 8);
          }
          break;
        default: bytes[at] = static_cast<char>(data[i + 2]);
      }
      if (bytes.empty()) {
        break;
      }
    }
  }
  const auto in = folder.path() / "k.tracez";
  std::ofstream(in, std::ios::binary) << bytes;
  static_cast<void>(ww::sim::trace::import_accelsim(in, folder.path() / "k.wwt"));
  return 0;
}
