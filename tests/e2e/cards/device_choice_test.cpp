// Every command without --device on every machine that can be faked: which device it would use, or
// why none. The answers are tests/golden/devices/choices.txt; WW_UPDATE_GOLDEN=1 writes them anew.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "process.hpp"
#include "testing/fake_cards.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;
using measure::testing::FakeCards;
using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;

struct AmdCard {
  std::string device_id, target, name;
  std::string partition{};  // of a package: "SPX", "CPX"
  bool rails{};             // it shows pm_metrics
  bool integrated{};        // graphics of a processor
  bool readable{true};      // its power is read
  int functions{1};         // devices that HIP makes of it
};

struct Machine {
  std::string name;
  std::vector<AmdCard> cards{};
  bool hip{true};
  std::string nvidia{};  // lines of the stub's config; empty: no NVIDIA card
  bool opencl{true};     // there is a loader
  bool nvml{true};       // of an NVIDIA card
};

const std::vector<Machine>& machines() {
  static const AmdCard mi210{"0x740f", "gfx90a:sramecc+:xnack-", "AMD Instinct MI210"};
  static const AmdCard mi250x{"0x7408", "gfx90a:sramecc+:xnack-", "AMD Instinct MI250X"};
  static const AmdCard navi31{"0x744c", "gfx1100", "AMD Radeon RX 7900 XTX"};
  static const AmdCard apu{"0x164e", "gfx1036", "AMD Radeon Graphics", "", false, true};
  static const std::vector<Machine> all = {
      {"none"},
      {"none, no OpenCL loader", {}, true, "", false},
      {"RX 6800 (RDNA 2)", {{"0x73bf", "gfx1030", "AMD Radeon RX 6800"}}},
      {"RX 7900 XTX (RDNA 3)", {navi31}},
      {"RX 9070 (RDNA 4)", {{"0x7550", "gfx1201", "AMD Radeon RX 9070"}}},
      {"RX 9060 XT (RDNA 4)", {{"0x7590", "gfx1200", "AMD Radeon RX 9060 XT"}}},
      {"Radeon VII and MI50 (Vega 20)", {{"0x66af", "gfx906:sramecc-:xnack-", "AMD Radeon VII"}}},
      {"MI100", {{"0x738c", "gfx908:sramecc+:xnack-", "AMD Instinct MI100"}}},
      {"MI210", {mi210}},
      {"MI210 VF", {{"0x7410", "gfx90a:sramecc+:xnack-", "AMD Instinct MI210 VF"}}},
      {"MI250X", {mi250x, mi250x}},
      {"MI250X, one die seen", {mi250x}},
      {"MI210 without HIP", {mi210}, false},
      {"MI210 whose power cannot be read",
       {{mi210.device_id, mi210.target, mi210.name, "", false, false, false}}},
      {"RX 7900 XTX before MI210", {navi31, mi210}},
      {"MI300X", {{"0x74a1", "gfx942:sramecc+:xnack-", "AMD Instinct MI300X", "SPX", true}}},
      {"MI300X without rails",
       {{"0x74a1", "gfx942:sramecc+:xnack-", "AMD Instinct MI300X", "SPX"}}},
      {"MI300X in CPX",
       {{"0x74a1", "gfx942:sramecc+:xnack-", "AMD Instinct MI300X", "CPX", true, false, true, 8}}},
      {"MI300X VF", {{"0x74b5", "gfx942:sramecc+:xnack-", "AMD Instinct MI300X VF"}}},
      {"MI300A", {{"0x74a0", "gfx942:sramecc+:xnack-", "AMD Instinct MI300A", "SPX", true}}},
      {"MI325X", {{"0x74a5", "gfx942:sramecc+:xnack-", "AMD Instinct MI325X", "SPX", true}}},
      {"MI355X", {{"0x75a3", "gfx950:sramecc+:xnack-", "AMD Instinct MI355X", "SPX", true}}},
      {"APU", {apu}},
      {"Strix Halo", {{"0x1586", "gfx1151", "AMD Radeon 8060S", "", false, true}}},
      {"APU before RX 7900 XTX", {apu, navi31}},
      {"Radeon VII and RX 9060 XT",
       {{"0x66af", "gfx906:sramecc-:xnack-", "AMD Radeon VII"},
        {"0x7590", "gfx1200", "AMD Radeon RX 9060 XT"}}},
      {"RX 7900 XTX, Mesa alone", {navi31}, false},
      {"H100", {}, false, "idle_w 60\n"},
      {"H100 without an OpenCL loader", {}, false, "idle_w 60\n", false},
      {"H100 without NVML", {}, false, "idle_w 60\n", true, false},
      {"H100 with MIG", {}, false, "mig 1\n"},
      {"H100 whose power cannot be read", {}, false, "instant 3\naverage 3\nusage 3\nenergy 3\n"},
      {"MI210 and H100", {mi210}, true, "idle_w 60\n"},
      {"RX 7900 XTX and H100", {navi31}, true, "idle_w 60\n"},
  };
  return all;
}

