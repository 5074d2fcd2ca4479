#include "ww/core/kernel_label.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ww {
namespace {

TEST(KernelName, IsWhatTheProgrammerWrote) {
  EXPECT_EQ(kernel_name("_Z3addPKfS0_Pf"), "add(float const*, float const*, float*)");
  EXPECT_EQ(kernel_name("_Z6reduceIfLj256EEvPT_"), "void reduce<float, 256u>(float*)");
  for (const char* name : {"", "f", "add", "_Z", "_Z3add", "_Z99999999999999999999addv",
                           "void add<float>(float*)", "Cijk_Ailk_Bljk_SB_MT64x64x8"}) {
    EXPECT_EQ(kernel_name(name), std::string_view(name) == "_Z3add" ? "add" : name);
  }
}

TEST(KernelLabel, NamesAFunctionWithoutResultAndParameters) {
  EXPECT_EQ(kernel_label("_Z3addPKfS0_Pf", 40), "add");
  EXPECT_EQ(kernel_label("_Z3addPKfS0_Pf.kd", 40), "add");
  EXPECT_EQ(kernel_label("_ZL4scanPi", 40), "scan");
  EXPECT_EQ(kernel_label("_Z6reduceIfLj256EEvPT_", 40), "reduce<float, 256u>");
  EXPECT_EQ(kernel_label("_ZN5solve4stepEPd", 40), "solve::step");
  EXPECT_EQ(kernel_label("_ZN5solve12_GLOBAL__N_14stepEPd", 40),
            "solve::(anonymous namespace)::step");
  EXPECT_EQ(kernel_label("void add<float>(float*)", 40), "add<float>");
  EXPECT_EQ(kernel_label("void add<float>(float*) [clone .kd]", 40), "add<float>");
  EXPECT_EQ(kernel_label("void apply<Op(int)>(Op)", 40), "apply<Op(int)>");
  EXPECT_EQ(kernel_label("void f::operator()(int)", 40), "f::operator()");
}

TEST(KernelLabel, LeavesOtherNamesAsTheyAre) {
  for (const char* name : {"", "f", "add", "_Z", "_ZN", "_ZN3add", "_Z0v", "_ZNE", "(", "<", ">>",
                           "Memcpy HtoD", "Cijk_Ailk_Bljk_SB_MT64x64x8"}) {
    EXPECT_EQ(kernel_label(name, 40), name);
  }
}

TEST(KernelLabel, LeavesOutNamespacesThenTheMiddle) {
  const std::string name = "_ZN7rocprim6detail33device_block_merge_oddeven_kernelI1aEEvT_";
  EXPECT_EQ(kernel_label(name, 60), "rocprim::detail::device_block_merge_oddeven_kernel<a>");
  EXPECT_EQ(kernel_label(name, 51), "detail::device_block_merge_oddeven_kernel<a>");
  EXPECT_EQ(kernel_label(name, 40), "device_block_merge_oddeven_kernel<a>");
  EXPECT_EQ(kernel_label(name, 20), "device_b...kernel<a>");
  EXPECT_EQ(kernel_label("a::b<c::d<e>, 1>()", 12), "b<c:...>, 1>");
  EXPECT_EQ(kernel_label(std::string(50, 'k'), 40),
            std::string(18, 'k') + "..." + std::string(19, 'k'));
}

std::vector<std::string> labels_of(const std::vector<std::string>& names) {
  auto labels = kernel_labels(names);
  std::set<std::string> distinct(labels.begin(), labels.end());
  EXPECT_EQ(distinct.size(), std::set<std::string>(names.begin(), names.end()).size());
  for (const auto& label : labels) EXPECT_LE(label.size(), 40U) << label;
  return labels;
}

TEST(KernelLabels, TellInstancesOfOneTemplateApart) {
  EXPECT_EQ(labels_of({"_Z4sortIiEvPT_", "add", "_Z4sortIfEvPT_", "_Z4sortIiEvPT_"}),
            (std::vector<std::string>{"sort<int>", "add", "sort<float>", "sort<int>"}));
  // Names mixbench's kernels as recordings of rocprof do.
  std::vector<std::string> names;
  for (int flops = 0; flops < 16; ++flops) {
    for (const char* type : {"HIP_vector_type<float, 2u>", "HIP_vector_type<__half, 2u>"}) {
      names.push_back("void benchmark_func<" + std::string(type) + ", 256, 8u, " +
                      std::to_string(flops) + "u>(" + type + ", " + type + "*) [clone .kd]");
    }
  }
  const auto labels = labels_of(names);
  EXPECT_EQ(labels[0].find('#'), std::string::npos) << labels[0];
}

TEST(KernelLabels, ShowTheArgumentThatDiffers) {
  const std::string head = "void at::native::vectorized_elementwise_kernel<4, at::native::";
  const std::string tail = "<float>, at::detail::Array<char*, 3> >(int)";
  const auto labels = labels_of({head + "CUDAFunctor_add" + tail, head + "FillFunctor" + tail,
                                 head + "CUDAFunctor_mul" + tail});
  for (const auto& label : labels) EXPECT_TRUE(label.starts_with("vectorized")) << label;
  EXPECT_NE(labels[0].find("add<float>"), std::string::npos) << labels[0];
  EXPECT_NE(labels[1].find("FillFunctor"), std::string::npos) << labels[1];
  EXPECT_NE(labels[2].find("mul<float>"), std::string::npos) << labels[2];
}

TEST(KernelLabels, NumberWhatDiffersInParametersAlone) {
  EXPECT_EQ(labels_of({"_Z4copyPf", "_Z4copyPi"}),
            (std::vector<std::string>{"copy #1", "copy #2"}));
}

}  // namespace
}  // namespace ww
