// Kernels: creation, arguments and queries.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "common/code/compiler_errors.hpp"
#include "common/runtime/runtime.hpp"
#include "opencl/memory/memory.hpp"
#include "opencl/memory/sampler.hpp"
#include "opencl/object/api.hpp"
#include "opencl/object/entry_call.hpp"
#include "opencl/object/info.hpp"
#include "opencl/object/objects.hpp"
#include "opencl/program/program.hpp"

namespace ww::sim::driver {
namespace {

bool is_hidden(const binpatch::KernelArgument& argument) {
  return argument.value_kind.rfind("hidden_", 0) == 0;
}

ArgumentKind kind_of(const binpatch::KernelArgument& argument) {
  if (argument.value_kind == "global_buffer") return ArgumentKind::buffer;
  if (argument.value_kind == "dynamic_shared_pointer") return ArgumentKind::local;
  if (argument.value_kind == "image") return ArgumentKind::image;
  if (argument.value_kind == "sampler") return ArgumentKind::sampler;
  return ArgumentKind::value;
}

cl_kernel new_kernel(cl_program program, const binpatch::Kernel& info) {
  warn_of_errors(program->module->object, info, program->from_source || program->linked);
  auto* kernel = new _cl_kernel;
  kernel->program = Use(program);
  kernel->module = program->module;
  kernel->info = &info;
  std::size_t bytes = std::max(info.kernarg_segment_size, info.descriptor.kernarg_size);
  for (const auto& argument : info.arguments) {
    bytes = std::max<std::size_t>(bytes, std::size_t{argument.offset} + argument.size);
    if (is_hidden(argument)) {
      kernel->prints = kernel->prints || argument.value_kind == "hidden_printf_buffer";
    } else {
      kernel->arguments.push_back({.metadata = &argument, .kind = kind_of(argument)});
    }
  }
  kernel->kernarg.assign(bytes, std::byte{});
  ++program->kernels;
  return kernel;
}

template <class T>
void store(_cl_kernel& kernel, const binpatch::KernelArgument& where, const T& value) {
  std::memcpy(kernel.kernarg.data() + where.offset, &value,
              std::min<std::size_t>(sizeof value, where.size));
}

cl_int set_buffer(_cl_kernel& kernel, ArgumentState& argument, std::size_t size,
                  const void* value) {
  if (size != sizeof(cl_mem)) return CL_INVALID_ARG_SIZE;
  cl_mem memory = nullptr;
  if (value != nullptr) std::memcpy(&memory, value, sizeof(cl_mem));
  if (memory != nullptr && (!known_memory(memory) || memory->image ||
                            memory->context.get() != kernel.program->context.get())) {
    return CL_INVALID_MEM_OBJECT;
  }
  argument.memory = memory;
  argument.serial = memory != nullptr ? memory->serial : 0;
  const std::uint64_t address = memory != nullptr ? memory->address : 0;
  store(kernel, *argument.metadata, address);
  return CL_SUCCESS;
}

// The kind of image that an argument of this type takes; nothing for a name that says none, as in a
// binary without argument information.
std::optional<cl_mem_object_type> image_type_of(const binpatch::KernelArgument& argument) {
  static constexpr std::pair<std::string_view, cl_mem_object_type> kinds[] = {
      {"image1d_t", CL_MEM_OBJECT_IMAGE1D},
      {"image1d_array_t", CL_MEM_OBJECT_IMAGE1D_ARRAY},
      {"image1d_buffer_t", CL_MEM_OBJECT_IMAGE1D_BUFFER},
      {"image2d_t", CL_MEM_OBJECT_IMAGE2D},
      {"image2d_array_t", CL_MEM_OBJECT_IMAGE2D_ARRAY},
      {"image3d_t", CL_MEM_OBJECT_IMAGE3D}};
  for (const auto& [name, type] : kinds) {
    if (argument.type_name == name) return type;
  }
  return std::nullopt;
}

cl_int set_image(_cl_kernel& kernel, ArgumentState& argument, std::size_t size, const void* value) {
  if (size != sizeof(cl_mem)) return CL_INVALID_ARG_SIZE;
  cl_mem memory = nullptr;
  if (value != nullptr) std::memcpy(&memory, value, sizeof(cl_mem));
  if (!known_memory(memory) || !memory->image ||
      memory->context.get() != kernel.program->context.get() ||
      image_type_of(*argument.metadata).value_or(memory->image->type) != memory->image->type) {
    return CL_INVALID_MEM_OBJECT;
  }
  const bool writes = argument.metadata->access == "write_only";
  if ((memory->flags & (writes ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY)) != 0) {
    return CL_INVALID_ARG_VALUE;
  }
  argument.memory = memory;
  argument.serial = memory->serial;
  store(kernel, *argument.metadata, memory->image->descriptor);
  return CL_SUCCESS;
}

cl_int set_sampler(_cl_kernel& kernel, ArgumentState& argument, std::size_t size,
                   const void* value) {
  if (size != sizeof(cl_sampler)) return CL_INVALID_ARG_SIZE;
  cl_sampler sampler = nullptr;
  if (value != nullptr) std::memcpy(&sampler, value, sizeof(cl_sampler));
  if (!known_sampler(sampler) || sampler->context.get() != kernel.program->context.get()) {
    return CL_INVALID_SAMPLER;
  }
  argument.sampler = sampler;
  argument.serial = sampler->serial;
  store(kernel, *argument.metadata, sampler->descriptor);
  return CL_SUCCESS;
}

cl_int set_local(_cl_kernel& kernel, ArgumentState& argument, std::size_t size, const void* value) {
  if (value != nullptr) return CL_INVALID_ARG_VALUE;
  if (size == 0 || size > UINT32_MAX) return CL_INVALID_ARG_SIZE;
  argument.local_bytes = static_cast<std::uint32_t>(size);
  kernel.lds_laid_out = false;
  return CL_SUCCESS;
}

cl_int set_value(_cl_kernel& kernel, ArgumentState& argument, std::size_t size, const void* value) {
  if (argument.metadata->value_kind != "by_value") return CL_INVALID_ARG_VALUE;
  if (value == nullptr) return CL_INVALID_ARG_VALUE;
  if (size != argument.metadata->size) return CL_INVALID_ARG_SIZE;
  std::memcpy(kernel.kernarg.data() + argument.metadata->offset, value, size);
  return CL_SUCCESS;
}

// Words of a type qualifier or attribute, from the metadata to the standard's constants.
cl_kernel_arg_address_qualifier address_qualifier(const binpatch::KernelArgument& argument) {
  if (argument.value_kind == "by_value" || argument.value_kind == "sampler") {
    return CL_KERNEL_ARG_ADDRESS_PRIVATE;
  }
  // The compiler speaks of the descriptor, which is constant.
  if (argument.value_kind == "image") return CL_KERNEL_ARG_ADDRESS_GLOBAL;
  if (argument.address_space == "local") return CL_KERNEL_ARG_ADDRESS_LOCAL;
  if (argument.address_space == "constant") return CL_KERNEL_ARG_ADDRESS_CONSTANT;
  return CL_KERNEL_ARG_ADDRESS_GLOBAL;
}

cl_kernel_arg_access_qualifier access_qualifier(const binpatch::KernelArgument& argument) {
  if (argument.value_kind != "image") return CL_KERNEL_ARG_ACCESS_NONE;
  if (argument.access == "write_only") return CL_KERNEL_ARG_ACCESS_WRITE_ONLY;
  if (argument.access == "read_write") return CL_KERNEL_ARG_ACCESS_READ_WRITE;
  return CL_KERNEL_ARG_ACCESS_READ_ONLY;
}

cl_kernel_arg_type_qualifier type_qualifier(const binpatch::KernelArgument& argument) {
  cl_kernel_arg_type_qualifier bits = CL_KERNEL_ARG_TYPE_NONE;
  const bool constant =
      argument.value_kind == "global_buffer" && argument.address_space == "constant";
  if (argument.is_const || constant) bits |= CL_KERNEL_ARG_TYPE_CONST;
  if (argument.is_volatile) bits |= CL_KERNEL_ARG_TYPE_VOLATILE;
  if (argument.is_restrict) bits |= CL_KERNEL_ARG_TYPE_RESTRICT;
  return bits;
}

// The attributes as the source spells them, with spaces between.
std::string attributes_of(const binpatch::Kernel& info) {
  std::string text;
  const auto add = [&](const std::string& attribute) {
    text += (text.empty() ? "" : " ") + attribute;
  };
  const auto add_size = [&](const char* name, const auto& size) {
    if (!size) return;
    add(std::string(name) + "(" + std::to_string((*size)[0]) + "," + std::to_string((*size)[1]) +
        "," + std::to_string((*size)[2]) + ")");
  };
  if (!info.vector_type_hint.empty()) add("vec_type_hint(" + info.vector_type_hint + ")");
  add_size("work_group_size_hint", info.workgroup_size_hint);
  add_size("reqd_work_group_size", info.required_workgroup_size);
  return text;
}

}  // namespace

void destroy(cl_kernel kernel) {
  --kernel->program->kernels;
  delete kernel;
}

namespace api {

cl_kernel CL_API_CALL clCreateKernel(cl_program program, const char* name, cl_int* errcode_ret) {
  return created<cl_kernel>(errcode_ret, [&](Entry&) -> Created<cl_kernel> {
    if (!valid(program)) return refuse(CL_INVALID_PROGRAM);
    if (name == nullptr) return refuse(CL_INVALID_VALUE);
    if (!has_executable(*program)) return refuse(CL_INVALID_PROGRAM_EXECUTABLE);
    const auto* info = program->module ? program->module->object.find_kernel(name) : nullptr;
    if (info == nullptr) return refuse(CL_INVALID_KERNEL_NAME);
    return new_kernel(program, *info);
  });
}

cl_int CL_API_CALL clCreateKernelsInProgram(cl_program program, cl_uint count, cl_kernel* kernels,
                                            cl_uint* kernel_count) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(program)) return CL_INVALID_PROGRAM;
    if (!has_executable(*program)) return CL_INVALID_PROGRAM_EXECUTABLE;
    const auto all = kernels_of(*program);
    if (kernels != nullptr) {
      if (count < all.size()) return CL_INVALID_VALUE;
      for (std::size_t i = 0; i < all.size(); ++i) kernels[i] = new_kernel(program, all[i]);
    }
    if (kernel_count != nullptr) *kernel_count = static_cast<cl_uint>(all.size());
    return CL_SUCCESS;
  });
}

