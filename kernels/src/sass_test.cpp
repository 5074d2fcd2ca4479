// Checks that NVIDIA's assembler keeps the kernels' traffic, wait and its length. Where no ptxas is
// installed the tests say that they were skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "testing/cubin.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/subprocess.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::kernels {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::Not;
using testing::Sass;

// Every program of this name on the PATH and in the folders where CUDA's toolkit lies.
std::vector<fs::path> installed_tools(const std::string& name) {
  std::vector<fs::path> folders;
  const char* path = std::getenv("PATH");
  std::istringstream list(path != nullptr ? path : "");
  for (std::string folder; std::getline(list, folder, ':');) folders.emplace_back(folder);
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator("/usr/local", ec)) {
    if (entry.path().filename().string().starts_with("cuda"))
      folders.push_back(entry.path() / "bin");
  }
  std::vector<fs::path> found;
  for (const fs::path& folder : folders) {
    const fs::path program = fs::canonical(folder / name, ec);
    if (ec || std::ranges::find(found, program) != found.end()) continue;
    found.push_back(program);
  }
  return found;
}

std::string output_of(const std::vector<std::string>& command) {
  ProcessRequest request;
  request.command = command;
  request.limit = std::chrono::minutes(1);
  const auto result = run_process(request);
  return result && result->exit_code == 0 ? result->output : "";
}

std::string ptx_text(const std::string& name) {
  Macros macros;
  macros.target = {Dialect::nvidia, 0, 0xFFFFFFFFu, 0, 0, 32};
  macros.group_size = kPtxGroupSize;
  macros.unroll = kPtxUnroll;
  const auto text = program_text(*find_source(name), macros);
  const auto ptx = ptx_for(name, text.value_or(""));
  EXPECT_TRUE(ptx) << ptx.error().text();
  return ptx.value_or("");
}

