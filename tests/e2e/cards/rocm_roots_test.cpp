// Machines with each release of ROCm, made in a mount namespace: libraries under the names and in
// the folders of that release. What the doctor finds is what the hosts, the compiler and the
// sensors then use, and what is missing is named with its package.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/mount.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "process.hpp"
#include "testing/fake_amd_tree.hpp"

namespace ww::e2e {
namespace {

namespace fs = std::filesystem;
using measure::testing::FakeAmdTree;
using nlohmann::json;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr const char* kInstalledComgr = "libamd_comgr.so.2";
constexpr const char* kInstalledRocmSmi = "librocm_smi64.so.1";
// The loader's own: Debian 12 has ROCm SMI in the first, Debian 13 in the second.
constexpr std::array kFolders{"/usr/lib", "/usr/lib/x86_64-linux-gnu"};

// The real file of an installed library, which stays where it is.
fs::path installed_file(const char* library) {
  for (const char* folder : kFolders) {
    if (const fs::path link = fs::path(folder) / library; fs::exists(link)) {
      return fs::canonical(link);
    }
  }
  return {};
}

// The links by which the loader finds AMD's libraries, of whatever release the machine has: its own
// HIP would be found before the stub. The files that they name stay.
void remove_links_to_libraries_of_amd(const fs::path& folder) {
  std::vector<fs::path> links;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    for (const char* stem :
         {"libamdhip64.so", "libamd_comgr.so", "libamd_smi.so", "librocm_smi64.so"}) {
      if (entry.is_symlink() && name.starts_with(stem)) links.push_back(entry.path());
    }
  }
  for (const fs::path& link : links) fs::remove(link);
}

struct Release {
  std::string name;
  std::string folder;                         // empty: the loader's own
  std::string hip, comgr, amd_smi, rocm_smi;  // names of files; empty: the release has none
  std::string amd_smi_version;
};

const Release kDebian{"Debian's",           "", "libamdhip64.so.5", "libamd_comgr.so.2", "",
                      "librocm_smi64.so.1", ""};
const Release kRocm63{"6.3",
                      "/opt/rocm-6.3.0/lib",
                      "libamdhip64.so.6",
                      "libamd_comgr.so.2",
                      "libamd_smi.so.24",
                      "librocm_smi64.so.7",
                      "24.7"};
const Release kRocm72{"7.2",
                      "/opt/rocm-7.2.0/lib",
                      "libamdhip64.so.7",
                      "libamd_comgr.so.3",
                      "libamd_smi.so.26",
                      "librocm_smi64.so.1",
                      "26.2"};
const Release kRocm100{"10.0",
                       "/opt/rocm/core-10.0/lib",
                       "libamdhip64.so.7",
                       "libamd_comgr.so.3",
                       "libamd_smi.so.27",
                       "",
                       "27.0"};

// Names the ways that exist.
struct Present {
  bool hip{true}, comgr{true}, amd_smi{true}, rocm_smi{true}, files{true};
};

json finding(const json& list, const std::string& capability) {
  for (const json& entry : list) {
    if (entry.at("capability") == capability) return entry;
  }
  return {};
}

class RocmRoots : public ::testing::Test {
 protected:
  // Inside the namespace: /opt is empty, and nothing of AMD's is in the loader's folders. Returns
  // what is not permitted.
  [[nodiscard]] std::string clear_machine() const {
    const auto failed = [](const std::string& what) {
      return "!" + what + ": " + std::strerror(errno);
    };
    if (mount("tmpfs", "/opt", "tmpfs", 0, nullptr) != 0) return failed("/opt");
    const std::string layers = folder_.path() / "layers";
    fs::create_directories(layers);
    if (mount("tmpfs", layers.c_str(), "tmpfs", 0, nullptr) != 0) return failed(layers);
    fs::create_directories(layers + "/upper");
    fs::create_directories(layers + "/work");
    const std::string options =
        "lowerdir=/usr/lib,upperdir=" + layers + "/upper,workdir=" + layers + "/work";
    if (mount("overlay", "/usr/lib", "overlay", 0, options.c_str()) != 0) return failed("/usr/lib");
    for (const char* folder : kFolders) remove_links_to_libraries_of_amd(folder);
    return {};
  }
  static void put_link(const std::string& from, const std::string& to) {
    fs::create_directories(fs::path(to).parent_path());
    fs::remove(to);
    fs::create_symlink(from, to);
  }
  void install(const Release& release, const Present& present) const {
    const std::string folder = release.folder.empty() ? "/usr/lib" : release.folder;
    const auto lib = build_folder() / "lib";
    const auto put = [&folder](bool there, const std::string& name, const std::string& from) {
      if (name.empty()) return;
      if (there) {
        put_link(from, folder + "/" + name);
      } else {
        fs::remove(folder + "/" + name);
      }
    };
    put(present.hip, release.hip, lib / "stubs/libamdhip64.so.6");
    const std::string comgr = comgr_;
    const bool third = release.comgr.ends_with(".3");
    // A copy, for the link beside it is found from where the file is.
    if (third && present.comgr) {
      fs::create_directories(folder);
      fs::copy_file(lib / "stub_comgr/libamd_comgr.so.3", folder + "/" + release.comgr,
                    fs::copy_options::overwrite_existing);
      put_link(comgr, folder + "/installed/libamd_comgr.so.2");
    } else {
      put(present.comgr, release.comgr, comgr);
    }
    put(present.amd_smi, release.amd_smi, lib / "amd_smi_stub/lib/libamd_smi.so");
    put(present.rocm_smi, release.rocm_smi, rocm_smi_);
    if (release.folder.starts_with("/opt/rocm-")) {
      put_link(fs::path(release.folder).parent_path(), "/opt/rocm");
    }
  }
  [[nodiscard]] Finished ask(const Release& release, std::vector<std::string> words) const {
    words.insert(words.begin(), wirewatt());
    return run(words, environment(release));
  }
  [[nodiscard]] Environment environment(const Release& release) const {
    return {{"ROCM_PATH", ""},
            {"VIRTUAL_ENV", ""},
            {"LD_LIBRARY_PATH", ""},
            {"HOME", folder_.path().string()},
            {"WW_AMD_SMI_VERSION", release.amd_smi_version},
            {"WIREWATT_STATE_DIR", (folder_.path() / "state").string()}};
  }
  // The card whose floorplan is known, as the stub of HIP has it.
  [[nodiscard]] static FakeAmdTree card(const Present& present) {
    fs::remove_all("/sys/class/_pci");
    fs::remove_all("/sys/class/drm");
    fs::remove_all("/sys/class/kfd");
    FakeAmdTree tree("/sys", {.name = "AMD FirePro W9100", .with_metrics = false});
    tree.write(tree.device() / "device", "0x67a0");
    if (!present.files) fs::remove(tree.hwmon() / "power1_average");
    return tree;
  }
  [[nodiscard]] json doctor(const Release& release) const {
    const auto finished = ask(release, {"doctor", "--device", "hip:0", "--no-step-test",
                                        "--no-counters", "--no-clock-control", "--json"});
    json report = finished.json();
    if (!report.is_object()) report = json::object();
    report["exit"] = finished.exit_code;
    report["err"] = finished.err;
    return report;
  }
  // Runs the body on a cleared machine and gives its JSON; nothing where that is not permitted.
  [[nodiscard]] std::optional<json> on_cleared_machine(const std::function<json()>& body) {
    comgr_ = installed_file(kInstalledComgr);
    rocm_smi_ = installed_file(kInstalledRocmSmi);
    if (comgr_.empty() || rocm_smi_.empty()) {
      ADD_FAILURE() << "AMD's compiler library or ROCm SMI is not installed";
      return json();
    }
    const auto text = measure::testing::with_own_sysfs([&] {
      const std::string refused = clear_machine();
      return refused.empty() ? body().dump() : refused;
    });
    if (!text && text.error().code == ErrorCode::unsupported) {
      std::fprintf(stderr, "%s\n", text.error().text().c_str());
      return {};
    }
    if (!text) {
      ADD_FAILURE() << text.error().text();
      return json();
    }
    return parse_json(*text);
  }

