// Programs: what their two files share.
#pragma once

#include <span>
#include <string_view>

#include "opencl/object/objects.hpp"
#include "ww/core/result.hpp"

namespace ww::sim::driver {

[[nodiscard]] cl_program new_program(cl_context context);

// A device list that may be absent: CL_INVALID_VALUE, CL_INVALID_DEVICE or CL_SUCCESS.
[[nodiscard]] cl_int check_device_list(cl_uint count, const cl_device_id* devices);

// The binary of a library: its bitcode in LLVM's wrapper, marked, so that a program created with it
// is known for a library.
[[nodiscard]] std::string library_binary(std::string_view bitcode);

// The bitcode of a compiled object or a library, without a wrapper.
[[nodiscard]] std::string_view bitcode_of(std::string_view binary);

// Parses a code object and demands that it is for this device. Errors: parse_error, unsupported.
[[nodiscard]] Result<binpatch::CodeObject> parse_for_device(std::string_view binary);

// Loads the program's code object into the device; `failure` and a log when that does not work.
[[nodiscard]] cl_int load_executable(_cl_program& program, cl_int failure);

// True when kernels can be made of the program; loads a binary that nobody has built yet.
[[nodiscard]] bool has_executable(_cl_program& program);

// The program compiled for work-groups of `items` work-items, which costs registers; built when
// first asked for. Null when the program has no source or cannot be built so.
[[nodiscard]] std::shared_ptr<const Module> for_large_groups(_cl_program& program,
                                                             std::size_t items);

// The most work-items that a group of this kernel can have.
[[nodiscard]] std::size_t max_group_size(const _cl_kernel& kernel);

// The kernels of a loaded program; a program may have none.
[[nodiscard]] std::span<const binpatch::Kernel> kernels_of(const _cl_program& program);

}  // namespace ww::sim::driver
