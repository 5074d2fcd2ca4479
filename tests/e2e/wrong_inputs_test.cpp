// The kinds of wrong inputs that first users gave, one row each: the exit code by one rule, the
// words that say what is wrong and what would be right, and nothing lost.
//
// The rule: 2 where the command line is wrong, a file's name included; 1 where a file that was
// meant cannot be used for what is in it; 3 where the machine lacks something or refuses.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "made_campaign.hpp"
#include "ww/core/atomic_file.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;

struct WrongInput {
  const char* words;  // the command line behind "wirewatt"
  int exit_code;
  const char* said;  // a part of the message
};

// Every file in the folder with what is in it.
std::map<std::string, std::string> contents_of(const fs::path& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = fs::relative(entry.path(), folder).string();
    // SQLite makes and removes these beside a database that is read.
    if (name.ends_with("-shm") || name.ends_with("-wal")) continue;
    contents[name] = entry.is_directory() ? std::string() : read_file(entry.path()).value();
  }
  return contents;
}

// A folder with a calibration (model), a plan, plans that are wrong, counters, and files that are
// something else.
class WrongInputs : public OfAMadeCampaign {
 protected:
  WrongInputs() {
    fs::copy(model(), folder() / "run", fs::copy_options::recursive);
    fs::create_directory(folder() / "empty");
    write("text.txt", "hello\n");
    write("cut.json", "{\"a\": ");
    write("nul.csv", std::string("Index,KernelName\0,x\n", 20));
    write("plan.toml", plan("simulate", "network", "rate"));
    write("wrong_command.toml", plan("simulat", "network", "rate"));
    write("wrong_axis.toml", plan("simulate", "network", "rat"));
    write("wrong_key.toml", "comand = \"simulate\"\n");
    write("wrong_device.toml",
          "command = \"calibrate\"\n[base]\ndevice = \"w9100\"\n[axes]\nseed = [1]\n");
    write("counters.csv",
          "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,"
          "accum_vgpr,sgpr,wave_size,sig,obj,TCP_TCC_READ_REQ_sum,TCP_TCC_WRITE_REQ_sum\n"
          "0,\"copy\",0,0,0,1,1,64,64,0,0,8,0,16,64,0x0,0x1,1000,1000\n");
  }
  static std::string plan(const std::string& command, const std::string& base,
                          const std::string& axis) {
    return "command = \"" + command + "\"\n[base]\n" + base +
           " = \"mesh\"\ncycles = 100\n[axes]\n" + axis + " = [0.1]\n";
  }
  void write(const char* name, const std::string& text) const {
    std::ofstream(folder() / name, std::ios::binary) << text;
  }
  [[nodiscard]] fs::path folder() const { return folder_.path(); }

