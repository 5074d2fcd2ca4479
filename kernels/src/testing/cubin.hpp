// Reads what NVIDIA's assembler made of a kernel, for tests: which machine instructions are left
// and which parameters they read. Fields are those of the 128-bit encoding of sm_70 and later.
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
  std::set<std::uint32_t> parameter_bytes;  // offsets into the parameters that an instruction names
  [[nodiscard]] int count(const std::string& mnemonic) const {
    const auto found = counts.find(mnemonic);
    return found == counts.end() ? 0 : found->second;
  }
};

// `cubin` is the assembler's ELF file. Errors: parse_error (no ELF file, no code of `kernel`).
[[nodiscard]] Result<Sass> read_cubin(const std::string& cubin, const std::string& kernel);

}  // namespace ww::kernels::testing
