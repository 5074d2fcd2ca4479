// Names of kernels for tables and charts. Compilers mangle the name of a HIP or CUDA kernel
// together with its parameters; files and JSON have that name, which belongs to one kernel alone.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ww {

// The name without parameters, "rocprim::detail::sort_kernel<>": `<>` for an instance of a
// template. Namespaces are left out from the front where it has more than `most` characters. A name
// that is not mangled (Itanium C++ ABI, 5.1), or is that of another thing than a function of a
// namespace, is given as it is, up to its first `most` characters.
[[nodiscard]] std::string kernel_label(std::string_view name, std::size_t most);

// The labels of kernels that stand in one table, of up to 40 characters. Different names with the
// same label are numbered: "sort_kernel<> #1".
[[nodiscard]] std::vector<std::string> kernel_labels(std::span<const std::string> names);

// The same for anything that has a name.
template <class Kernels, class Name>
[[nodiscard]] std::vector<std::string> kernel_labels(const Kernels& kernels, Name name) {
  std::vector<std::string> names;
  for (const auto& kernel : kernels) names.push_back(std::invoke(name, kernel));
  return kernel_labels(std::span<const std::string>(names));
}

}  // namespace ww
