// Kernel traces of tokens in any order, and of any bytes: imported or refused, never a crash.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "ww/core/temporary_folder.hpp"
#include "ww/sim/trace/accelsim.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr const char* kTokens[] = {"1020 ",
                                            "ffffffff ",
                                            "1 ",
                                            "R1 ",
                                            "0 ",
                                            "LDG.E.64 ",
                                            "STG.E ",
                                            "RED ",
                                            "2 ",
                                            "4 ",
                                            "8 ",
                                            "0x1000 ",
                                            "-16 ",
                                            "16 ",
                                            "\n",
                                            "#END_TB\n",
                                            "warp = 3\n",
                                            "#BEGIN_TB\n",
                                            "thread block = 1,0,0\n",
                                            "f00f ",
                                            "00000003 ",
                                            "99999999999999999999 ",
                                            "1020 ffffffff 1 R1 LDG.E 1 R2 4 1 0x40 4\n",
                                            "1020 3 1 R1 ATOM.E.U16 1 R2 4 2 0x40 -4\n",
                                            "-accelsim tracer version = 2\n"};
  // Removed when the process ends.
  static const auto folder = ww::ScratchFolder::create("accelsim-fuzz").value();
  std::string text = "-kernel name = k\n-grid dim = (2,2,2)\n-block dim = (64,1,1)\n";
  if (size != 0 && data[0] % 8 == 0) {
    text.append(reinterpret_cast<const char*>(data), size);
  } else {
    for (std::size_t i = 0; i < size; ++i) text += kTokens[data[i] % std::size(kTokens)];
  }
  const auto in = folder.path() / "k.traceg";
  std::ofstream(in, std::ios::binary) << text;
  static_cast<void>(ww::sim::trace::import_accelsim(in, folder.path() / "k.wwt"));
  return 0;
}