  TemporaryFolder folder_;
  std::string comgr_, rocm_smi_;
};

TEST_F(RocmRoots, HaveWhatTheDoctorFindsUsedByTheHostsTheCompilerAndTheSensors) {
  for (const Release& release : {kDebian, kRocm63, kRocm72, kRocm100}) {
    SCOPED_TRACE(release.name);
    const auto seen = on_cleared_machine([&]() -> json {
      install(release, {});
      static_cast<void>(card({}));
      json all{{"doctor", doctor(release)}};
      const auto devices = ask(release, {"devices", "--json"});
      all["devices"] = devices.json();
      const std::string source = folder_.path() / "program.cl";
      std::ofstream(source) << "__kernel void one(__global int* o) { o[get_global_id(0)] = 1; }\n";
      const auto compiled =
          run({(build_folder() / "libexec/wirewatt/wirewatt-compile-worker").string(), "--compile",
               "amdgcn-amd-amdhsa--gfx90a", source, (folder_.path() / "program.co").string()},
              environment(release));
      all["compiled"] = compiled.exit_code;
      all["compiler"] = compiled.err;
      // Without the files, AMD SMI or ROCm SMI is what is left.
      static_cast<void>(card({.files = false}));
      all["without files"] = doctor(release);
      return all;
    });
    if (!seen) GTEST_SKIP() << "mount namespaces are not permitted here";
    const json& report = seen->at("doctor");
    ASSERT_EQ(report.at("exit"), 0) << report;
    const auto path = [&release](const std::string& name) {
      if (release.folder.empty()) return name;
      return release.folder.starts_with("/opt/rocm-") ? "/opt/rocm/lib/" + name
                                                      : release.folder + "/" + name;
    };
    const auto is_found = [&](const char* capability, const std::string& name) {
      const json found = finding(report.at("libraries"), capability);
      if (name.empty()) {
        EXPECT_EQ(found["verdict"], "unavailable") << found;
      } else {
        EXPECT_EQ(found["verdict"], "good") << found;
        EXPECT_EQ(found["detail"], path(name));
      }
    };
    is_found("HIP", release.hip);
    is_found("AMD compiler", release.comgr);
    is_found("AMD SMI", release.amd_smi);
    is_found("ROCm SMI", release.rocm_smi);
    EXPECT_EQ(seen->at("compiled"), 0) << seen->at("compiler");
    bool listed = false;
    for (const json& device : seen->at("devices").at("devices")) {
      if (device.at("name") != "hip:0") continue;
      listed = true;
      EXPECT_EQ(device.at("usable"), true) << device;
    }
    EXPECT_TRUE(listed) << seen->at("devices");
    EXPECT_THAT(report.at("sensor").get<std::string>(), HasSubstr("amdgpu files"));
    const json& bare = seen->at("without files");
    if (release.amd_smi.empty()) {
      EXPECT_EQ(bare.at("exit"), 3) << bare;
      EXPECT_THAT(bare.dump(), HasSubstr("amd-smi-lib"));
    } else {
      EXPECT_EQ(bare.at("exit"), 0) << bare;
      EXPECT_THAT(bare.at("sensor").get<std::string>(),
                  HasSubstr("AMD SMI " + release.amd_smi_version));
    }
  }
}

// Every library there or not: the campaign could begin, or the package that it lacks is named.
TEST_F(RocmRoots, WithAnyLibraryMissingWorkOrNameItsPackage) {
  const auto seen = on_cleared_machine([&]() -> json {
    Release release = kRocm100;
    release.rocm_smi = "librocm_smi64.so.7";
    json all = json::array();
    for (unsigned bits = 0; bits < 32; ++bits) {
      const Present present{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0,
                            (bits & 16) != 0};
      install(release, present);
      static_cast<void>(card(present));
      const auto dry = ask(release, {"calibrate", "--dry-run", "--device", "hip:0", "--json"});
      all.push_back({{"bits", bits},
                     {"doctor", doctor(release)},
                     {"exit", dry.exit_code},
                     {"said", dry.out + dry.err}});
    }
    return all;
  });
  if (!seen) GTEST_SKIP() << "mount namespaces are not permitted here";
  ASSERT_EQ(seen->size(), 32u);
  for (const json& one : *seen) {
    const unsigned bits = one.at("bits");
    const bool hip = (bits & 1) != 0, comgr = (bits & 2) != 0, amd_smi = (bits & 4) != 0;
    const bool rocm_smi = (bits & 8) != 0, files = (bits & 16) != 0;
    SCOPED_TRACE(one.dump());
    const int exit_code = one.at("exit");
    const std::string said = one.at("said");
    const json& report = one.at("doctor");
    // No signal ended it.
    EXPECT_GE(exit_code, 0);
    EXPECT_GE(report.at("exit"), 0);
    if (hip && (files || amd_smi)) {
      EXPECT_EQ(exit_code, 0);
      EXPECT_EQ(report.at("exit"), 0);
      EXPECT_THAT(said, HasSubstr(files ? "amdgpu files" : "AMD SMI"));
    } else {
      EXPECT_THAT(exit_code, AnyOf(1, 3));
      if (!hip) {
        EXPECT_THAT(said, HasSubstr("hip-runtime-amd"));
      } else {
        EXPECT_THAT(said, HasSubstr("amd-smi-lib"));
      }
    }
    if (!hip) continue;
    const auto is_there = [&](const char* capability, bool there, const char* package) {
      const json found = finding(report.at("libraries"), capability);
      EXPECT_EQ(found.at("verdict"), there ? "good" : "unavailable") << found;
      if (!there) {
        EXPECT_THAT(found.dump(), HasSubstr(package));
      }
    };
    is_there("HIP", hip, "hip-runtime-amd");
    is_there("AMD compiler", comgr, "libamd-comgr2");
    is_there("AMD SMI", amd_smi, "amd-smi-lib");
    is_there("ROCm SMI", rocm_smi, "librocm-smi64-1");
  }
}

// The kernels were compiled beforehand: HIP alone lets them run.
TEST_F(RocmRoots, WithoutACompilerRunTheirKernels) {
  const auto seen = on_cleared_machine([&]() -> json {
    install(kRocm100, {.comgr = false});
    static_cast<void>(card({}));
    const auto finished = ask(kRocm100, {"exercise", "--device", "hip:0"});
    return {{"exit", finished.exit_code},
            {"err", finished.err},
            {"moved", finished.json()},
            {"doctor", doctor(kRocm100)}};
  });
  if (!seen) GTEST_SKIP() << "mount namespaces are not permitted here";
  const json kernels = finding(seen->at("doctor").at("libraries"), "AMD kernels");
  if (kernels.at("verdict") != "good") {
    EXPECT_EQ(seen->at("exit"), 3);
    EXPECT_THAT(seen->at("err").get<std::string>(), HasSubstr("libamd-comgr2"));
    return;
  }
  EXPECT_EQ(seen->at("exit"), 0) << seen->at("err");
  EXPECT_EQ(seen->at("moved").at("copies"), 2);
}

}  // namespace
}  // namespace ww::e2e
