// The functions that Kokkos finds in a library that KOKKOS_TOOLS_LIBS names (Kokkos Tools,
// interface 20210623). Whatever goes wrong here is said on stderr; the program goes on.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "label_joules.hpp"
#include "report.hpp"

namespace {

using ww::kokkos::LabelJoules;

// Kokkos calls from its own initialisation to its finalisation, so nothing lives outside.
std::unique_ptr<LabelJoules> measured;

struct ToolSettings {
  bool requires_global_fencing;
  bool padding[255];
};

template <class Body>
void guarded(Body&& body) noexcept {
  if (measured == nullptr) return;
  try {
    body(*measured);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "wirewatt: %s\n", e.what());
    measured.reset();
  }
}

void begin(const char* name, std::uint64_t* kernel) {
  *kernel = 0;
  guarded([&](LabelJoules& joules) { *kernel = joules.begin(name); });
}

void end(std::uint64_t kernel) {
  guarded([&](LabelJoules& joules) { joules.end(kernel); });
}

void report(LabelJoules& joules) {
  joules.finish();
  std::fputs(ww::kokkos::table_of(joules).c_str(), stderr);
  const std::string file = ww::kokkos::environment("WIREWATT_KOKKOS_JSON");
  if (file.empty()) return;
  std::ofstream out(file);
  out << ww::kokkos::json_of(joules).dump(2) << '\n';
  if (!out.flush()) std::fprintf(stderr, "wirewatt: %s cannot be written\n", file.c_str());
}

}  // namespace

#define WW_KOKKOS_EXPORT extern "C" __attribute__((visibility("default")))

WW_KOKKOS_EXPORT void kokkosp_init_library(const int /*order*/, const std::uint64_t /*version*/,
                                           const std::uint32_t /*devices*/, void* /*device*/) {
  measured = std::make_unique<LabelJoules>();
}

WW_KOKKOS_EXPORT void kokkosp_finalize_library() {
  guarded(report);
  measured.reset();
}

// Without fences a stretch would end before its kernel does.
WW_KOKKOS_EXPORT void kokkosp_request_tool_settings(const std::uint32_t /*count*/,
                                                    ToolSettings* settings) {
  settings->requires_global_fencing = true;
}

WW_KOKKOS_EXPORT void kokkosp_begin_parallel_for(const char* name, const std::uint32_t /*device*/,
                                                 std::uint64_t* kernel) {
  begin(name, kernel);
}
WW_KOKKOS_EXPORT void kokkosp_begin_parallel_reduce(const char* name,
                                                    const std::uint32_t /*device*/,
                                                    std::uint64_t* kernel) {
  begin(name, kernel);
}
WW_KOKKOS_EXPORT void kokkosp_begin_parallel_scan(const char* name, const std::uint32_t /*device*/,
                                                  std::uint64_t* kernel) {
  begin(name, kernel);
}
WW_KOKKOS_EXPORT void kokkosp_end_parallel_for(const std::uint64_t kernel) {
  end(kernel);
}
WW_KOKKOS_EXPORT void kokkosp_end_parallel_reduce(const std::uint64_t kernel) {
  end(kernel);
}
WW_KOKKOS_EXPORT void kokkosp_end_parallel_scan(const std::uint64_t kernel) {
  end(kernel);
}
WW_KOKKOS_EXPORT void kokkosp_push_profile_region(const char* name) {
  guarded([&](LabelJoules& joules) { joules.push_region(name); });
}
WW_KOKKOS_EXPORT void kokkosp_pop_profile_region() {
  guarded([](LabelJoules& joules) { joules.pop_region(); });
}
