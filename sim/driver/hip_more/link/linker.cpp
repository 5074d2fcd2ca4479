// hiprtc's linker: programs that were compiled with -fgpu-rdc become one code object. What it is
// asked for is checked as AMD's is (ROCm/clr, hipamd/src/hiprtc/hiprtc.cpp).
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hip/module/image.hpp"
#include "hip/rtc/rtc.hpp"
#include "ww/core/atomic_file.hpp"

namespace ww::sim::driver::hip {
namespace {

enum JitOption : int {
  kInfoLog = 3,  // a buffer, and its bytes
  kInfoLogBytes = 4,
  kErrorLog = 5,
  kErrorLogBytes = 6,
  kOptimisation = 7,       // 0 to 3
  kNumbered = 25,          // the others below it are for CUDA alone
  kCompilerWords = 10000,  // clang's, an array, and how many
  kCompilerWordCount = 10001,
};
enum JitInput : int { kBitcode = 100, kBundledBitcode = 101, kBundledArchive = 102 };

struct LogBuffer {
  char* place{};
  std::size_t bytes{};

  void write(const std::string& text) const {
    if (place == nullptr || bytes == 0) return;
    const std::size_t count = std::min(text.size(), bytes - 1);
    std::memcpy(place, text.data(), count);
    place[count] = '\0';
  }
};

// hiprtcLinkState.
struct RtcLinker {
  std::vector<std::string> options;
  std::vector<std::string> bitcodes;
  LogBuffer info;
  LogBuffer errors;
  std::string code;
};

template <class Body>
int with_linker(const void* handle, Body&& body) noexcept {
  return with_rtc_object<RtcLinker>(handle, kRtcInvalidInput, std::forward<Body>(body));
}

// A number that stands where others have a pointer.
std::size_t number_in(const void* value) {
  return reinterpret_cast<std::uintptr_t>(value);
}

bool set_options(RtcLinker& linker, std::span<const int> names, void* const* values) {
  const char* const* words = nullptr;
  std::size_t count = 0;
  std::optional<unsigned> level;
  for (std::size_t i = 0; i < names.size(); ++i) {
    void* const value = values[i];
    switch (names[i]) {
      case kInfoLog: linker.info.place = static_cast<char*>(value); break;
      case kInfoLogBytes: linker.info.bytes = number_in(value); break;
      case kErrorLog: linker.errors.place = static_cast<char*>(value); break;
      case kErrorLogBytes: linker.errors.bytes = number_in(value); break;
      case kOptimisation: level = static_cast<unsigned>(number_in(value)); break;
      case kCompilerWords: words = static_cast<const char* const*>(value); break;
      case kCompilerWordCount: count = number_in(value); break;
      default:
        if (names[i] < 0 || names[i] >= kNumbered) return false;
    }
  }
  constexpr unsigned kHighestLevel = 3;
  if (level.value_or(0) > kHighestLevel || (count != 0 && words == nullptr)) return false;
  if (level) linker.options.push_back("-O" + std::to_string(*level));
  for (std::size_t i = 0; i < count; ++i) {
    if (words[i] == nullptr) return false;
    linker.options.emplace_back(words[i]);
  }
  return true;
}

bool is_input(int kind) {
  return kind >= kBitcode && kind <= kBundledArchive;
}

int add(RtcLinker& linker, int kind, const char* image, std::size_t bytes) {
  if (kind == kBitcode) {
    linker.bitcodes.emplace_back(image, bytes);
    return kRtcSuccess;
  }
  if (kind == kBundledArchive) {
    print_line("archives of bundled bitcode cannot be linked here; add their members one by one");
    return kRtcProgramCreationFailure;
  }
  const auto part = code_for(image, bytes, device_target());
  if (!part) {
    print_line(part.error().text());
    return kRtcProgramCreationFailure;
  }
  linker.bitcodes.emplace_back(reinterpret_cast<const char*>(part->data()), part->size());
  return kRtcSuccess;
}

}  // namespace

WW_HIP_EXPORT int hiprtcLinkCreate(unsigned count, const int* options, void* const* values,
                                   void** handle) {
  return rtc_call([&]() -> int {
    if (handle == nullptr) return kRtcInvalidInput;
    if (count != 0 && (options == nullptr || values == nullptr)) return kRtcInvalidInput;
    auto made = std::make_unique<RtcLinker>();
    if (!set_options(*made, {options, count}, values)) return kRtcInvalidOption;
    *handle = made.get();
    rtc_objects<RtcLinker>().emplace(*handle, std::move(made));
    return kRtcSuccess;
  });
}
WW_HIP_EXPORT int hiprtcLinkAddFile(void* handle, int kind, const char* path, unsigned, const int*,
                                    void* const*) {
  return with_linker(handle, [&](RtcLinker& linker) -> int {
    if (!is_input(kind) || path == nullptr) return kRtcInvalidInput;
    const auto image = read_file(path);
    if (!image || image->empty()) return kRtcProgramCreationFailure;
    return add(linker, kind, image->data(), image->size());
  });
}
WW_HIP_EXPORT int hiprtcLinkAddData(void* handle, int kind, const void* image, std::size_t bytes,
                                    const char*, unsigned, const int*, void* const*) {
  if (image == nullptr || bytes == 0 || !is_input(kind)) return kRtcInvalidInput;
  return with_linker(handle, [&](RtcLinker& linker) -> int {
    return add(linker, kind, static_cast<const char*>(image), bytes);
  });
}
// The code object belongs to the linker.
WW_HIP_EXPORT int hiprtcLinkComplete(void* handle, void** code, std::size_t* bytes) {
  if (code == nullptr || bytes == nullptr) return kRtcInvalidInput;
  return with_linker(handle, [&](RtcLinker& linker) -> int {
    if (linker.bitcodes.empty()) {
      linker.errors.write("error: there is nothing to link\n");
      return kRtcLinking;
    }
    CompileRequest request = link_request(device_target(), linker.bitcodes);
    request.options = linker.options;
    CompileAnswer answer = run_compiler(request);
    if (answer.status != CompileStatus::success) {
      linker.errors.write(answer.log);
      return kRtcLinking;
    }
    linker.info.write(answer.log);
    linker.code = std::move(answer.output);
    *code = linker.code.data();
    *bytes = linker.code.size();
    return kRtcSuccess;
  });
}
WW_HIP_EXPORT int hiprtcLinkDestroy(void* handle) {
  return rtc_call([&]() -> int {
    return rtc_objects<RtcLinker>().erase(handle) == 0 ? kRtcInvalidInput : kRtcSuccess;
  });
}

}  // namespace ww::sim::driver::hip