  [[nodiscard]] Finished ran(const WrongInput& one) const {
    return run(
        {"sh", "-c", "cd '" + folder().string() + "' && exec " + wirewatt() + " " + one.words},
        {{"WIREWATT_VGPU_CACHE", "0"}});
  }
  void expect_refused(const WrongInput& one) const {
    SCOPED_TRACE(one.words);
    const auto before = contents_of(folder());
    const Finished finished = ran(one);
    EXPECT_EQ(finished.exit_code, one.exit_code) << finished.err << finished.out;
    EXPECT_NE(finished.err.find(one.said), std::string::npos) << finished.err;
    EXPECT_NE(finished.err.find("error: "), std::string::npos) << finished.err;
    EXPECT_TRUE(contents_of(folder()) == before) << "files were made, changed or removed";
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(WrongInputs, OfWordsAreRefusedWithTheNearestOne) {
  for (const WrongInput& one : std::initializer_list<WrongInput>{
           {"simulat", 2, "no command 'simulat'; did you mean 'simulate'?"},
           {"simulate --netwrk mesh", 2, "no option '--netwrk' of simulate; did you mean"},
           {"simulate --network mseh", 2, "did you mean 'mesh'?"},
           {"simulate --traffic unifrm", 2, "did you mean 'uniform'?"},
           {"simulate --estimator dsnt", 2, "dsent"},
           {"reproduce iswc16", 2, "did you mean 'iiswc16'?"},
           {"export --to noxm --model run -o x", 2, "noxim"},
           {"run --device virtual:w9100 --check foo -- true", 2,
            "there is no 'foo'; there are memory, races and both"},
           {"calibrate --chip-class odd", 2, "there are nested, mild, strong"},
           {"sweep plan.toml --executor slrum", 2, "did you mean 'slurm'?"},
           {"workloads run dtc", 2, "did you mean 'dct'?"},
           {"simulate --workload dtc", 2, "no such workload"},
           {"completion fsh", 2, "fish"},
           {"trace inof x", 2, "did you mean 'info'?"},
           {"", 2, "a command is needed; see 'wirewatt --help'"},
           {"trace", 2, "a command is needed; see 'wirewatt trace --help'"}}) {
    expect_refused(one);
  }
}

TEST_F(WrongInputs, OfDevicesAreRefusedByEveryCommandInTheSameWords) {
  constexpr const char* kMeant =
      "there is no device 'mi300x'; 'wirewatt devices' lists those that "
      "there are; did you mean 'virtual:mi300x'?";
  for (const char* command :
       {"calibrate --dry-run", "doctor", "selftest -o x.wwst", "ladder", "topology", "top",
        "meter -- true", "run -- true", "workloads run dct",
        "estimate --constant literature -- true", "segments -o x"}) {
    // The option stands before a program's own words.
    std::string words = command;
    words.insert(std::min(words.find(" -- "), words.size()), " --device mi300x");
    expect_refused({words.c_str(), 2, kMeant});
  }
  for (const WrongInput& one : std::initializer_list<WrongInput>{
           {"calibrate --device w910", 2, "did you mean 'virtual:w9100'?"},
           {"calibrate --device gpu0", 2, "did you mean 'gpu:0'?"},
           {"calibrate --device virtual:mi30x", 2, "did you mean 'mi300x'?"},
           {"calibrate --device virtual:nowhere.toml", 2, "no such chip file"},
           {"sweep wrong_device.toml", 2, "did you mean 'virtual:w9100'?"}}) {
    expect_refused(one);
  }
}

TEST_F(WrongInputs, OfNumbersAreRefused) {
  for (const WrongInput& one : std::initializer_list<WrongInput>{
           {"simulate --k x", 2, "--k: 'x' is not a number"},
           {"simulate --cycles 1e6", 2, "--cycles: '1e6' is not a number"},
           {"simulate --rate 0,2", 2, "--rate: '0,2' is not a number"},
           {"simulate --rate nan", 2, "is not a number"},
           {"simulate --rate 2", 2, "--rate: 2 is outside 0 to 1"},
           {"simulate --link-mm -1", 2, "--link-mm: is below 0"},
           {"simulate --clock 0", 2, "--clock: must be above 0"},
           {"simulate --node 1nm", 2, "--node: dsent has rows from 11 to 45 nm"},
           {"simulate --flit-bits 0", 2, "--flit-bits: 0 is outside 8 to 4096"},
           {"simulate --seeds 1", 2, "--seeds"},
           {"simulate --seed -1", 2, "--seed: -1 is below 0"},
           {"simulate --seed 1.5", 2, "--seed: '1.5' is not a number"},
           {"simulate --seed 99999999999999999999999", 2, "is too large a number"},
           {"calibrate --seed -1 --dry-run", 2, "--seed: -1 is below 0"},
           {"calibrate --device virtual:random --chip-seed -3 --dry-run", 2, "-3 is below 0"},
           {"ladder --seed 99999999999999999999999", 2, "is too large a number"},
           {"sweep plan.toml --jobs -1", 2, "--jobs: -1 is below 0"},
           {"sweep show plan.sweep --top -1", 2, "--top: -1 is not 0 or above"},
           {"launches --window -5", 2, "--window: -5 is not above 0"},
           {"project --model run --node 0", 2, "--node"},
           {"estimate counters.csv --arch gfx90a --toggle-rate 2", 2, "lies between 0 and 1"},
           {"estimate counters.csv --arch gfx90a --time -1", 2, "--time"},
           {"estimate counters.csv --arch gfx90a --top 0", 2, "--top"},
           {"top --interval 0", 2, "--interval"},
           {"top --model run --openmetrics 65536 -- true", 2, "give a port, or HOST:PORT"},
           {"top --model run --openmetrics localhost:-1 -- true", 2, "give a port, or HOST:PORT"},
           {"top --model run --openmetrics 80x -- true", 2, "give a port, or HOST:PORT"}}) {
    expect_refused(one);
  }
}

TEST_F(WrongInputs, OfFilesAreRefused) {
  for (const WrongInput& one : std::initializer_list<WrongInput>{
           {"report nowhere", 2, "nowhere: is not there"},
           {"report rum", 2, "did you mean 'run'?"},
           {"score nowhere", 2, "no model.json here"},
           {"fit empty", 2, "this folder holds no campaign.db"},
           {"fit text.txt", 1, "not a campaign file"},
           {"report text.txt", 1, "text.txt: is not JSON"},
           {"report cut.json", 1, "cut.json: is not JSON"},
           {"report empty", 2, "holds no run"},
           {"report --index empty", 2, "holds no run"},
           {"estimate text.txt", 2, "is neither a profile"},
           {"estimate nowhere.csv", 2, "nowhere.csv: there is no such file or folder"},
           {"estimate empty", 2, "has no counters"},
           {"estimate --counters text.txt", 1, "not a counter file"},
           {"estimate nul.csv", 1, "nul.csv"},
           {"estimate counters.csv", 2, "--arch: the counters do not name their GPU"},
           {"estimate counters.csv --arch mi210", 2, "did you mean 'gfx90a'"},
           {"estimate counters.csv --arch GFX90A", 2, "did you mean 'gfx90a'?"},
           {"counters --arch mi210", 2, "did you mean 'gfx90a'"},
           {"estimate --model text.txt counters.csv", 1, "text.txt: is not JSON"},
           {"estimate --model run/campaign.db counters.csv", 1,
            "is a database, not a calibration; name the folder of the campaign"},
           {"project --model empty", 2, "no model.json"},
           {"trace info text.txt", 1, "text.txt"},
           {"trace info empty", 2, "empty: cannot read: Is a directory"},
           {"trace info nowhere.wwt", 2, "nowhere.wwt: cannot read: No such file"},
           {"disasm text.txt", 1, "neither a code object"},
           {"sweep pla.toml", 2, "did you mean 'plan.toml'?"},
           {"sweep wrong_command.toml", 2, "no command 'simulat'; did you mean 'simulate'?"},
           {"sweep wrong_axis.toml", 2, "no option '--rat' of simulate; did you mean '--rate'?"},
           {"sweep wrong_key.toml", 1, "did you mean 'command'?"},
           {"sweep show plan.sweep", 2, "plan.sweep/sweep.db: no such file"},
           {"selftest --replay text.txt", 1, "text.txt"},
           {"run --device virtual:w9100 -- ./text.txt", 3, "is not a program that may be run"},
           {"run --device virtual:w9100 -- nosuchprogram", 2, "no such program on PATH"}}) {
    expect_refused(one);
  }
}

TEST_F(WrongInputs, OfOutputsAreRefused) {
  for (const WrongInput& one : std::initializer_list<WrongInput>{
           {"fit run --out run/campaign.db", 2, "holds the raw readings of a campaign"},
           {"report run -o run/model.json", 2, "holds a calibration"},
           {"export --to noxim --model run -o run/model.json", 2, "holds a calibration"},
           {"export --to noxim --model run -o empty", 2, "empty"},
           {"export --to noxim --model run -o -", 2, "'-' is no file"},
           {"estimate counters.csv --arch gfx90a -o counters.csv", 2, "reads; choose another"},
           {"run --device virtual:w9100 --counters same.x --trace same.x -- true", 2,
            "is what --trace writes"},
           {"topology --svg picture.png", 2, "pictures are written as SVG"},
           {"simulate --curve --plot picture.png", 2, "pictures are written as SVG"},
           {"calibrate --device virtual:w9100 --quick --out ''", 2, "--out: needs a name"},
           {"report run --figures text.txt", 2, "cannot write in 'text.txt': Not a directory"},
           {"calibrate --device virtual:w9100 --quick --out text.txt/x", 2, "Not a directory"},
           {"run --device virtual:w9100 --counters empty -- true", 2, "is a folder"},
           {"simulate --curve --plot nowhere/c.svg", 2, "cannot write in 'nowhere'"},
           {"calibrate --resume --out typo", 2, "nothing to resume in typo"}}) {
    expect_refused(one);
  }
}

TEST_F(WrongInputs, OfCombinationsAreRefused) {
  for (const WrongInput& one : std::initializer_list<WrongInput>{
           {"estimate", 2, "give a profile (a file or a folder), or a program after --"},
           {"attribute", 2, "give a table of counters and watts, or --record FOLDER"},
           {"project", 2, "--model: is needed and has no default"},
           {"fit", 2, "campaign: is needed and has no default"},
           {"top --model", 2, "--model: needs a value (FILE) after it"},
           {"simulate --plot c.svg", 2, "--plot: goes with --curve only"},
           {"simulate mesh", 2, "mesh: more than the command takes"},
           {"report run --index --metric x", 2, "--index"},
           {"top --device virtual:w9100 --open -- true", 2, "--open: shows the page of --web"},
           {"estimate --constant literature --model run counters.csv", 2,
            "--model: does not go with --constant literature"},
           {"estimate --device virtual:w9100 counters.csv --arch gfx90a", 2, "--device: "}}) {
    expect_refused(one);
  }
}

TEST_F(WrongInputs, OfTheMachineEndWith3) {
  for (const WrongInput& one : std::initializer_list<WrongInput>{
           {"calibrate --device cuda:17", 3, ""},
           {"doctor --device gpu:17", 3, ""},
           {"estimate --device hip:17 --constant literature -- true", 3, ""},
           {"simulate --cycles 100 > /dev/full", 3, "standard output: cannot write"}}) {
    expect_refused(one);
  }
}

// Ctrl-C while a program runs in the foreground, and while wirewatt itself works.
TEST_F(WrongInputs, AnInterruptEndsWith130) {
  const std::string toggles = (folder() / "toggles.json").string();
  const std::vector<std::vector<std::string>> commands{
      {"estimate", "--device", "virtual:w9100", "--constant", "literature", "--", "sleep", "20"},
      {"toggles", "-o", toggles, "--", "sleep", "20"},
      {"run", "--device", "virtual:w9100", "--", "sleep", "20"},
      {"simulate", "--k", "16", "--cycles", "100000000"}};
  for (const auto& words : commands) {
    std::vector<std::string> command{"timeout", "--preserve-status", "-s", "INT", "2", wirewatt()};
    command.insert(command.end(), words.begin(), words.end());
    const Finished finished = run(command);
    EXPECT_EQ(finished.exit_code, 130) << words.front() << ": " << finished.err;
  }
}

}  // namespace
}  // namespace ww::e2e