int occurrences(const std::string& text, const std::string& word) {
  int count = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

struct Assembled {
  std::string where;  // "ptxas release 13.0, V13.0.88, sm_90"
  fs::path cubin;
  Sass sass;
};

class SassOfPtx : public ::testing::Test {
 protected:
  void SetUp() override {
    // One of each version: a folder of links may name the same one again.
    for (const fs::path& program : installed_tools("ptxas")) {
      std::string version = output_of({program.string(), "--version"});
      version = version.substr(std::min(version.find("release"), version.size()));
      assemblers_.emplace("ptxas " + version.substr(0, version.find('\n')), program);
    }
    if (assemblers_.empty()) {
      GTEST_SKIP() << "no ptxas is on the PATH or in /usr/local/cuda*/bin, so nothing is assembled";
    }
  }

  // Assembles by each assembler for all its architectures. PTX is compiled for sm_70 and later.
  std::vector<Assembled> assemble(const std::string& name, const std::string& ptx) {
    std::vector<Assembled> all;
    const fs::path source = root_ / (name + ".ptx");
    std::ofstream(source) << ptx;
    for (const auto& [version, assembler] : assemblers_) {
      for (const char* part : {"sm_70", "sm_75", "sm_80", "sm_90", "sm_120"}) {
        const fs::path cubin = root_ / (name + "." + part + ".cubin");
        fs::remove(cubin);
        output_of({assembler.string(), "-arch", part, source.string(), "-o", cubin.string()});
        if (!fs::exists(cubin)) continue;  // this assembler does not know the part
        const auto sass = testing::read_cubin(read_file(cubin).value_or(""), name);
        EXPECT_TRUE(sass) << sass.error().text();
        all.push_back({version + ", " + part, cubin, sass.value_or(Sass{})});
      }
    }
    EXPECT_FALSE(all.empty()) << "ptxas assembled " << name << " for no part";
    return all;
  }

  ScratchFolder scratch_ = ScratchFolder::create("sass").value();
  const fs::path& root_ = scratch_.path();
  std::map<std::string, fs::path> assemblers_;  // by version
};

TEST_F(SassOfPtx, KeepsEveryLoadStoreAndAtomicOfEveryKernel) {
  for (const Source& source : sources()) {
    const std::string name(source.name);
    const std::string ptx = ptx_text(name);
    const int loads = occurrences(ptx, "ld.global") + occurrences(ptx, "ld.volatile.global");
    const int stores = occurrences(ptx, "st.global") + occurrences(ptx, "st.volatile.global");
    const int atomics = occurrences(ptx, "atom.global");
    ASSERT_GT(loads + stores + atomics, 0) << name;
    for (const Assembled& made : assemble(name, ptx)) {
      // Unrolling repeats them.
      EXPECT_GE(made.sass.count("LDG"), loads) << name << ", " << made.where;
      EXPECT_GE(made.sass.count("STG"), stores) << name << ", " << made.where;
      EXPECT_GE(made.sass.count("RED") + made.sass.count("ATOMG"), atomics)
          << name << ", " << made.where;
    }
  }
}

TEST_F(SassOfPtx, SleepsInTheCrossingKernelForTheTimeThatItIsGiven) {
  for (const Assembled& made : assemble("cross", ptx_text("cross"))) {
    SCOPED_TRACE(made.where);
    EXPECT_GE(made.sass.count("NANOSLEEP"), 1);
    // buffer, lines: 8 bytes each; count, loops, mask, throttle: 4 bytes each.
    EXPECT_THAT(made.sass.parameter_bytes, Contains(28u));
    // The update and the count of updates return nothing, so both are reductions; the loads are the
    // mask of places and the line's address.
    EXPECT_EQ(made.sass.count("RED"), 2);
    EXPECT_EQ(made.sass.count("ATOMG"), 0);
    EXPECT_EQ(made.sass.count("LDG"), 2);
    EXPECT_EQ(made.sass.count("STG"), 0);
  }
}

TEST_F(SassOfPtx, SleepsInTheStreamBetweenItsFourLoads) {
  for (const Assembled& made : assemble("l2_stream", ptx_text("l2_stream"))) {
    SCOPED_TRACE(made.where);
    EXPECT_GE(made.sass.count("NANOSLEEP"), 1);
    EXPECT_EQ(made.sass.count("LDG"), 4);
  }
}

// Else a chain of loads would take the same few ticks whatever answers it.
TEST_F(SassOfPtx, ReadsTheClockOnceTheLoadIsBackInEveryKernelThatTimesLoads) {
  for (const char* name : {"chase", "probe", "fabric_probe"}) {
    for (const Assembled& made : assemble(name, ptx_text(name))) {
      SCOPED_TRACE(std::string(name) + ", " + made.where);
      EXPECT_GE(made.sass.clock_readings, 2);
      EXPECT_EQ(made.sass.clock_readings % 2, 0);
      EXPECT_EQ(made.sass.early_readings, 0);
    }
  }
}

// Its control: without the store that waits, readings come early.
TEST_F(SassOfPtx, ReadsTheClockTooEarlyWhereNothingWaitsForTheLoad) {
  for (const char* name : {"chase", "probe"}) {
    std::string ptx = ptx_text(name);
    constexpr std::string_view kWait = "st.volatile.shared.u32 [ww_used],";
    for (auto at = ptx.find(kWait); at != std::string::npos; at = ptx.find(kWait, at)) {
      ptx.erase(at, ptx.find(';', at) + 1 - at);
    }
    for (const Assembled& made : assemble(name, ptx)) {
      EXPECT_GT(made.sass.early_readings, 0) << name << ", " << made.where;
    }
  }
}

// NVIDIA's constants are in banks, which no buffer's address reaches.
TEST_F(SassOfPtx, ReadsNoBufferAsAConstant) {
  for (const Source& source : sources()) {
    const std::string ptx = ptx_text(std::string(source.name));
    EXPECT_EQ(occurrences(ptx, "ld.const"), 0) << source.name;
  }
}

// The control of the two tests of sleeps: with an empty wait the assembler deletes the loop around
// it.
TEST_F(SassOfPtx, LosesTheWaitAndItsLengthWhereTheWaitIsEmpty) {
  std::string ptx = ptx_text("cross");
  const auto at = ptx.find("nanosleep.u32");
  ASSERT_NE(at, std::string::npos);
  ptx.erase(at, ptx.find(';', at) + 1 - at);
  for (const Assembled& made : assemble("cross", ptx)) {
    SCOPED_TRACE(made.where);
    EXPECT_EQ(made.sass.count("NANOSLEEP"), 0);
    EXPECT_THAT(made.sass.parameter_bytes, Not(Contains(28u)));
  }
}

TEST_F(SassOfPtx, IsReadAsNvidiasDisassemblerReadsIt) {
  const auto disassemblers = installed_tools("nvdisasm");
  if (disassemblers.empty()) {
    GTEST_SKIP() << "no nvdisasm is on the PATH or in /usr/local/cuda*/bin to compare with";
  }
  for (const Assembled& made : assemble("cross", ptx_text("cross"))) {
    const std::string text = output_of({disassemblers.front().string(), made.cubin.string()});
    if (text.empty()) continue;  // older than the part
    SCOPED_TRACE(made.where);
    EXPECT_EQ(made.sass.count("NANOSLEEP"), occurrences(text, " NANOSLEEP"));
    EXPECT_EQ(made.sass.count("LDG"), occurrences(text, " LDG."));
    EXPECT_EQ(made.sass.count("RED"), occurrences(text, " RED.") + occurrences(text, " REDG."));
  }
}

}  // namespace
}  // namespace ww::kernels