cl_int CL_API_CALL clRetainKernel(cl_kernel kernel) {
  return guarded([&](Entry&) { return retain_handle(kernel, CL_INVALID_KERNEL); });
}

cl_int CL_API_CALL clReleaseKernel(cl_kernel kernel) {
  return guarded([&](Entry&) { return release_handle(kernel, CL_INVALID_KERNEL); });
}

cl_int CL_API_CALL clSetKernelArg(cl_kernel kernel, cl_uint index, std::size_t size,
                                  const void* value) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(kernel)) return CL_INVALID_KERNEL;
    if (index >= kernel->arguments.size()) return CL_INVALID_ARG_INDEX;
    auto& argument = kernel->arguments[index];
    cl_int code = CL_SUCCESS;
    switch (argument.kind) {
      case ArgumentKind::buffer: code = set_buffer(*kernel, argument, size, value); break;
      case ArgumentKind::local: code = set_local(*kernel, argument, size, value); break;
      case ArgumentKind::image: code = set_image(*kernel, argument, size, value); break;
      case ArgumentKind::sampler: code = set_sampler(*kernel, argument, size, value); break;
      case ArgumentKind::value: code = set_value(*kernel, argument, size, value); break;
    }
    argument.set = argument.set || code == CL_SUCCESS;
    return code;
  });
}