// Without the function.
std::string place(std::size_t number) {
  return "0000:0" + std::to_string(3 + number) + ":00";
}

class DeviceChoice : public ::testing::Test {
 protected:
  // The card's files, and its lines for the stub of HIP.
  static std::string add_card(const FakeCards& tree, std::size_t number, const AmdCard& card) {
    const std::string at = place(number);
    const auto device = tree.add(static_cast<int>(number), at + ".0", card.device_id);
    if (card.readable) {
      FakeCards::write(device / "hwmon/hwmon0/power1_average", std::string("40000000\n"));
    }
    if (!card.partition.empty()) {
      FakeCards::write(device / "current_compute_partition", card.partition + "\n");
    }
    if (card.rails) FakeCards::write(device / "pm_metrics", std::string(64, '\0'));
    if (card.integrated) {
      std::vector<std::byte> table(264, std::byte{0xFF});  // gpu_metrics v3.0
      table[0] = std::byte{8};
      table[1] = std::byte{1};
      table[2] = std::byte{3};
      table[3] = std::byte{0};
      FakeCards::write(device / "gpu_metrics", table);
    }
    std::string lines;
    for (int function = 0; function < card.functions; ++function) {
      lines += at + "." + std::to_string(function) + " " + card.target + " " + card.name + "\n";
    }
    return lines;
  }
  [[nodiscard]] static Environment environment(const fs::path& folder, const Machine& machine) {
    const fs::path libraries = folder / "lib";
    fs::create_directories(libraries);
    fs::create_directories(folder / "vendors");
    fs::create_directories(folder / "sys/class/drm");
    const FakeCards tree(folder / "sys");
    std::string lines;
    for (std::size_t i = 0; i < machine.cards.size(); ++i) {
      lines += add_card(tree, i, machine.cards[i]);
    }
    const auto link = [&](const fs::path& from) {
      fs::create_symlink(build_folder() / "lib" / from, libraries / from.filename());
    };
    // A file that cannot be loaded looks to the program as if it were not installed.
    const auto hide = [&](const char* name) { std::ofstream(libraries / name) << "no library"; };
    if (machine.hip && !machine.cards.empty()) {
      link("stubs/libamdhip64.so.6");
    } else {
      for (const char* name : {"libamdhip64.so.5", "libamdhip64.so.6", "libamdhip64.so.7"}) {
        hide(name);
      }
    }
    if (!machine.nvidia.empty()) {
      link("stubs/libcuda.so.1");
      if (machine.nvml) {
        link("nvml_stub/libnvidia-ml.so.1");
      } else {
        hide("libnvidia-ml.so.1");
      }
      std::ofstream(folder / "config") << machine.nvidia;
    } else {
      hide("libcuda.so.1");
      hide("libnvidia-ml.so.1");
    }
    if (!machine.opencl) hide("libOpenCL.so.1");
    return {{"LD_LIBRARY_PATH", libraries.string()},
            {"OCL_ICD_VENDORS", (folder / "vendors").string()},
            {"WIREWATT_SYSFS", (folder / "sys").string()},
            {"WW_STUB_HIP_CARDS", lines},
            {"WW_NVML_STUB", folder.string()},
            {"CUDA_HOME", (folder / "no-cuda").string()},  // where this machine's CUPTI is not
            {"WW_STUB_CUDA_PCI", "0000:c1:00.0"},
            {"XDG_CACHE_HOME", (folder / "cache").string()},
            {"WIREWATT_STATE_DIR", (folder / "state").string()}};
  }
  [[nodiscard]] static Finished ask(const fs::path& folder, const Machine& machine,
                                    std::vector<std::string> words) {
    words.insert(words.begin(), wirewatt());
    return run(words, environment(folder, machine));
  }
};

