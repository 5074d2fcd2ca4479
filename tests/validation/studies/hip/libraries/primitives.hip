// rocPRIM: sort, scan, reduction and selection of random numbers, against the host's.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <rocprim/rocprim.hpp>
#include <vector>

namespace {

int failures = 0;

struct IsOdd {
  __device__ bool operator()(unsigned x) const { return x % 2 != 0; }
};

// Calls work(scratch, its bytes) as rocPRIM wants it: once to learn how many bytes it takes.
template <class F>
hipError_t with_scratch(F&& work) {
  std::size_t bytes = 0;
  hipError_t error = work(nullptr, bytes);
  void* scratch = nullptr;
  if (error == hipSuccess) error = hipMalloc(&scratch, bytes);
  if (error == hipSuccess) error = work(scratch, bytes);
  (void)hipFree(scratch);
  return error;
}

void check(const char* what, std::size_t count, hipError_t error, const unsigned* device,
           const std::vector<unsigned>& wanted) {
  std::vector<unsigned> found(wanted.size());
  if (error == hipSuccess) {
    error = hipMemcpy(found.data(), device, found.size() * sizeof(unsigned), hipMemcpyDeviceToHost);
  }
  if (error == hipSuccess && found == wanted) return;
  std::printf("FAILED %s of %zu: %s\n", what, count,
              error == hipSuccess ? "wrong numbers" : hipGetErrorString(error));
  ++failures;
}

void try_count(std::size_t count) {
  std::vector<unsigned> numbers(count);
  std::mt19937 random(static_cast<unsigned>(count));
  for (unsigned& x : numbers) x = random();
  const std::size_t bytes = count * sizeof(unsigned);
  unsigned* in = nullptr;
  unsigned* out = nullptr;
  unsigned* selected = nullptr;
  if (hipMalloc(&in, bytes) != hipSuccess || hipMalloc(&out, bytes) != hipSuccess ||
      hipMalloc(&selected, sizeof(unsigned)) != hipSuccess ||
      hipMemcpy(in, numbers.data(), bytes, hipMemcpyHostToDevice) != hipSuccess) {
    std::printf("FAILED: no memory for %zu\n", count);
    ++failures;
    return;
  }
  auto error = with_scratch([&](void* scratch, std::size_t& size) {
    return rocprim::inclusive_scan(scratch, size, in, out, count, rocprim::plus<unsigned>());
  });
  std::vector<unsigned> wanted(count);
  std::partial_sum(numbers.begin(), numbers.end(), wanted.begin());
  check("scan", count, error, out, wanted);
  error = with_scratch([&](void* scratch, std::size_t& size) {
    return rocprim::reduce(scratch, size, in, out, count, rocprim::plus<unsigned>());
  });
  check("reduction", count, error, out, {wanted.back()});
  error = with_scratch([&](void* scratch, std::size_t& size) {
    return rocprim::select(scratch, size, in, out, selected, count, IsOdd());
  });
  wanted.clear();
  for (const unsigned x : numbers) {
    if (x % 2 != 0) wanted.push_back(x);
  }
  check("selection", count, error, out, wanted);
  check("count of a selection", count, error, selected, {static_cast<unsigned>(wanted.size())});
  error = with_scratch([&](void* scratch, std::size_t& size) {
    return rocprim::radix_sort_keys(scratch, size, in, out, count);
  });
  std::sort(numbers.begin(), numbers.end());
  check("sort", count, error, out, numbers);
  (void)hipFree(in);
  (void)hipFree(out);
  (void)hipFree(selected);
}

}  // namespace

int main() {
  for (const std::size_t count : {1, 1000, 30000, 200000}) try_count(count);
  std::puts(failures == 0 ? "PASS" : "FAIL");
  return failures != 0;
}
