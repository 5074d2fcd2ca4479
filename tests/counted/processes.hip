// A HIP program that begins and ends as programs do: counted_processes NAME. Each way launches the
// same kernel, and says on stdout how many launches it made. `counted_processes time N` says how many
// microseconds each of N launches took.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>
#include <vector>

#include "hip_declarations.hpp"

namespace {

constexpr int kItems = 1 << 14;
constexpr int kBlock = 256;

__global__ void twice(float* values) {
  const unsigned item = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
                        __builtin_amdgcn_workitem_id_x();
  values[item] *= 2;
}

float* memory() {
  float* values = nullptr;
  if (hipMalloc(reinterpret_cast<void**>(&values), kItems * sizeof(float)) != 0) exit(99);
  return values;
}

void launch(float* values, int times) {
  for (int i = 0; i < times; ++i) twice<<<kItems / kBlock, kBlock>>>(values);
  if (hipDeviceSynchronize() != 0) exit(98);
}

void say(int launches) {
  printf("launches %d\n", launches);
  fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  const char* way = count > 1 ? words[1] : "plain";
  const auto is = [way](const char* name) { return strcmp(way, name) == 0; };
  if (is("none")) return 0;
  if (is("time")) {
    const int times = count > 2 ? atoi(words[2]) : 1000;
    float* warm = memory();
    launch(warm, 100);
    const auto begin = std::chrono::steady_clock::now();
    launch(warm, times);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    printf("%.3f\n", took.count() / times);
    return 0;
  }
  float* values = memory();
  if (is("steady")) {
    const auto end = std::chrono::steady_clock::now() +
                     std::chrono::milliseconds(count > 2 ? atoi(words[2]) : 500);
    int launches = 0;
    for (; std::chrono::steady_clock::now() < end; ++launches) {
      launch(values, 1);
      usleep(5'000);
    }
    say(launches);
    return 0;
  }
  launch(values, 4);
  say(4);
  if (is("code")) return 7;
  // Time for the records, which come from a thread of their own.
  if (is("_exit") || is("abort") || is("kill") || is("exec")) usleep(200'000);
  if (is("_exit")) _exit(8);
  if (is("abort")) abort();
  if (is("kill")) kill(getpid(), 9);
  if (is("exec")) execl(words[0], words[0], "plain", nullptr);
  if (is("fork")) {
    const pid_t child = fork();
    if (child == 0) exit(5);
    int status = 0;
    waitpid(child, &status, 0);
    launch(values, 2);
    return WEXITSTATUS(status);
  }
  if (is("threads")) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([] { launch(memory(), 8); });
    }
    for (auto& thread : threads) thread.join();
  }
  return 0;
}
