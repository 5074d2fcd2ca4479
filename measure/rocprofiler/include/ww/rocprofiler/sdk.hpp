// rocprofiler-sdk as a table of functions that are found in a loaded library.
#pragma once

#include <cstdint>
#include <string>

#include "ww/core/result.hpp"
#include "ww/rocprofiler/interface.hpp"

namespace ww::rocprofiler {

// "1.3.0" of 10300.
[[nodiscard]] std::string version_text(std::uint32_t version);

// Whether counts of this release can be used. `rocm_release` is that of the ROCm which brought it,
// "6.3.1-48"; empty where it is not known. Error unsupported: the release, what is wrong with its
// counts, and the release that cures it.
[[nodiscard]] ww::Status check_release(std::uint32_t version, const std::string& rocm_release);

// Reads the release of ROCm from .info/version beside the folder of a library; empty where there is
// none.
[[nodiscard]] std::string rocm_release_of(const std::string& library_file);

// The functions that counting uses, by the name of the release. A member has the name of the
// function without "rocprofiler_".
struct Sdk {
  std::uint32_t version{};

  Status (*get_version)(std::uint32_t*, std::uint32_t*, std::uint32_t*){};
  const char* (*get_status_string)(Status){};
  Status (*create_context)(ContextId*){};
  Status (*start_context)(ContextId){};
  Status (*query_available_agents)(int, AgentsCallback, std::size_t, void*){};
  Status (*iterate_agent_supported_counters)(AgentId, CountersCallback, void*){};
  Status (*query_counter_info)(CounterId, int, void*){};
  Status (*query_record_counter_id)(InstanceId, CounterId*){};
  Status (*create_counter_config)(AgentId, CounterId*, std::size_t, ConfigId*){};
  Status (*configure_callback_tracing_service)(ContextId, int, const int*, std::size_t,
                                               TracingCallback, void*){};
  Status (*configure_callback_dispatch_counting_service)(ContextId, DispatchCallback, void*,
                                                         RecordCallback, void*){};
  Status (*create_buffer)(ContextId, std::size_t bytes, std::size_t watermark, int policy,
                          BufferCallback, void*, BufferId*){};
  Status (*configure_device_counting_service)(ContextId, BufferId, AgentId, StartCallback, void*){};
  // In the form of ROCm 6.3.2 and later.
  Status (*sample_device_counting_service)(ContextId, UserData, int flags, CounterRecord* records,
                                           std::size_t* count){};

  // "EXCEEDS_HW_LIMIT (38)", in the library's words.
  [[nodiscard]] std::string status_text(Status status) const;
};

// Finds the functions in a library that dlopen() returned. Error unsupported: the functions that it
// lacks.
[[nodiscard]] Result<Sdk> find_functions(void* library, std::uint32_t version);

}  // namespace ww::rocprofiler
