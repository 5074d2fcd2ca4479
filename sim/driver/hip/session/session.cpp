#include "hip/session/session.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <vector>

#include "common/runtime/device_language.hpp"
#include "common/runtime/tool_loader.hpp"

namespace ww::sim::driver::hip {
namespace {

std::uint32_t& chosen_stack_limit() {
  static std::uint32_t bytes = 1024;  // HIP's own, at first
  return bytes;
}

std::vector<ForgetDevice>& forgetting() {
  static auto& all = *new std::vector<ForgetDevice>;
  return all;
}

// Prepares the virtual GPU for programs of HIP, once it has power.
void prepare_device() {
  if (device().host_at_device_addresses()) device().host_may_write();
  set_stack_limit(stack_limit());
}

// 7 of "libamdhip64.so.7" or of a path that ends so; 0: it is another library.
int version_in(std::string_view name) {
  constexpr std::string_view kStem = "libamdhip64.so.";
  const std::size_t at = name.rfind('/');
  if (at != std::string_view::npos) name.remove_prefix(at + 1);
  if (!name.starts_with(kStem)) return 0;
  name.remove_prefix(kStem.size());
  int version = 0;
  std::from_chars(name.data(), name.data() + name.size(), version);
  return version >= 5 && version <= 7 ? version : 0;
}

// The version that a loaded program or library was linked with; 0: none.
int needed_version(const dl_phdr_info& object) {
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): where the loader put it
    dynamic = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
  }
  if (dynamic == nullptr) return 0;
  ElfW(Addr) names = 0;
  for (const ElfW(Dyn)* entry = dynamic; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) names = entry->d_un.d_ptr;
  }
  if (names == 0) return 0;
  // The loader makes it an address, but not in objects that it must not write.
  if (names < object.dlpi_addr) names += object.dlpi_addr;
  for (const ElfW(Dyn)* entry = dynamic; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_NEEDED) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): inside the table of names
    const int version = version_in(reinterpret_cast<const char*>(names + entry->d_un.d_val));
    if (version != 0) return version;
  }
  return 0;
}

// Version of the first object that was linked with one: the program itself comes before its
// libraries. A process without such an object opened the library by its name.
int find_hip_major() {
  int version = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* found) {
        auto& version_found = *static_cast<int*>(found);
        version_found = needed_version(*object);
        return version_found;
      },
      &version);
  if (version != 0) return version;
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&find_hip_major), &self) != 0) {
    version = version_in(self.dli_fname);
  }
  return version != 0 ? version : 5;
}

}  // namespace

int& last_error() {
  thread_local int error = kSuccess;
  return error;
}

int& chosen_device() {
  thread_local int ordinal = 0;
  return ordinal;
}

std::atomic<int>& device_error() {
  static std::atomic<int> error{kSuccess};
  return error;
}

std::uint32_t stack_limit() {
  return chosen_stack_limit();
}

void set_stack_limit(std::uint32_t bytes) {
  chosen_stack_limit() = bytes;
  device().set_stack_limit(bytes);
}

bool has_images() {
  return device_language(device().chip().architecture().gfx_target).images;
}

int power_on() {
  if (Runtime::get().gpu() == nullptr) return kNoDevice;
  static const pid_t owner = [] {
    prepare_device();
    want_tools();
    return getpid();
  }();
  if (getpid() == owner) return kSuccess;
  // The threads and the device stayed with the parent.
  static bool said = false;
  if (!std::exchange(said, true)) {
    print_line(
        "HIP: a child process cannot use the device that its parent opened; start HIP after "
        "fork, or start a program");
  }
  return kNotInitialized;
}

int hip_major() {
  static const int major = find_hip_major();
  return major;
}

void forget_at_reset(ForgetDevice forget) {
  if (std::ranges::find(forgetting(), forget) == forgetting().end()) forgetting().push_back(forget);
}

void forget_of_other_rooms(int ordinal) {
  for (const ForgetDevice forget : forgetting()) forget(ordinal);
}

int refuse_form(const std::string& call) {
  static auto& said = *new std::set<std::string>;
  if (said.insert(call).second) {
    print_line("HIP: " + call + " is not supported on the virtual GPU");
  }
  return kNotSupported;
}

int refuse_entry(const char* name) {
  try {
    Entry entry;
    return finish(refuse_form(name));
  } catch (...) {
    return finish(kOutOfMemory);
  }
}

}  // namespace ww::sim::driver::hip
