// rocRAND: moments of uniform and normal numbers by every kind of generator, and the same numbers
// again from the same seed.
#include <hip/hip_runtime.h>
#include <rocrand/rocrand.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr std::size_t kNumbers = 1 << 16;
int failures = 0;

void check(bool holds, const char* generator, const char* what) {
  if (holds) return;
  std::printf("FAILED %s: %s\n", generator, what);
  ++failures;
}

std::vector<float> numbers_of(float* device) {
  std::vector<float> numbers(kNumbers);
  if (hipMemcpy(numbers.data(), device, kNumbers * sizeof(float), hipMemcpyDeviceToHost) !=
      hipSuccess) {
    return {};
  }
  return numbers;
}

// Six standard errors of mean and variance of as many independent numbers. Quasi-random ones lie
// closer.
bool has_moments(const std::vector<float>& numbers, double mean, double variance, double kurtosis) {
  double sum = 0;
  double squares = 0;
  for (const float x : numbers) sum += x;
  const double count = static_cast<double>(numbers.size());
  for (const float x : numbers) squares += std::pow(x - sum / count, 2);
  return numbers.size() == kNumbers &&
         std::abs(sum / count - mean) < 6 * std::sqrt(variance / count) &&
         std::abs(squares / count - variance) < 6 * variance * std::sqrt((kurtosis - 1) / count);
}

void try_generator(rocrand_rng_type type, const char* name, float* device) {
  std::vector<float> first;
  for (int round = 0; round < 2; ++round) {
    rocrand_generator generator = nullptr;
    check(rocrand_create_generator(&generator, type) == ROCRAND_STATUS_SUCCESS, name, "create");
    if (type < ROCRAND_RNG_QUASI_DEFAULT) rocrand_set_seed(generator, 1234);
    check(rocrand_generate_uniform(generator, device, kNumbers) == ROCRAND_STATUS_SUCCESS, name,
          "generate uniform numbers");
    const std::vector<float> uniform = numbers_of(device);
    check(has_moments(uniform, 0.5, 1.0 / 12, 1.8), name, "moments of uniform numbers");
    if (round == 0) {
      first = uniform;
      check(rocrand_generate_normal(generator, device, kNumbers, 1, 2) == ROCRAND_STATUS_SUCCESS,
            name, "generate normal numbers");
      check(has_moments(numbers_of(device), 1, 4, 3), name, "moments of normal numbers");
    } else {
      check(uniform == first, name, "other numbers from the same seed");
    }
    rocrand_destroy_generator(generator);
  }
  std::printf("%-16s %.9g %.9g %.9g ...\n", name, first[0], first[1], first[2]);
}

}  // namespace

int main() {
  float* device = nullptr;
  if (hipMalloc(&device, kNumbers * sizeof(float)) != hipSuccess) return 1;
  try_generator(ROCRAND_RNG_PSEUDO_MRG32K3A, "mrg32k3a", device);
  try_generator(ROCRAND_RNG_PSEUDO_MTGP32, "mtgp32", device);
  try_generator(ROCRAND_RNG_PSEUDO_PHILOX4_32_10, "philox4x32-10", device);
  try_generator(ROCRAND_RNG_QUASI_SOBOL32, "sobol32", device);
  std::puts(failures == 0 ? "PASS" : "FAIL");
  return failures != 0;
}