cl_int CL_API_CALL clGetKernelInfo(cl_kernel kernel, cl_kernel_info name, std::size_t size,
                                   void* value, std::size_t* size_ret) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(kernel)) return CL_INVALID_KERNEL;
    const InfoSink sink(size, value, size_ret);
    switch (name) {
      case CL_KERNEL_FUNCTION_NAME: return sink.text(kernel->info->name);
      case CL_KERNEL_NUM_ARGS: return sink.value(static_cast<cl_uint>(kernel->arguments.size()));
      case CL_KERNEL_REFERENCE_COUNT: return sink.value(kernel->references);
      case CL_KERNEL_CONTEXT: return sink.value(kernel->program->context.get());
      case CL_KERNEL_PROGRAM: return sink.value(kernel->program.get());
      case CL_KERNEL_ATTRIBUTES: return sink.text(attributes_of(*kernel->info));
      default: return CL_INVALID_VALUE;
    }
  });
}

cl_int CL_API_CALL clGetKernelArgInfo(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name,
                                      std::size_t size, void* value, std::size_t* size_ret) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(kernel)) return CL_INVALID_KERNEL;
    if (index >= kernel->arguments.size()) return CL_INVALID_ARG_INDEX;
    const auto& argument = *kernel->arguments[index].metadata;
    const InfoSink sink(size, value, size_ret);
    switch (name) {
      case CL_KERNEL_ARG_ADDRESS_QUALIFIER: return sink.value(address_qualifier(argument));
      case CL_KERNEL_ARG_ACCESS_QUALIFIER: return sink.value(access_qualifier(argument));
      case CL_KERNEL_ARG_TYPE_QUALIFIER: return sink.value(type_qualifier(argument));
      // A binary from elsewhere may have been compiled without argument information.
      case CL_KERNEL_ARG_TYPE_NAME:
        if (argument.type_name.empty()) return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
        return sink.text(argument.type_name);
      case CL_KERNEL_ARG_NAME:
        if (argument.name.empty()) return CL_KERNEL_ARG_INFO_NOT_AVAILABLE;
        return sink.text(argument.name);
      default: return CL_INVALID_VALUE;
    }
  });
}

