// Functions of the C library that came after glibc 2.28. A wheel carries them, so that libraries
// which were built on a newer system also load on an older one (retarget.py, scripts/wheel). Where
// the machine's own C library has the function, that one does the work if it matters which.
// NOLINTBEGIN: names of the C library, and addresses as the loader gives them.
#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace {

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// "2.41": by hand, because scanf and strtol have new names from glibc 2.38 on.
bool runs_constructors_of_programs() {
  const char* at = gnu_get_libc_version();
  const auto number = [&at] {
    int value = 0;
    for (; *at >= '0' && *at <= '9'; ++at) value = 10 * value + (*at - '0');
    return value;
  };
  const int major = number();
  if (*at == '.') ++at;
  return major > 2 || number() >= 34;
}

// Until 2.34 a program's own code ran its constructors. Programs that are linked since leave that
// to the C library.
int run_constructors(int argc, char** argv, char** environment) {
  const auto* header = reinterpret_cast<const ElfW(Phdr)*>(getauxval(AT_PHDR));
  const ElfW(Phdr)* const end = header + getauxval(AT_PHNUM);
  const ElfW(Dyn)* dynamic = nullptr;
  std::uintptr_t base = 0;
  std::uintptr_t offset = 0;
  for (; header != end; ++header) {
    if (header->p_type == PT_PHDR) base = getauxval(AT_PHDR) - header->p_vaddr;
    if (header->p_type == PT_DYNAMIC) offset = header->p_vaddr;
  }
  dynamic = reinterpret_cast<const ElfW(Dyn)*>(base + offset);
  using Constructor = void (*)(int, char**, char**);
  std::uintptr_t list = 0;
  std::size_t bytes = 0;
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag == DT_INIT) {
      reinterpret_cast<Constructor>(base + dynamic->d_un.d_ptr)(argc, argv, environment);
    }
    if (dynamic->d_tag == DT_INIT_ARRAY) list = base + dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_INIT_ARRAYSZ) bytes = dynamic->d_un.d_val;
  }
  const auto* constructors = reinterpret_cast<const Constructor*>(list);
  for (std::size_t i = 0; i < bytes / sizeof(Constructor); ++i) {
    constructors[i](argc, argv, environment);
  }
  return 0;
}

struct Sought {
  std::uintptr_t address;
  dl_find_object* found;
};

// Whether `info` is the object that the address is in.
int compare_object(dl_phdr_info* info, std::size_t, void* data) {
  auto& sought = *static_cast<Sought*>(data);
  std::uintptr_t first = UINTPTR_MAX;
  std::uintptr_t last = 0;
  std::uintptr_t frames = 0;
  bool inside = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_GNU_EH_FRAME) frames = begin;
    if (header.p_type != PT_LOAD) continue;
    const std::uintptr_t end = begin + header.p_memsz;
    if (begin < first) first = begin;
    if (end > last) last = end;
    inside = inside || (sought.address >= begin && sought.address < end);
  }
  if (!inside || frames == 0) return 0;
  sought.found->dlfo_flags = 0;
  sought.found->dlfo_map_start = reinterpret_cast<void*>(first);
  sought.found->dlfo_map_end = reinterpret_cast<void*>(last);
  sought.found->dlfo_link_map = nullptr;  // unwinders do not read it
  sought.found->dlfo_eh_frame = reinterpret_cast<void*>(frames);
  return 1;
}

timespec between(const timespec& from, const timespec& to) {
  timespec length{to.tv_sec - from.tv_sec, to.tv_nsec - from.tv_nsec};
  if (length.tv_nsec < 0) {
    length.tv_nsec += 1'000'000'000;
    --length.tv_sec;
  }
  return length;
}

}  // namespace

extern "C" {

// False is always right: a program that might have threads takes locks.
char __libc_single_threaded = 0;

int stat(const char* path, void* out) {
  return static_cast<int>(syscall(SYS_stat, path, out));
}
int lstat(const char* path, void* out) {
  return static_cast<int>(syscall(SYS_lstat, path, out));
}
int fstat(int file, void* out) {
  return static_cast<int>(syscall(SYS_fstat, file, out));
}
int stat64(const char* path, void* out) {
  return stat(path, out);
}
int lstat64(const char* path, void* out) {
  return lstat(path, out);
}
int fstat64(int file, void* out) {
  return fstat(file, out);
}

std::uint32_t arc4random() {
  std::uint32_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) std::abort();
  return number;
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  using Wait = int (*)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*);
  static const auto own = next<Wait>("pthread_cond_clockwait");
  if (own != nullptr) return own(condition, mutex, clock, until);
  timespec now{};
  clock_gettime(clock, &now);
  const timespec left = between(now, *until);
  clock_gettime(CLOCK_REALTIME, &now);
  timespec end{now.tv_sec + left.tv_sec, now.tv_nsec + left.tv_nsec};
  if (end.tv_nsec >= 1'000'000'000) {
    end.tv_nsec -= 1'000'000'000;
    ++end.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &end);
}

int _dl_find_object(void* address, dl_find_object* found) {
  using Find = int (*)(void*, dl_find_object*);
  static const auto own = next<Find>("_dl_find_object");
  if (own != nullptr) return own(address, found);
  Sought sought{reinterpret_cast<std::uintptr_t>(address), found};
  return dl_iterate_phdr(compare_object, &sought) == 1 ? 0 : -1;
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv,
                      int (*init)(int, char**, char**), void (*fini)(), void (*rtld_fini)(),
                      void* stack_end) {
  using Start = int (*)(int (*)(int, char**, char**), int, char**, int (*)(int, char**, char**),
                        void (*)(), void (*)(), void*);
  if (init == nullptr && !runs_constructors_of_programs()) init = run_constructors;
  return next<Start>("__libc_start_main")(main, argc, argv, init, fini, rtld_fini, stack_end);
}

}  // extern "C"
// NOLINTEND
