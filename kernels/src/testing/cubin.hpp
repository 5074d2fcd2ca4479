// Reads what NVIDIA's assembler made of a kernel, for tests: which machine instructions are left,
// which parameters they read, and whether loads are back where the clock is read. Fields are those
// of the 128-bit encoding of sm_70 and later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "ww/core/result.hpp"

namespace ww::kernels::testing {

// Machine code of one kernel.
struct Sass {
  // Instructions by mnemonic: LDG, STG, RED, ATOMG, NANOSLEEP; the others under "other".
  std::map<std::string, int> counts;
  int clock_readings{};
  // Readings before a load ahead of them is back: nothing waits for it until then, in the order of
  // the code.
  int early_readings{};
  std::set<std::uint32_t> parameter_bytes;  // offsets into the parameters that an instruction names
  [[nodiscard]] int count(const std::string& mnemonic) const {
    const auto found = counts.find(mnemonic);
    return found == counts.end() ? 0 : found->second;
  }
};

// `cubin` is the assembler's ELF file. Errors: parse_error (no ELF file, no code of `kernel`).
[[nodiscard]] Result<Sass> read_cubin(const std::string& cubin, const std::string& kernel);

}  // namespace ww::kernels::testing