std::string read(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// One line for all needs that get the same answer, whatever the order of the commands.
std::string table_of(const Machine& machine, const json& choices, const fs::path& folder) {
  std::map<std::string, std::string> answers;  // by need
  for (const json& choice : choices) {
    if (choice.at("needs") == "virtual chip") continue;  // they use no card, see below
    std::string reason = choice.at("reason");
    // The words of a machine's loader about a library that is none vary, and so does the folder.
    for (const char* host : {"; opencl:", "; hip:", "; cuda:"}) {
      reason = reason.substr(0, reason.find(host));
    }
    for (auto at = reason.find(folder.string()); at != std::string::npos;
         at = reason.find(folder.string())) {
      reason.replace(at, folder.string().size(), "FOLDER");
    }
    std::string device = choice.at("device");
    if (device.empty()) device = "exit " + std::to_string(choice.at("exit_code").get<int>());
    const std::string answer = fmt::format("{}: {}", device, reason);
    const auto [same, is_new] = answers.emplace(choice.at("needs").get<std::string>(), answer);
    EXPECT_EQ(same->second, answer) << choice;
  }
  std::map<std::string, std::string> needs;  // by answer
  for (const auto& [need, answer] : answers) {
    needs[answer] += (needs[answer].empty() ? "" : ", ") + need;
  }
  std::string text = machine.name + "\n";
  for (const auto& [answer, list] : needs) text += fmt::format("  [{}] {}\n", list, answer);
  return text;
}

// Which commands have which need: a new command changes this list, and so the table.
std::string needs_of_commands(const json& choices) {
  std::map<std::string, std::string> commands;  // by need
  for (const json& choice : choices) {
    std::string& list = commands[choice.at("needs").get<std::string>()];
    list += (list.empty() ? "" : ", ") + choice.at("command").get<std::string>();
  }
  std::string text = "needs of the commands\n";
  for (const auto& [need, list] : commands) text += fmt::format("  [{}] {}\n", need, list);
  return text;
}

TEST_F(DeviceChoice, IsForEveryCommandOnEveryMachineAsTheTableSays) {
  if (fs::exists("/dev/nvidiactl") || fs::exists("/dev/kfd")) {
    GTEST_SKIP() << "a real card is here";
  }
  std::string text;
  for (const Machine& machine : machines()) {
    SCOPED_TRACE(machine.name);
    const TemporaryFolder folder;
    const auto asked = ask(folder.path(), machine, {"devices", "--choices", "--json"});
    ASSERT_EQ(asked.exit_code, 0) << asked.err;
    const json choices = asked.json().at("choices");
    if (text.empty()) text = needs_of_commands(choices);
    text += table_of(machine, choices, folder.path());
    std::size_t at_work = 0;
    for (const json& choice : choices) {
      const bool about_virtual = choice.at("needs") == "virtual chip";
      const std::string device = choice.at("device");
      at_work += about_virtual ? 0 : 1;
      if (about_virtual) {
        EXPECT_EQ(device, "virtual:w9100") << choice;
      } else if (!machine.cards.empty() || !machine.nvidia.empty()) {
        // The virtual GPU never takes the place of a card.
        EXPECT_EQ(device.find("virtual"), std::string::npos) << choice;
      }
    }
    EXPECT_GE(at_work, 6u);
  }
  const auto golden = source_folder() / "tests/golden/devices/choices.txt";
  if (std::getenv("WW_UPDATE_GOLDEN") != nullptr) std::ofstream(golden) << text;
  EXPECT_EQ(text, read(golden)) << "WW_UPDATE_GOLDEN=1 writes the table anew";
}

TEST_F(DeviceChoice, LeavesNoCommandOut) {
  const TemporaryFolder folder;
  const auto asked = ask(folder.path(), {"none"}, {"devices", "--choices"});
  EXPECT_EQ(asked.exit_code, 0) << asked.err;
}

// The words of a command that uses cards, without a device.
std::vector<std::string> words_of(const std::string& command, const fs::path& folder) {
  const std::map<std::string, std::vector<std::string>> more{
      {"calibrate", {"--dry-run"}},
      {"doctor", {"--no-step-test", "--no-counters", "--no-clock-control"}},
      {"estimate", {"--constant", "literature"}},
      {"ladder", {"-o", (folder / "ladder").string()}},
      {"selftest", {"-o", (folder / "selftest.wwst").string()}},
      {"topology", {"--fresh"}}};
  std::vector<std::string> words{command};
  const auto found = more.find(command);
  if (found != more.end()) words.insert(words.end(), found->second.begin(), found->second.end());
  return words;
}

// Whether what a command printed names the device that it used.
bool names_device(const std::string& command, const Finished& finished, const json& choice,
                  const Machine& machine) {
  const std::string device = choice.at("device");
  if (command == "doctor" || command == "calibrate" || command == "selftest") {
    const json printed = finished.json();
    return printed.is_object() && printed.value("device", "") == device;
  }
  if (command == "topology") return finished.err.find(device + ": ") != std::string::npos;
  if (command == "meter" || command == "top") {
    const bool is_pci = device.starts_with("pci:");
    return finished.out.find(is_pci ? " at " + device.substr(4) : device) != std::string::npos;
  }
  if (command == "ladder") {
    const auto names = [&](const std::string& what) {
      return finished.err.find(what) != std::string::npos;
    };
    return names(device + ": ") || std::ranges::any_of(machine.cards, [&](const AmdCard& card) {
             return names(card.name);
           });
  }
  ADD_FAILURE() << "how " << command << " shows its device is not said in names_device()";
  return false;
}

// Seconds of this machine are few: what computes on a virtual chip, or on the stub of CUDA, has
// tests of its own, and the selftest is run where owners were sent away once.
bool is_tried(const std::string& command, const Machine& machine) {
  const bool has_card = !machine.cards.empty() || !machine.nvidia.empty();
  if (command == "topology") return has_card;
  if (command == "ladder") return !machine.cards.empty() && machine.nvidia.empty();
  if (command != "selftest") return true;
  return machine.name == "RX 6800 (RDNA 2)" || machine.name == "MI300A" ||
         machine.name == "MI300X VF" || machine.name == "RX 7900 XTX, Mesa alone";
}

// Whether a command without --device names the device that was chosen for it.
void try_command(const std::string& command, const Finished& finished, const json& choice,
                 const Machine& machine, const fs::path& mark) {
  SCOPED_TRACE(command + " on " + machine.name);
  const int code = choice.at("exit_code");
  if (code != 0 && choice.at("needs") == "power") {
    // `meter` runs the program all the same, and has the reason in place of joules.
    EXPECT_THAT(finished.out + finished.err,
                HasSubstr(machine.nvml ? "neither power nor energy" : "NVML is not here"));
    EXPECT_EQ(fs::exists(mark), command == "meter");
    EXPECT_EQ(finished.exit_code, command == "meter" ? 0 : code) << finished.err;
    return;
  }
  if (code != 0) {
    EXPECT_EQ(finished.exit_code, code) << finished.err;
    const std::string reason = choice.at("reason");
    EXPECT_THAT(finished.err, HasSubstr(reason.substr(0, 40)));
    EXPECT_FALSE(fs::exists(mark));
    return;
  }
  const bool is_virtual = choice.at("device").get<std::string>().starts_with("virtual:");
  if (command == "estimate") {
    // No profiler is here: on a card the program does not begin.
    EXPECT_EQ(fs::exists(mark), is_virtual) << finished.err;
    if (!is_virtual) {
      EXPECT_THAT(finished.exit_code, AnyOf(2, 3)) << finished.err;
    }
    return;
  }
  if (is_virtual && !machine.opencl && (command == "doctor" || command == "calibrate")) {
    // The virtual GPU is a driver behind that loader.
    EXPECT_THAT(finished.exit_code, AnyOf(1, 3));
    EXPECT_THAT(finished.err, HasSubstr("ocl-icd-libopencl1"));
    return;
  }
  if (command == "meter" || command == "top") {
    EXPECT_TRUE(fs::exists(mark)) << finished.err;
  }
  EXPECT_TRUE(names_device(command, finished, choice, machine))
      << choice << "\n"
      << finished.out.substr(0, 400) << finished.err;
}

// The golden table says what would be used; here each command is typed, and uses that.
TEST_F(DeviceChoice, IsWhatEveryCommandUsesWithoutADevice) {
  if (fs::exists("/dev/nvidiactl") || fs::exists("/dev/kfd")) {
    GTEST_SKIP() << "a real card is here";
  }
  int tried = 0;
  for (const Machine& machine : machines()) {
    const TemporaryFolder folder;
    const auto asked = ask(folder.path(), machine, {"devices", "--choices", "--json"});
    ASSERT_EQ(asked.exit_code, 0) << asked.err;
    const json choices = asked.json().at("choices");
    for (const json& choice : choices) {
      const std::string command = choice.at("command");
      if (choice.at("needs") == "virtual chip" || !is_tried(command, machine)) continue;
      const TemporaryFolder own;
      const fs::path mark = own.path() / "mark";
      auto words = words_of(command, own.path());
      if (command == "selftest") words.insert(words.end(), {"--limit", "1"});
      if (command != "ladder" && command != "estimate") words.emplace_back("--json");
      if (command == "meter" || command == "top" || command == "estimate") {
        words.insert(words.end(), {"--", "touch", mark.string()});
      }
      const auto finished = ask(own.path(), machine, words);
      try_command(command, finished, choice, machine, mark);
      if (command == "selftest") {
        EXPECT_TRUE(fs::exists(own.path() / "selftest.wwst"));
      }
      ++tried;
    }
  }
  std::printf("%d commands on %zu machines\n", tried, machines().size());
  EXPECT_GE(tried, 150);
}

// A device that is well named and not there is the machine's lack (3), and a word that names none
// is the user's (2), for every command.
TEST_F(DeviceChoice, OfADeviceThatIsNotThereEndsWithTheMachinesCode) {
  if (fs::exists("/dev/nvidiactl") || fs::exists("/dev/kfd")) {
    GTEST_SKIP() << "a real card is here";
  }
  for (const Machine& machine : machines()) {
    if (machine.name != "none" && machine.name != "MI210") continue;
    SCOPED_TRACE(machine.name);
    const TemporaryFolder folder;
    const auto asked = ask(folder.path(), machine, {"devices", "--choices", "--json"});
    ASSERT_EQ(asked.exit_code, 0) << asked.err;
    int commands = 0;
    const json choices = asked.json().at("choices");
    for (const json& choice : choices) {
      const std::string command = choice.at("command");
      if (choice.at("needs") == "virtual chip") continue;
      ++commands;
      const auto code_of = [&](const std::string& device) {
        const TemporaryFolder own;
        auto words = words_of(command, own.path());
        words.insert(words.end(), {"--device", device});
        if (command == "meter" || command == "estimate") {
          words.insert(words.end(), {"--", "true"});
        }
        const auto finished = ask(own.path(), machine, words);
        EXPECT_NE(finished.err, "") << command << " " << device;
        return finished.exit_code;
      };
      const bool by_sensor = command == "meter" || command == "top";
      for (const char* device : {"gpu:3", "pci:0000:99:00.0"}) {
        EXPECT_EQ(code_of(device), 3) << command << " " << device;
      }
      if (!by_sensor) {
        for (const char* device : {"hip:7", "cuda:7", "opencl:7.0"}) {
          EXPECT_EQ(code_of(device), 3) << command << " " << device;
        }
      }
      EXPECT_EQ(code_of("quantum:0"), 2) << command;
    }
    EXPECT_GE(commands, 6);
  }
}

// A card that is named by its sensor is the one that computes there.
TEST_F(DeviceChoice, TakesTheNameOfACardForTheDeviceOnIt) {
  if (fs::exists("/dev/nvidiactl") || fs::exists("/dev/kfd")) {
    GTEST_SKIP() << "a real card is here";
  }
  for (const Machine& machine : machines()) {
    if (machine.name != "RX 7900 XTX before MI210" && machine.name != "MI210 without HIP") continue;
    SCOPED_TRACE(machine.name);
    const TemporaryFolder folder;
    const bool with_hip = machine.hip;
    const auto dry =
        ask(folder.path(), machine,
            {"calibrate", "--dry-run", "--json", "--device", with_hip ? "gpu:1" : "gpu:0"});
    if (with_hip) {
      EXPECT_EQ(dry.exit_code, 0) << dry.err;
      EXPECT_EQ(dry.json().value("device", ""), "hip:1");
    } else {
      EXPECT_EQ(dry.exit_code, 3) << dry.err;
      EXPECT_THAT(dry.err, HasSubstr("runs kernels on this card"));
    }
  }
}

TEST_F(DeviceChoice, IsWhatTheCommandsUse) {
  if (fs::exists("/dev/nvidiactl") || fs::exists("/dev/kfd")) {
    GTEST_SKIP() << "a real card is here";
  }
  for (const Machine& machine : machines()) {
    if (machine.name != "RX 6800 (RDNA 2)" && machine.name != "H100 without an OpenCL loader" &&
        machine.name != "H100 with MIG") {
      continue;
    }
    SCOPED_TRACE(machine.name);
    const bool nvidia = !machine.nvidia.empty();
    const std::string device = nvidia ? "cuda:0" : "hip:0";
    {
      const TemporaryFolder folder;
      const auto doctor =
          ask(folder.path(), machine,
              {"doctor", "--no-step-test", "--no-counters", "--no-clock-control", "--json"});
      EXPECT_EQ(doctor.json().value("device", ""), device) << doctor.err;
    }
    {
      const TemporaryFolder folder;
      const auto dry = ask(folder.path(), machine, {"calibrate", "--dry-run", "--json"});
      if (machine.nvidia.empty() || machine.nvidia == "idle_w 60\n") {
        EXPECT_EQ(dry.exit_code, 0) << dry.err;
        EXPECT_EQ(dry.json().value("device", ""), device);
      } else {
        EXPECT_EQ(dry.exit_code, 3) << dry.out;
        EXPECT_THAT(dry.err, HasSubstr(device));
      }
    }
    {
      const TemporaryFolder folder;
      const auto listed = ask(folder.path(), machine, {"devices", "--json"});
      ASSERT_EQ(listed.exit_code, 0) << listed.err;
      std::map<std::string, std::string> reasons;
      const json all = listed.json();
      for (const json& entry : all.at("devices")) {
        reasons[entry.at("name")] = entry.at("reason");
      }
      EXPECT_TRUE(reasons.contains(device)) << listed.out;
      if (!machine.opencl) {
        EXPECT_THAT(reasons["opencl"], HasSubstr("ocl-icd-libopencl1"));
      }
    }
  }
}

}  // namespace
}  // namespace ww::e2e
