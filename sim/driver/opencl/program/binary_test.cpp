// Programs from binaries.
#include "api_fixture.hpp"

#include <gmock/gmock.h>

namespace ww::sim::driver::binary_test {
namespace {

using BinaryTest = ApiTest;

std::string binary_of(const cl_icd_dispatch& cl, cl_program program) {
  std::size_t size = 0;
  EXPECT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr),
            CL_SUCCESS);
  std::string binary(size, '\0');
  auto* room = reinterpret_cast<unsigned char*>(binary.data());
  EXPECT_EQ(cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof room, &room, nullptr),
            CL_SUCCESS);
  return binary;
}

TEST_F(BinaryTest, BinarySurvivesTheRoundTrip) {
  cl_program program = build("kernel void scale(global float* y) { y[get_global_id(0)] *= 2; }");
  const std::string binary = binary_of(cl, program);
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t size = binary.size();
  cl_int status = -1;
  cl_int code = -1;
  cl_program again =
      cl.clCreateProgramWithBinary(context, 1, &device, &size, &bytes, &status, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(status, CL_SUCCESS);
  // Some programs go straight on to the kernel, which works on every driver that needs no linker.
  cl_kernel early = cl.clCreateKernel(again, "scale", &code);
  EXPECT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseKernel(early), CL_SUCCESS);
  EXPECT_EQ(cl.clBuildProgram(again, 1, &device, "", nullptr, nullptr), CL_SUCCESS);
  cl_kernel kernel = cl.clCreateKernel(again, "scale", &code);
  EXPECT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(binary_of(cl, again), binary);
  EXPECT_EQ(cl.clReleaseKernel(kernel), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseProgram(again), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
}

TEST_F(BinaryTest, GarbageIsNoBinary) {
  const std::string junk = "this is no code object";
  const auto* bytes = reinterpret_cast<const unsigned char*>(junk.data());
  std::size_t size = junk.size();
  cl_int status = 0;
  cl_int code = 0;
  EXPECT_EQ(cl.clCreateProgramWithBinary(context, 1, &device, &size, &bytes, &status, &code),
            nullptr);
  EXPECT_EQ(code, CL_INVALID_BINARY);
  EXPECT_EQ(status, CL_INVALID_BINARY);
  size = 0;
  EXPECT_EQ(cl.clCreateProgramWithBinary(context, 1, &device, &size, &bytes, &status, &code),
            nullptr);
  EXPECT_EQ(code, CL_INVALID_VALUE);
}

TEST_F(BinaryTest, BinariesKeepTheirTypeWhenTheyAreLoadedAgain) {
  const auto type_of = [&](cl_program program) {
    cl_program_binary_type type = 77;
    EXPECT_EQ(cl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BINARY_TYPE, sizeof type, &type,
                                       nullptr),
              CL_SUCCESS);
    return type;
  };
  const auto load_again = [&](cl_program program) {
    const std::string binary = binary_of(cl, program);
    const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
    const std::size_t size = binary.size();
    cl_int code = -1;
    cl_program loaded =
        cl.clCreateProgramWithBinary(context, 1, &device, &size, &bytes, nullptr, &code);
    EXPECT_EQ(code, CL_SUCCESS);
    return loaded;
  };
  const char* caller = "int twice(int); kernel void k(global int* o) { o[0] = twice(o[1]); }";
  const char* callee = "int twice(int x) { return x * 2; }";
  cl_int code = -1;
  cl_program a = cl.clCreateProgramWithSource(context, 1, &caller, nullptr, &code);
  cl_program b = cl.clCreateProgramWithSource(context, 1, &callee, nullptr, &code);
  EXPECT_EQ(type_of(a), CL_PROGRAM_BINARY_TYPE_NONE);
  for (cl_program unit : {a, b}) {
    EXPECT_EQ(cl.clCompileProgram(unit, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr),
              CL_SUCCESS);
  }
  cl_program unit = load_again(a);
  EXPECT_EQ(type_of(unit), CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT);
  cl_program made =
      cl.clLinkProgram(context, 0, nullptr, "-create-library", 1, &b, nullptr, nullptr, &code);
  EXPECT_EQ(type_of(made), CL_PROGRAM_BINARY_TYPE_LIBRARY);
  cl_program library = load_again(made);
  EXPECT_EQ(type_of(library), CL_PROGRAM_BINARY_TYPE_LIBRARY);
  const cl_program units[] = {unit, library};
  cl_program linked = cl.clLinkProgram(context, 0, nullptr, "", 2, units, nullptr, nullptr, &code);
  ASSERT_EQ(code, CL_SUCCESS) << log(linked);
  cl_program executable = load_again(linked);
  EXPECT_EQ(type_of(executable), CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
  for (cl_program program : {a, b, unit, made, library, linked, executable}) {
    EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
  }
}

// LLVM would compile every function of a library's worth for its own sake, which takes minutes.
TEST_F(BinaryTest, ExecutablesHaveOnlyWhatTheirKernelsNeed) {
  const char* source =
      "int spare(global int* o) { return o[2] ? o[3] : 7; }\n"
      "int wanted(global int* o) __attribute__((noinline));\n"
      "int wanted(global int* o) { return o[1] * 3; }\n"
      "kernel void k(global int* o) { o[0] = wanted(o); }";
  cl_int code = -1;
  cl_program built = build(source);
  cl_program unit = cl.clCreateProgramWithSource(context, 1, &source, nullptr, &code);
  ASSERT_EQ(cl.clCompileProgram(unit, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr),
            CL_SUCCESS);
  cl_program linked = cl.clLinkProgram(context, 0, nullptr, "", 1, &unit, nullptr, nullptr, &code);
  ASSERT_EQ(code, CL_SUCCESS) << log(linked);
  for (cl_program executable : {built, linked}) {
    EXPECT_THAT(binary_of(cl, executable), testing::HasSubstr("wanted"));
    EXPECT_THAT(binary_of(cl, executable), testing::Not(testing::HasSubstr("spare")));
  }
  // Other programs may still ask a library for it.
  EXPECT_THAT(binary_of(cl, unit), testing::HasSubstr("spare"));
  for (cl_program program : {built, unit, linked}) {
    EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
  }
}

}  // namespace
}  // namespace ww::sim::driver::binary_test
