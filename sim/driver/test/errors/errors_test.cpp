// Every error condition of the OpenCL 1.2 reference pages that this device can meet, one row each.
// Not here, because they cannot come up: a second device, sub-devices, custom devices, native
// kernels, a build that has not completed (builds run at once), and lack of host memory.
#include <cctype>
#include <cstdio>
#include <ostream>
#include <set>

#include "error_world.hpp"
#include "opencl/object/api.hpp"

namespace ww::sim::driver {

void PrintTo(const ErrorRow& row, std::ostream* stream) {
  *stream << row.call << ": " << row.when;
}

void PrintTo(const CommandErrors& row, std::ostream* stream) {
  *stream << row.call << ": " << row.when;
}

namespace {

// Names a row for gtest's list of tests: letters and digits only.
std::string test_name(const std::string& call, const std::string& when, std::size_t index) {
  std::string name = call + "_";
  for (const char c : when) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name + "_" + std::to_string(index);
}

std::vector<ErrorRow> rows_of_objects() {
  std::vector<ErrorRow> all;
  for (const auto& table : {object_errors(), query_errors(), transfer_errors(), program_errors(),
                            launch_errors(), image_errors(), image_command_errors()}) {
    all.insert(all.end(), table.begin(), table.end());
  }
  return all;
}

class ObjectErrors : public ::testing::TestWithParam<ErrorRow> {};

TEST_P(ObjectErrors, GiveTheStandardsCode) {
  const ErrorRow& row = GetParam();
  EXPECT_EQ(row.provoke(ErrorWorld::get()), row.code) << row.call << ": " << row.when;
}

INSTANTIATE_TEST_SUITE_P(Standard, ObjectErrors, ::testing::ValuesIn(rows_of_objects()),
                         [](const auto& info) {
                           return test_name(info.param.call, info.param.when, info.index);
                         });

class WaitErrors : public ::testing::TestWithParam<CommandErrors> {};

TEST_P(WaitErrors, GiveTheStandardsCode) {
  const CommandErrors& row = GetParam();
  EXPECT_EQ(row.provoke(ErrorWorld::get(), row.enqueue), row.code) << row.call << ": " << row.when;
}

INSTANTIATE_TEST_SUITE_P(Standard, WaitErrors, ::testing::ValuesIn(command_errors()),
                         [](const auto& info) {
                           return test_name(info.param.call, info.param.when, info.index);
                         });

// An entry point without a row here has no error condition.
TEST(ErrorTables, CoverEveryEntryPointThatCanFail) {
  std::set<std::string> covered;
  for (const auto& row : rows_of_objects()) covered.insert(row.call);
  for (const auto& row : command_errors()) covered.insert(row.call);
  std::set<std::string> missing;
#define WW_CHECK(name) \
  if (!covered.contains(#name)) missing.insert(#name);
  WW_ICD_IMPLEMENTED(WW_CHECK)
#undef WW_CHECK
  const std::set<std::string> cannot_fail{"clUnloadCompiler", "clGetExtensionFunctionAddress",
                                          "clGetExtensionFunctionAddressForPlatform"};
  EXPECT_EQ(missing, cannot_fail);
}

TEST(ErrorTables, AskForEachConditionOnce) {
  std::set<std::string> conditions;
  std::size_t rows = 0;
  const auto add = [&](const auto& row) {
    ++rows;
    conditions.insert(std::string(row.call) + std::to_string(row.code) + row.when);
  };
  for (const auto& row : rows_of_objects()) add(row);
  for (const auto& row : command_errors()) add(row);
  EXPECT_EQ(conditions.size(), rows);
  std::printf("%zu error conditions\n", rows);
}

// Run by itself, with a compile worker that does not exist.
TEST(WithoutCompiler, BuildsCompilesAndLinksSaySo) {
  if (std::getenv("WW_NO_COMPILER") == nullptr) GTEST_SKIP() << "needs its own process";
  ::setenv("WIREWATT_COMPILE_WORKER", "/no/such/compile-worker", 1);
  const auto& cl = dispatch_table();
  cl_platform_id platform{};
  cl_device_id device{};
  cl_int code = CL_SUCCESS;
  ASSERT_EQ(cl.clGetPlatformIDs(1, &platform, nullptr), CL_SUCCESS);
  ASSERT_EQ(cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), CL_SUCCESS);
  cl_context context = cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  const char* text = "kernel void k() {}";
  cl_program source = cl.clCreateProgramWithSource(context, 1, &text, nullptr, &code);
  EXPECT_EQ(cl.clBuildProgram(source, 0, nullptr, "", nullptr, nullptr), CL_COMPILER_NOT_AVAILABLE);
  EXPECT_EQ(cl.clCompileProgram(source, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr),
            CL_COMPILER_NOT_AVAILABLE);
  const unsigned char bitcode[] = {'B', 'C', 0xC0, 0xDE, 0};
  const unsigned char* binary = bitcode;
  const std::size_t size = sizeof bitcode;
  cl_program compiled =
      cl.clCreateProgramWithBinary(context, 1, &device, &size, &binary, nullptr, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(cl.clBuildProgram(compiled, 0, nullptr, "", nullptr, nullptr),
            CL_COMPILER_NOT_AVAILABLE);
  cl_program linked =
      cl.clLinkProgram(context, 0, nullptr, "", 1, &compiled, nullptr, nullptr, &code);
  EXPECT_EQ(code, CL_LINKER_NOT_AVAILABLE);
  char log[4096] = "";
  EXPECT_EQ(
      cl.clGetProgramBuildInfo(linked, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, nullptr),
      CL_SUCCESS);
  EXPECT_NE(std::string(log).find("/no/such/compile-worker"), std::string::npos) << log;
  for (cl_program program : {source, compiled, linked}) {
    EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
  }
  EXPECT_EQ(cl.clReleaseContext(context), CL_SUCCESS);
}

}  // namespace
}  // namespace ww::sim::driver
