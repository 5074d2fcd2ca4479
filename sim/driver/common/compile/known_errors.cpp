#include "common/compile/known_errors.hpp"

#include <algorithm>
#include <array>

namespace ww::sim::driver {
namespace {

// The first release of the oldest ones is the one that brought the code that the correction names.
constexpr std::array kErrors{
    KnownError{198729, 18, 22,
               "may keep bits above the 24 lowest of two factors that are masked to 24 bits, where "
               "their 64-bit product is added to something",
               "-amdgpu-codegenprepare-mul24=0", true},
    KnownError{105831, 13, 18,
               "takes the high half of an unsigned product of sign-extended factors for that of a "
               "signed one",
               "", false},
    KnownError{196418, 4, 22,
               "divides a sign-extended number of at most 24 bits as a small one where the "
               "division is unsigned and the number is negative",
               "", false},
    KnownError{119325, 4, 19,
               "divides a number that is sign-extended to 64 bits as a shorter one where the "
               "division is unsigned and the number is negative",
               "-amdgpu-codegenprepare-disable-idiv-expansion", false},
    KnownError{209711, 4, 22,
               "divides numbers of 23 and 24 bits by a reciprocal that is not exact enough for "
               "some of them",
               "", false},
};

}  // namespace

std::span<const KnownError> known_errors() {
  return kErrors;
}

std::vector<std::string> remedies(int release, std::span<const std::string> words) {
  std::vector<std::string> more;
  for (const KnownError& error : kErrors) {
    if (!error.avoided || release < error.first || release > error.last) continue;
    const std::string_view name = error.remedy.substr(0, error.remedy.find('='));
    const auto names_it = [name](const std::string& word) { return word.starts_with(name); };
    if (std::ranges::any_of(words, names_it)) continue;
    more.insert(more.end(), {"-mllvm", std::string(error.remedy)});
  }
  return more;
}

}  // namespace ww::sim::driver
