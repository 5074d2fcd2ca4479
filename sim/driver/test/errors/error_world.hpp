// The standard's error conditions as tables: a row names the entry point, the code that it must
// give and when, and provokes it. Every row meets the same objects, and leaves them as they were.
#pragma once

#include <gtest/gtest.h>

#include <iosfwd>
#include <string>
#include <vector>

#include "fake_virtual_gpu.hpp"
#include "opencl/object/object.hpp"

namespace ww::sim::driver {

struct ErrorWorld {
  static constexpr std::size_t kBytes = 4096;
  static constexpr std::size_t kImageSide = 8;  // of every image's axes

  // Made once a process.
  static ErrorWorld& get();

  const cl_icd_dispatch& cl = dispatch_table();
  cl_platform_id platform{};
  cl_device_id device{};
  cl_context context{};
  cl_context other_context{};
  cl_command_queue queue{};
  cl_command_queue other_queue{};  // of the other context
  cl_mem buffer{};
  cl_mem second{};
  cl_mem foreign{};    // of the other context
  cl_mem read_only{};  // CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY
  cl_mem write_only{};
  cl_mem no_access{};
  cl_mem sub{};     // of `buffer`
  cl_mem image{};   // 2D, RGBA of bytes
  cl_mem volume{};  // 3D, the same
  cl_mem float_image{};
  cl_mem buffer_image{};  // in `second`
  cl_mem foreign_image{};
  cl_mem read_only_image{};  // flags as the buffers'
  cl_mem write_only_image{};
  cl_mem no_access_image{};
  cl_sampler sampler{};
  cl_sampler foreign_sampler{};
  cl_program source{};
  cl_program built{};
  cl_program failed{};
  cl_program compiled{};
  cl_program unresolved{};  // compiled, calls what nobody defines
  cl_program linked{};
  cl_program binary{};       // an executable without names of types
  cl_kernel kernel{};        // plain(global int*, int, local int*), no argument set
  cl_kernel ready{};         // plain, all arguments set
  cl_kernel fixed{};         // reqd_work_group_size(32, 2, 1), ready
  cl_kernel sampling{};      // (read_only image2d_t, sampler_t, write_only image2d_t)
  cl_kernel nameless{};      // of `binary`
  cl_event event{};          // of a finished command
  cl_event user{};           // never completes
  cl_event failed_event{};   // -7
  cl_event foreign_event{};  // of the other context
  cl_event profiled{};       // of a finished command in a queue that keeps times
  cl_event waiting{};        // of a command in that queue that waits for `user`
  cl_context dead_context{};
  cl_command_queue dead_queue{};
  cl_mem dead_buffer{};
  cl_mem dead_image{};
  cl_sampler dead_sampler{};
  cl_program dead_program{};
  cl_kernel dead_kernel{};
  cl_event dead_event{};
  char bytes[kBytes]{};

  // clSetKernelArg with the value's own size.
  template <class Value>
  [[nodiscard]] cl_int set_argument(cl_kernel of, cl_uint index, const Value& value) const {
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a handle's own size is what the call asks for
    return cl.clSetKernelArg(of, index, sizeof(Value), &value);
  }
  // The code that a creating call leaves; what it made, if anything, is a failure of the test.
  template <class Call>
  cl_int created(Call call) {
    cl_int code = 1;
    EXPECT_EQ(call(&code), nullptr);
    return code;
  }
  // A handle of the wrong kind.
  template <class Handle>
  Handle wrong() {
    return reinterpret_cast<Handle>(platform);
  }

 private:
  ErrorWorld();
};

struct ErrorRow {
  const char* call;
  cl_int code;
  const char* when;
  cl_int (*provoke)(ErrorWorld&);
};

// How gtest shows a row.
void PrintTo(const ErrorRow& row, std::ostream* stream);

// The tables, one a file.
std::vector<ErrorRow> object_errors();
std::vector<ErrorRow> query_errors();
std::vector<ErrorRow> transfer_errors();
std::vector<ErrorRow> program_errors();
std::vector<ErrorRow> launch_errors();
std::vector<ErrorRow> image_errors();
std::vector<ErrorRow> image_command_errors();
// Errors of every command about its queue and its events; names each call.
struct CommandErrors {
  const char* call;
  cl_int code;
  std::string when;
  cl_int (*enqueue)(ErrorWorld&, cl_command_queue, cl_uint, const cl_event*);
  cl_int (*provoke)(ErrorWorld&, decltype(enqueue));
};
void PrintTo(const CommandErrors& row, std::ostream* stream);
std::vector<CommandErrors> command_errors();

}  // namespace ww::sim::driver
