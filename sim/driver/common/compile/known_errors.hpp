// Errors of LLVM's AMDGPU backend that give wrong results without a word: which releases have them,
// and what avoids them. docs/driver.md lists the same ones; test/icd_known_errors.cpp has a kernel
// for each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ww::sim::driver {

// Release of the program clang-19, which compiles where AMD's library is too old, and all HIP.
inline constexpr int kClangRelease = 19;

struct KnownError {
  int pull_request{};       // of llvm/llvm-project, which corrects it
  int first{}, last{};      // releases of LLVM that have it
  std::string_view what;    // "the compiler ..."
  std::string_view remedy;  // option of LLVM without it; empty: none is known
  bool avoided{};           // whether programs that are compiled here get that option
};

[[nodiscard]] std::span<const KnownError> known_errors();

// The compiler's arguments for the remedies of a release's errors that are avoided, but for options
// that are among the words already.
[[nodiscard]] std::vector<std::string> remedies(int release, std::span<const std::string> words);

}  // namespace ww::sim::driver
