// Programs: creation, queries, life. Building is in program_build.cpp.
#include <algorithm>
#include <cstring>
#include <optional>

#include "common/runtime/runtime.hpp"
#include "opencl/object/api.hpp"
#include "opencl/object/entry_call.hpp"
#include "opencl/object/info.hpp"
#include "opencl/object/objects.hpp"
#include "opencl/program/program.hpp"

namespace ww::sim::driver {
namespace {

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// LLVM's wrapper of bitcode (BitcodeReader.h): five little-endian words before it.
struct BitcodeWrapper {
  std::uint32_t magic{0x0b17c0de};
  std::uint32_t version{};
  std::uint32_t offset{sizeof(BitcodeWrapper)};
  std::uint32_t size{};
  std::uint32_t cpu_type{kLibraryMark};

  static constexpr std::uint32_t kLibraryMark = 0x4c425757;  // "WWBL"
};

std::optional<BitcodeWrapper> wrapper_of(std::string_view binary) {
  BitcodeWrapper wrapper;
  const std::uint32_t magic = wrapper.magic;
  if (binary.size() < sizeof wrapper) return std::nullopt;
  std::memcpy(&wrapper, binary.data(), sizeof wrapper);
  if (wrapper.magic != magic || wrapper.offset > binary.size() ||
      wrapper.size > binary.size() - wrapper.offset) {
    return std::nullopt;
  }
  return wrapper;
}

bool is_library(std::string_view binary) {
  const auto wrapper = wrapper_of(binary);
  return wrapper && wrapper->cpu_type == BitcodeWrapper::kLibraryMark;
}

bool is_bitcode(std::string_view binary) {
  return bitcode_of(binary).substr(0, 4) == "BC\xC0\xDE";
}

cl_int kernel_info(_cl_program& program, cl_program_info name, const InfoSink& sink) {
  if (!has_executable(program)) return CL_INVALID_PROGRAM_EXECUTABLE;
  const auto kernels = kernels_of(program);
  if (name == CL_PROGRAM_NUM_KERNELS) return sink.value(kernels.size());
  std::string names;
  for (const auto& kernel : kernels) names += (names.empty() ? "" : ";") + kernel.name;
  return sink.text(names);
}

// CL_PROGRAM_BINARIES: the value is an array of pointers to the application's room, one a device.
cl_int copy_binaries(const _cl_program& program, std::size_t size, void* value,
                     std::size_t* size_ret) {
  const std::size_t bytes = program.context->devices.size() * sizeof(unsigned char*);
  if (value != nullptr) {
    if (size < bytes) return CL_INVALID_VALUE;
    for (std::size_t i = 0; i < program.context->devices.size(); ++i) {
      if (auto* room = static_cast<unsigned char**>(value)[i]; room != nullptr) {
        std::copy(program.binary.begin(), program.binary.end(), room);
      }
    }
  }
  if (size_ret != nullptr) *size_ret = bytes;
  return CL_SUCCESS;
}

}  // namespace

std::string library_binary(std::string_view bitcode) {
  BitcodeWrapper wrapper;
  wrapper.size = static_cast<std::uint32_t>(bitcode.size());
  std::string binary(sizeof wrapper, '\0');
  std::memcpy(binary.data(), &wrapper, sizeof wrapper);
  return binary.append(bitcode);
}

std::string_view bitcode_of(std::string_view binary) {
  const auto wrapper = wrapper_of(binary);
  return wrapper ? binary.substr(wrapper->offset, wrapper->size) : binary;
}

Module::Module(binpatch::CodeObject code, std::uint32_t program_id)
    : object(std::move(code)), id(program_id) {
  for (const auto& text : object.printf_formats()) {
    // A format that cannot be read prints nothing; the kernel runs all the same.
    if (auto format = parse_printf_format(text)) printf_formats.push_back(std::move(*format));
  }
}

Module::~Module() {
  Runtime::get().powered_gpu().unload(id);
}

void destroy(cl_program program) {
  delete program;
}

std::span<const binpatch::Kernel> kernels_of(const _cl_program& program) {
  if (!program.module) return {};
  return program.module->object.kernels();
}

bool has_executable(_cl_program& program) {
  // An executable binary needs no compiler, so that it is loaded when it is first needed, whether
  // or not the application called clBuildProgram.
  if (!program.from_source && program.status == CL_BUILD_NONE &&
      program.binary_type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE) {
    return load_executable(program, CL_INVALID_PROGRAM_EXECUTABLE) == CL_SUCCESS;
  }
  return program.status == CL_BUILD_SUCCESS &&
         program.binary_type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
}

cl_program new_program(cl_context context) {
  auto* program = new _cl_program;
  program->context = Use(context);
  return program;
}

cl_int check_device_list(cl_uint count, const cl_device_id* devices) {
  if ((count == 0) != (devices == nullptr)) return CL_INVALID_VALUE;
  const auto* end = devices + count;
  return std::all_of(devices, end, is_device) ? CL_SUCCESS : CL_INVALID_DEVICE;
}

Result<binpatch::CodeObject> parse_for_device(std::string_view binary) {
  auto object = binpatch::CodeObject::parse(as_bytes(binary));
  if (!object) return object;
  const auto& wanted = Runtime::get().powered_gpu().chip().architecture().gfx_target;
  WW_TRY(object->check_runs_on(wanted));
  if (!object->has_arguments()) {
    return fail(ErrorCode::unsupported,
                "the program binary does not say what arguments its kernels take; build it again "
                "with code object version 3 or later");
  }
  return object;
}

namespace api {

cl_program CL_API_CALL clCreateProgramWithSource(cl_context context, cl_uint count,
                                                 const char** strings, const std::size_t* lengths,
                                                 cl_int* errcode_ret) {
  return created<cl_program>(errcode_ret, [&](Entry&) -> Created<cl_program> {
    if (!valid(context)) return refuse(CL_INVALID_CONTEXT);
    if (count == 0 || strings == nullptr) return refuse(CL_INVALID_VALUE);
    std::string source;
    for (cl_uint i = 0; i < count; ++i) {
      if (strings[i] == nullptr) return refuse(CL_INVALID_VALUE);
      if (lengths != nullptr && lengths[i] != 0) {
        source.append(strings[i], lengths[i]);
      } else {
        source.append(strings[i]);
      }
    }
    auto* program = new_program(context);
    program->from_source = true;
    program->source = std::move(source);
    return program;
  });
}

cl_program CL_API_CALL clCreateProgramWithBinary(cl_context context, cl_uint count,
                                                 const cl_device_id* devices,
                                                 const std::size_t* lengths,
                                                 const unsigned char** binaries,
                                                 cl_int* binary_status, cl_int* errcode_ret) {
  return created<cl_program>(errcode_ret, [&](Entry&) -> Created<cl_program> {
    if (!valid(context)) return refuse(CL_INVALID_CONTEXT);
    if (count == 0 || devices == nullptr || lengths == nullptr || binaries == nullptr) {
      return refuse(CL_INVALID_VALUE);
    }
    if (const cl_int bad = check_device_list(count, devices); bad != CL_SUCCESS) return refuse(bad);
    if (count > context->devices.size()) return refuse(CL_INVALID_DEVICE);
    const auto set_status = [&](cl_int status) {
      if (binary_status != nullptr) std::fill_n(binary_status, count, status);
    };
    for (cl_uint i = 0; i < count; ++i) {
      if (lengths[i] == 0 || binaries[i] == nullptr) {
        set_status(CL_INVALID_VALUE);
        return refuse(CL_INVALID_VALUE);
      }
    }
    // The devices of a package are equal, and run one binary.
    std::string binary(reinterpret_cast<const char*>(binaries[0]), lengths[0]);
    for (cl_uint i = 1; i < count; ++i) {
      if (std::string_view(reinterpret_cast<const char*>(binaries[i]), lengths[i]) == binary) {
        continue;
      }
      set_status(CL_INVALID_BINARY);
      print_line("clCreateProgramWithBinary: the devices of one package need one binary");
      return refuse(CL_INVALID_BINARY);
    }
    cl_program_binary_type type = is_library(binary) ? CL_PROGRAM_BINARY_TYPE_LIBRARY
                                                     : CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
    if (!is_bitcode(binary)) {
      type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
      if (auto object = parse_for_device(binary); !object) {
        set_status(CL_INVALID_BINARY);
        print_line("clCreateProgramWithBinary: " + object.error().text());
        return refuse(CL_INVALID_BINARY);
      }
    }
    set_status(CL_SUCCESS);
    auto* program = new_program(context);
    program->binary = std::move(binary);
    program->binary_type = type;
    return program;
  });
}

cl_program CL_API_CALL clCreateProgramWithBuiltInKernels(cl_context context, cl_uint count,
                                                         const cl_device_id* devices,
                                                         const char* names, cl_int* errcode_ret) {
  return created<cl_program>(errcode_ret, [&](Entry&) -> Created<cl_program> {
    if (!valid(context)) return refuse(CL_INVALID_CONTEXT);
    if (count == 0 || names == nullptr) return refuse(CL_INVALID_VALUE);
    if (const cl_int bad = check_device_list(count, devices); bad != CL_SUCCESS) return refuse(bad);
    return refuse(CL_INVALID_VALUE);  // the device has no built-in kernels
  });
}

cl_int CL_API_CALL clRetainProgram(cl_program program) {
  return guarded([&](Entry&) { return retain_handle(program, CL_INVALID_PROGRAM); });
}

cl_int CL_API_CALL clReleaseProgram(cl_program program) {
  return guarded([&](Entry&) { return release_handle(program, CL_INVALID_PROGRAM); });
}

cl_int CL_API_CALL clGetProgramInfo(cl_program program, cl_program_info name, std::size_t size,
                                    void* value, std::size_t* size_ret) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(program)) return CL_INVALID_PROGRAM;
    const InfoSink sink(size, value, size_ret);
    switch (name) {
      case CL_PROGRAM_REFERENCE_COUNT: return sink.value(program->references);
      case CL_PROGRAM_CONTEXT: return sink.value(program->context.get());
      case CL_PROGRAM_NUM_DEVICES:
        return sink.value(static_cast<cl_uint>(program->context->devices.size()));
      case CL_PROGRAM_DEVICES:
        return sink.array(std::span<const cl_device_id>(program->context->devices));
      case CL_PROGRAM_SOURCE: return sink.text(program->source);
      case CL_PROGRAM_BINARY_SIZES: {
        const std::vector<std::size_t> sizes(program->context->devices.size(),
                                             program->binary.size());
        return sink.array(std::span<const std::size_t>(sizes));
      }
      case CL_PROGRAM_BINARIES: return copy_binaries(*program, size, value, size_ret);
      case CL_PROGRAM_NUM_KERNELS:
      case CL_PROGRAM_KERNEL_NAMES: return kernel_info(*program, name, sink);
      default: return CL_INVALID_VALUE;
    }
  });
}

cl_int CL_API_CALL clGetProgramBuildInfo(cl_program program, cl_device_id device,
                                         cl_program_build_info name, std::size_t size, void* value,
                                         std::size_t* size_ret) {
  return guarded([&](Entry&) -> cl_int {
    if (!valid(program)) return CL_INVALID_PROGRAM;
    if (!is_device(device)) return CL_INVALID_DEVICE;
    const InfoSink sink(size, value, size_ret);
    switch (name) {
      case CL_PROGRAM_BUILD_STATUS: return sink.value(program->status);
      case CL_PROGRAM_BUILD_OPTIONS: return sink.text(program->options);
      case CL_PROGRAM_BUILD_LOG: return sink.text(program->log);
      case CL_PROGRAM_BINARY_TYPE:
        return sink.value(program->status != CL_BUILD_ERROR
                              ? program->binary_type
                              : cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_NONE});
      default: return CL_INVALID_VALUE;
    }
  });
}

}  // namespace api
}  // namespace ww::sim::driver
