// Names of kernels for tables and charts. Compilers mangle the name of a HIP or CUDA kernel
// together with its parameters; files and JSON have that name, which belongs to one kernel alone.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ww {

// The whole name as a programmer writes it, "void sort<int>(int*)"; a name that no compiler mangled
// (Itanium C++ ABI, 5.1) is given as it is.
[[nodiscard]] std::string kernel_name(std::string_view name);

// kernel_name() without result and parameters, "rocprim::sort<int>", in up to `most` characters:
// namespaces are left out from the front, then the middle is: "sort<rocprim::conf...int, 256>".
[[nodiscard]] std::string kernel_label(std::string_view name, std::size_t most);

// The labels of kernels that stand in one table, of up to 40 characters. Different names have
// different labels: where the ends of two are the same, a label shows the place in which they
// differ, and a number where no place is short enough: "sort<int> #1".
[[nodiscard]] std::vector<std::string> kernel_labels(std::span<const std::string> names);

// Returns the labels of anything that has a name.
template <class Kernels, class Name>
[[nodiscard]] std::vector<std::string> kernel_labels(const Kernels& kernels, Name name) {
  std::vector<std::string> names;
  names.reserve(std::size(kernels));
  for (const auto& kernel : kernels) names.push_back(std::invoke(name, kernel));
  return kernel_labels(std::span<const std::string>(names));
}

}  // namespace ww
