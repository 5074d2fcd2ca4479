// The compute host over OpenCL.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/opencl_api.hpp"
#include "ww/core/result.hpp"
#include "ww/microbench/i_compute_host.hpp"

namespace ww::microbench {

struct OpenClDevice {
  int platform{};  // indices as the loader lists them
  int device{};
  std::string platform_name;
  std::string device_name;
  bool is_gpu{};
  bool available{};
  bool has_compiler{};
};

// Every device of every platform that the loader shows. Error device_error. No platform at all is
// an empty list.
[[nodiscard]] Result<std::vector<OpenClDevice>> enumerate_opencl(const OpenClApi& api);

// Opens one of them: context and in-order queue. Errors: missing_dependency (it is not there),
// device_error.
[[nodiscard]] Result<std::unique_ptr<ComputeHost>> open_opencl_host(const OpenClApi& api,
                                                                    int platform, int device);

}  // namespace ww::microbench
