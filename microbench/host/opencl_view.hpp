// Shows the platforms of the OpenCL loader. The loader settles on its vendors at its first call in
// a process, and a driver may crash there, so each view is taken in a child of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ww::microbench {

struct OpenClSight {
  int platform{}, device{};  // indices
  std::string platform_name, device_name;
  bool is_gpu{}, available{}, has_compiler{};
  bool is_virtual{};            // a GPU that could be opened and says that it is virtual
  std::string pci_bus, target;  // of a GPU that could be opened
  std::string no_code;          // why its binaries cannot be patched
};

struct OpenClView {
  std::vector<OpenClSight> devices;
  std::string error;  // why there are none to see
};

// `set_up` runs in the child before the loader's first call. `open`: GPUs are opened, for their bus
// and target.
[[nodiscard]] OpenClView view_opencl(const std::function<void()>& set_up, bool open);

}  // namespace ww::microbench
