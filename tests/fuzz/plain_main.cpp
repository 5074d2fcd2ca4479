// Keeps fuzz targets alive in normal builds: feeds each a fixed number of deterministic inputs,
// random bytes first, then mutations of the files named on the command line.
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

// The input of a crash, for a file of its own.
const std::vector<std::uint8_t>* current = nullptr;

extern "C" void tell_input(int number) {
  static constexpr char kDigits[] = "0123456789abcdef";
  static constexpr char kText[] = "the input that ended this, in hexadecimal: ";
  (void)!::write(2, kText, sizeof kText - 1);
  for (const std::uint8_t byte : *current) {
    const char digits[2] = {kDigits[byte >> 4], kDigits[byte & 15]};
    (void)!::write(2, digits, sizeof digits);
  }
  (void)!::write(2, "\n", 1);
  std::signal(number, SIG_DFL);
  std::raise(number);
}

}  // namespace

int main(int argc, char** argv) {
  std::mt19937_64 random(1);
  std::vector<std::vector<std::uint8_t>> seeds;
  for (int i = 1; i < argc; ++i) {
    std::ifstream stream(argv[i], std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
  }
  // WW_FUZZ_INPUTS: fewer (or more) of them, for targets that take their time.
  const char* asked = std::getenv("WW_FUZZ_INPUTS");
  const int inputs = asked != nullptr ? std::atoi(asked) : 20000;
  static std::vector<std::uint8_t> input;  // the signal handler reads it
  current = &input;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    std::signal(number, tell_input);
  }
  for (int i = 0; i < inputs; ++i) {
    if (seeds.empty() || i % 4 == 0) {
      input.resize(random() % 256);
      for (auto& byte : input) byte = static_cast<std::uint8_t>(random());
    } else {
      input = seeds[random() % seeds.size()];
      for (auto changes = 1 + random() % 8; changes > 0 && !input.empty(); --changes) {
        input[random() % input.size()] = static_cast<std::uint8_t>(random());
      }
      if (random() % 4 == 0) input.resize(random() % (input.size() + 1));
    }
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%d inputs\n", inputs);
  return 0;
}
