#include "common/compile/compile_cache.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

#include "ww/core/temporary_folder.hpp"

namespace ww::sim::driver {
namespace {

namespace fs = std::filesystem;

class CompileCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(worker()) << "worker";
    std::ofstream(compiler()) << "compiler";
    std::ofstream(library()) << "library";
  }
  [[nodiscard]] std::string worker() const { return root_ / "worker"; }
  [[nodiscard]] std::string compiler() const { return root_ / "libcompiler.so"; }
  [[nodiscard]] std::string library() const { return root_ / "library.bc"; }
  [[nodiscard]] CompileCache cache(std::uint64_t most_bytes = kMaxCachedBytes) const {
    return {root_ / "entries", worker(), most_bytes};
  }
  [[nodiscard]] CompileAnswer answer(std::string output) const {
    return {CompileStatus::success, "a warning", std::move(output), {compiler(), library()}};
  }
  static CompileRequest request(std::string source) {
    CompileRequest made;
    made.isa = "amdgcn-amd-amdhsa--gfx90a";
    made.source = std::move(source);
    return made;
  }

  ScratchFolder folder_{ScratchFolder::create("cache-test").value()};
  fs::path root_{folder_.path()};
};

TEST_F(CompileCacheTest, GivesBackWhatItKept) {
  const auto key = cache().key(request("kernel void k() {}"));
  EXPECT_FALSE(cache().find(key));
  cache().keep(key, answer("code"));
  const auto found = cache().find(key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->output, "code");
  EXPECT_EQ(found->log, "a warning");
}

TEST_F(CompileCacheTest, TellsRequestsApart) {
  auto first = request("kernel void k() {}");
  auto second = first;
  second.options.emplace_back("-O0");
  EXPECT_NE(cache().key(first), cache().key(second));
  second = first;
  second.isa = "amdgcn-amd-amdhsa--gfx701";
  EXPECT_NE(cache().key(first), cache().key(second));
}

TEST_F(CompileCacheTest, KeepsNothingThatFilesOrTimeDecide) {
  for (const char* source : {"#include \"x.h\"", "#inc\\\nlude <x.h>", "int t = __TIME__;"}) {
    EXPECT_EQ(cache().key(request(source)), "") << source;
  }
  auto with_option = request("kernel void k() {}");
  with_option.options.emplace_back("-include");
  EXPECT_EQ(cache().key(with_option), "");
  auto with_header = request("kernel void k() {}");
  with_header.headers.push_back({"a.h", "#include \"b.h\""});
  EXPECT_EQ(cache().key(with_header), "");
}

TEST_F(CompileCacheTest, KeepsWhatIncludesTheRequestsOwnHeaders) {
  auto own = request("#include \"a/x.h\"\n # include\t<y.h>\nkernel void k() {}");
  own.headers.push_back({"a/x.h", "#include \"y.h\""});
  EXPECT_EQ(cache().key(own), "");
  own.headers.push_back({"y.h", "int y;"});
  const auto key = cache().key(own);
  EXPECT_NE(key, "");
  own.headers.back().text = "int z;";
  EXPECT_NE(cache().key(own), key);
  for (const char* option : {"-Ifolder", "-isystem", "-Wp,-Ifolder", "-fmodule-file=x"}) {
    auto other = own;
    other.options = {option};
    EXPECT_EQ(cache().key(other), "") << option;
  }
  own.options = {"-DA=b", "-O2", "-cl-mad-enable", "-ffast-math", "-Wall"};
  EXPECT_NE(cache().key(own), "");
  for (const char* source : {"#include NAME", "#include \"y.h", "include \"y.h\"", "#include",
                             "#if __has_include(\"y.h\")"}) {
    own.source = source;
    EXPECT_EQ(cache().key(own), "") << source;
  }
}

TEST_F(CompileCacheTest, KnowsWhatHipReadsWithoutBeingAsked) {
  auto hip = request("#include <hip/hip_runtime.h>\n__global__ void k() {}");
  EXPECT_EQ(cache().key(hip), "");
  hip.operation = CompileOperation::build_hip;
  EXPECT_NE(cache().key(hip), "");
  hip.options = {"-nogpuinc"};
  EXPECT_EQ(cache().key(hip), "");
  hip.source = "void k() {}";
  EXPECT_NE(cache().key(hip), "");
  hip.options = {"--rocm-path=elsewhere"};
  EXPECT_EQ(cache().key(hip), "");
}

TEST_F(CompileCacheTest, ForgetsWhenWorkerOrFilesOfTheCompilerChange) {
  const auto asked = request("kernel void k() {}");
  const auto key = cache().key(asked);
  cache().keep(key, answer("code"));
  EXPECT_TRUE(cache().find(key));
  std::ofstream(library()) << "another library";
  EXPECT_FALSE(cache().find(key));
  cache().keep(key, answer("code"));
  EXPECT_TRUE(cache().find(key));
  std::ofstream(compiler()) << "another compiler";
  EXPECT_FALSE(cache().find(key));
  std::ofstream(worker()) << "another worker";
  EXPECT_NE(cache().key(asked), key);
  fs::remove(worker());
  EXPECT_EQ(cache().key(asked), "");
}

TEST_F(CompileCacheTest, KeepsNoFailureAndReadsNoDamage) {
  const auto key = cache().key(request("kernel void k() {}"));
  CompileAnswer failed = answer("");
  failed.status = CompileStatus::failed;
  cache().keep(key, failed);
  EXPECT_FALSE(cache().find(key));
  cache().keep(key, answer("a code object"));
  const fs::path file = root_ / "entries" / key;
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(static_cast<std::streamoff>(fs::file_size(file)) - 3);
  stream << "X";
  stream.close();
  EXPECT_FALSE(cache().find(key));
}

TEST_F(CompileCacheTest, StaysWithinItsBoundAndDropsWhatWasUsedLongestAgo) {
  constexpr std::uint64_t kMax = 40'000;
  const CompileCache small = cache(kMax);
  std::string first;
  std::string used;
  for (int i = 0; i < 12; ++i) {
    const auto key = small.key(request("kernel void k" + std::to_string(i) + "() {}"));
    small.keep(key, answer(std::string(6000, 'x')));
    // Older than the next: file times may be coarse.
    const auto age = std::chrono::seconds(100 - i);
    fs::last_write_time(root_ / "entries" / key, fs::file_time_type::clock::now() - age);
    if (i == 0) first = key;
    if (i == 1) used = key;
    if (i > 0) {
      EXPECT_TRUE(small.find(used)) << i;  // makes it the latest
    }
  }
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(root_ / "entries")) bytes += entry.file_size();
  EXPECT_LE(bytes, kMax);
  EXPECT_FALSE(small.find(first));
}

TEST(CompileCacheFolder, FollowsTheEnvironment) {
  setenv("WIREWATT_COMPILE_CACHE", "0", 1);
  EXPECT_EQ(compile_cache_folder(), "");
  setenv("WIREWATT_COMPILE_CACHE", "/somewhere", 1);
  EXPECT_EQ(compile_cache_folder(), "/somewhere");
  unsetenv("WIREWATT_COMPILE_CACHE");
  setenv("XDG_CACHE_HOME", "/caches", 1);
  EXPECT_EQ(compile_cache_folder(), "/caches/wirewatt/compiled");
  unsetenv("XDG_CACHE_HOME");
}

}  // namespace
}  // namespace ww::sim::driver
