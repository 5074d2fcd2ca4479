#include "ww/rocprofiler/sdk.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <initializer_list>

#include "ww/core/atomic_file.hpp"

namespace ww::rocprofiler {
namespace {

constexpr std::uint32_t kFirstUsable = 500;     // 0.5.0
constexpr std::uint32_t kFirstUnknown = 20000;  // 2.0.0

// Fills `function` with the first of the names that the library has, else adds the first name to
// `missing`.
template <class Function>
void find(void* library, std::initializer_list<const char*> names, Function& function,
          std::string& missing) {
  for (const char* name : names) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    if (function != nullptr) return;
  }
  missing += (missing.empty() ? "" : ", ") + std::string(*names.begin());
}

}  // namespace

std::string version_text(std::uint32_t version) {
  return fmt::format("{}.{}.{}", version / kMajorStep, version % kMajorStep / kMinorStep,
                     version % kMinorStep);
}

ww::Status check_release(std::uint32_t version, const std::string& rocm_release) {
  const std::string name = "rocprofiler-sdk " + version_text(version);
  if (version < kFirstUsable) {
    return fail(ErrorCode::unsupported,
                "gives every record the same counter (rocprofiler-sdk issue 13); ROCm 6.3.2 and "
                "later are right",
                name);
  }
  if (rocm_release.starts_with("6.3.0") || rocm_release.starts_with("6.3.1")) {
    return fail(ErrorCode::unsupported,
                "of ROCm " + rocm_release +
                    " returns values that it did not set (rocprofiler-sdk issue 15); ROCm 6.3.2 "
                    "and later are right",
                name);
  }
  if (version >= kFirstUnknown) {
    return fail(ErrorCode::unsupported,
                "is newer than the interface that this build declares (0.5 to 1.x)", name);
  }
  return {};
}

std::string rocm_release_of(const std::string& library_file) {
  std::error_code failed;
  const auto file = std::filesystem::canonical(library_file, failed);
  if (failed) return {};
  auto text =
      read_file(file.parent_path().parent_path() / ".info" / "version").value_or(std::string());
  text.resize(std::min(text.find_first_of(" \r\n"), text.size()));
  return text;
}

TracedOperation operation_of(const TracingRecord& record, std::uint32_t version) {
  TracedOperation found;
  const auto* bytes = reinterpret_cast<const char*>(&record);
  const std::size_t at = is_first_generation(version) ? 32 : 40;
  std::memcpy(&found.kind, bytes + at, sizeof found.kind);
  std::memcpy(&found.operation, bytes + at + 4, sizeof found.operation);
  std::memcpy(&found.phase, bytes + at + 8, sizeof found.phase);
  std::memcpy(&found.payload, bytes + at + 16, sizeof found.payload);
  return found;
}

void set_client_name(void* client_id, std::uint32_t version, const char* name) {
  auto* bytes = static_cast<char*>(client_id);
  std::memcpy(bytes + (is_first_generation(version) ? 0 : 8), &name, sizeof name);
}

std::string Sdk::status_text(Status status) const {
  const char* text = get_status_string == nullptr ? nullptr : get_status_string(status);
  return fmt::format("{} (status {})", text == nullptr ? "unknown" : text, status);
}

Result<Sdk> find_functions(void* library, std::uint32_t version) {
  Sdk sdk;
  sdk.version = version;
  std::string missing;
#define WW_FIND(name) find(library, {"rocprofiler_" #name}, sdk.name, missing)
  WW_FIND(get_version);
  WW_FIND(get_status_string);
  WW_FIND(create_context);
  WW_FIND(start_context);
  WW_FIND(query_available_agents);
  WW_FIND(iterate_agent_supported_counters);
  WW_FIND(query_counter_info);
  WW_FIND(query_record_counter_id);
  WW_FIND(configure_callback_tracing_service);
  WW_FIND(configure_callback_dispatch_counting_service);
  WW_FIND(create_buffer);
  WW_FIND(configure_device_counting_service);
  WW_FIND(sample_device_counting_service);
#undef WW_FIND
  // Renamed in 1.0; its header keeps the old name as an inline function, which no library exports.
  find(library, {"rocprofiler_create_counter_config", "rocprofiler_create_profile_config"},
       sdk.create_counter_config, missing);
  if (!missing.empty()) {
    return fail(ErrorCode::unsupported, "lacks " + missing,
                "rocprofiler-sdk " + version_text(version));
  }
  return sdk;
}

}  // namespace ww::rocprofiler
