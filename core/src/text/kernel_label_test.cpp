#include "ww/core/kernel_label.hpp"

#include <cxxabi.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

namespace ww {
namespace {

TEST(KernelLabel, NamesAFunctionWithoutItsParameters) {
  EXPECT_EQ(kernel_label("_Z3addPKfS0_Pf", 40), "add");
  EXPECT_EQ(kernel_label("_ZL4scanPi", 40), "scan");
  EXPECT_EQ(kernel_label("_Z6reduceIfLj256EEvPT_", 40), "reduce<>");
  EXPECT_EQ(kernel_label("_ZN5solve4stepEPd", 40), "solve::step");
  EXPECT_EQ(kernel_label("_ZN5solve12_GLOBAL__N_14stepEPd", 40), "solve::(anonymous)::step");
  EXPECT_EQ(kernel_label("_ZN5solveL4stepIfEEvPT_", 40), "solve::step<>");
  EXPECT_EQ(kernel_label("_ZNSt3foo4stepEPd", 40), "std::foo::step");
}

TEST(KernelLabel, SaysWhatTheCompilersLibrarySays) {
  for (const char* name : {"_Z3addPKfS0_Pf", "_ZN5solve4stepEPd", "_ZNSt3foo4stepEPd",
                           "_ZN7rocprim6detail20lookback_scan_kernelEPKj", "_ZN1a1b1c1dEv"}) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> whole(
        abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
    ASSERT_EQ(status, 0) << name;
    const std::string text = whole.get();
    EXPECT_EQ(kernel_label(name, 100), text.substr(0, text.find('('))) << name;
  }
}

TEST(KernelLabel, LeavesOtherNamesAsTheyAre) {
  for (const char* name : {"", "f", "add", "add.kd", "_Z", "_ZN", "_ZN3add", "_Z3add", "_Z9add",
                           "_Z0v", "_ZNE", "_ZNIE", "_ZN3fooS_E", "_ZZ4mainEN3fooE", "_ZN3fooE",
                           "_Z99999999999999999999addv", "_Z-3addv", "void add<float>(float*)"}) {
    EXPECT_EQ(kernel_label(name, 40), name);
  }
}

TEST(KernelLabel, DropsNamespacesThatHaveNoRoom) {
  const std::string name = "_ZN7rocprim6detail33device_block_merge_oddeven_kernelI1aEEvT_";
  EXPECT_EQ(kernel_label(name, 60), "rocprim::detail::device_block_merge_oddeven_kernel<>");
  EXPECT_EQ(kernel_label(name, 51), "detail::device_block_merge_oddeven_kernel<>");
  EXPECT_EQ(kernel_label(name, 40), "device_block_merge_oddeven_kernel<>");
  EXPECT_EQ(kernel_label(name, 12), "device_block");
  EXPECT_EQ(kernel_label(std::string(50, 'k'), 40), std::string(40, 'k'));
}

TEST(KernelLabels, NumbersInstancesOfOneTemplate) {
  const std::vector<std::string> names{"_Z4sortIiEvPT_", "add", "_Z4sortIfEvPT_", "_Z4sortIiEvPT_"};
  EXPECT_EQ(kernel_labels(names),
            (std::vector<std::string>{"sort<> #1", "add", "sort<> #2", "sort<> #1"}));
  EXPECT_EQ(
      kernel_labels(std::vector<std::string>{"_ZN7rocprim6detail19block_reduce_kernelIiEvPT_",
                                             "_ZN7rocprim6detail19block_reduce_kernelIjEvPT_"}),
      (std::vector<std::string>{"detail::block_reduce_kernel<> #1",
                                "detail::block_reduce_kernel<> #2"}));
  const std::vector<std::string> long_ones{std::string(50, 'k') + "1", std::string(50, 'k') + "2"};
  EXPECT_EQ(kernel_labels(long_ones),
            (std::vector<std::string>{std::string(37, 'k') + " #1", std::string(37, 'k') + " #2"}));
}

}  // namespace
}  // namespace ww
