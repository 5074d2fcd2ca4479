// A HIP program that begins and ends as programs do: counted_processes NAME. Each way launches the
// same kernel, and says on stdout how many launches it made. `counted_processes time N` says how many
// microseconds each of N launches took.
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "hip_declarations.hpp"
#include "wirewatt/wirewatt.h"

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

// As a launcher of ranks that shares their image: each child uses the device first, the parent never
// does.
int ranks(int count) {
  for (int rank = 0; rank < count; ++rank) {
    if (fork() != 0) continue;
    launch(memory(), 4 + rank);
    exit(rank);
  }
  int codes = 0;
  for (int rank = 0; rank < count; ++rank) {
    int status = 0;
    wait(&status);
    codes += WIFEXITED(status) ? WEXITSTATUS(status) : 100;
  }
  return codes;
}

// Functions of libwirewatt, as a program that loads it has them.
struct Library {
  void* handle = dlopen(getenv("WW_LIBRARY"), RTLD_NOW);
  template <class Function>
  Function* find(Function*, const char* name) const {
    return reinterpret_cast<Function*>(dlsym(handle, name));
  }
};
#define WW_FIND(library, name) const auto name = (library).find(&::name, #name)

// Stretches inside one another, of which wirewatt counts the card: `bracket DEVICE MODEL [WHEN]`.
// "late": HIP has started before wirewatt is asked; "lazy": it starts within the stretch.
int bracket(const char* device, const char* model, const std::string& when) {
  const Library library;
  if (library.handle == nullptr) return 97;
  WW_FIND(library, wirewatt_count);
  WW_FIND(library, wirewatt_open);
  WW_FIND(library, wirewatt_begin);
  WW_FIND(library, wirewatt_end);
  WW_FIND(library, wirewatt_reason);
  WW_FIND(library, wirewatt_error);
  float* values = when == "late" ? memory() : nullptr;
  if (wirewatt_count(device) != WIREWATT_OK) {
    printf("refused %s\n", wirewatt_error());
    return 0;
  }
  if (when.empty()) values = memory();
  wirewatt_session *outer = nullptr, *inner = nullptr;
  if (wirewatt_open(device, model, &outer) != 0 || wirewatt_open(device, model, &inner) != 0) {
    printf("not opened: %s\n", wirewatt_error());
    return 96;
  }
  const auto end = [&](const char* name, wirewatt_session* session) {
    wirewatt_reading reading{};
    reading.size = sizeof reading;
    if (wirewatt_end(session, &reading) != WIREWATT_OK) printf("%s\n", wirewatt_error());
    for (int s = 0; s < WIREWATT_SEGMENTS; ++s) {
      printf("%s %d %d %.12g %s\n", name, s, reading.segment[s].status, reading.segment[s].value,
             wirewatt_reason(session, s));
    }
  };
  const auto launches = [&](int times) {
    for (int i = 0; i < times; ++i, usleep(5'000)) launch(values, 1);
  };
  wirewatt_begin(outer);
  if (values == nullptr) values = memory();
  launches(15);
  wirewatt_begin(inner);
  launches(30);
  end("inner", inner);
  launches(15);
  end("outer", outer);
  wirewatt_begin(inner);
  end("short", inner);
  printf("tools %s\n", getenv("ROCP_TOOL_LIBRARIES") == nullptr ? "none" : "set");
  return 0;
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
  if (is("ranks")) return ranks(3);
  if (is("bracket")) return bracket(words[2], words[3], count > 4 ? words[4] : "");
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
  if (is("_exit") || is("abort") || is("kill") || is("exec") || is("term")) usleep(200'000);
  if (is("_exit")) _exit(8);
  if (is("abort")) abort();
  if (is("term")) raise(SIGTERM);
  if (is("kill")) kill(getpid(), 9);
  if (is("exec")) execl(words[0], words[0], "plain", nullptr);
  // A program of its own, as a shell or a helper starts it.
  if (is("spawn")) return WEXITSTATUS(system((std::string(words[0]) + " code").c_str()));
  // Another thread ends the program between launches of this one.
  if (is("thread_exit")) {
    std::thread([] {
      launch(memory(), 4);
      exit(6);
    }).join();
  }
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