cl_int CL_API_CALL clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                            cl_kernel_work_group_info name, std::size_t size,
                                            void* value, std::size_t* size_ret) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(kernel)) return CL_INVALID_KERNEL;
    if (device != nullptr && !is_device(device)) return CL_INVALID_DEVICE;
    const InfoSink sink(size, value, size_ret);
    const auto& info = *kernel->info;
    switch (name) {
      case CL_KERNEL_WORK_GROUP_SIZE: return sink.value<std::size_t>(max_group_size(*kernel));
      case CL_KERNEL_COMPILE_WORK_GROUP_SIZE: {
        std::array<std::size_t, 3> required{};
        if (info.required_workgroup_size) {
          std::copy(info.required_workgroup_size->begin(), info.required_workgroup_size->end(),
                    required.begin());
        }
        return sink.array(std::span<const std::size_t>(required));
      }
      case CL_KERNEL_LOCAL_MEM_SIZE: {
        cl_ulong bytes = info.descriptor.group_segment_fixed_size;
        for (const auto& argument : kernel->arguments) bytes += argument.local_bytes;
        return sink.value(bytes);
      }
      case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        return sink.value<std::size_t>(info.wavefront_size);
      case CL_KERNEL_PRIVATE_MEM_SIZE:
        return sink.value<cl_ulong>(info.descriptor.private_segment_fixed_size);
      case CL_KERNEL_GLOBAL_WORK_SIZE:  // only for custom devices and built-in kernels
      default: return CL_INVALID_VALUE;
    }
  });
}

}  // namespace api
}  // namespace ww::sim::driver
