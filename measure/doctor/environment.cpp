#include "ww/measure/environment.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "sensor/sysfs/sysfs_file.hpp"
#include "ww/core/rocm_library.hpp"
#include "ww/measure/child.hpp"
#include "ww/measure/profiler.hpp"
#include "ww/measure/telemetry.hpp"

namespace ww::measure {
namespace {

namespace fs = std::filesystem;

struct Library {
  const char* capability;
  const char* name;  // its soname; null for AMD's
  const RocmLibrary* rocm;
  const char* packages;
  const char* remedy;
};

// Loads a library in a child. The answer is the file that was loaded, or an error that says why
// none was.
Result<std::string> loadable(const Library& library) {
  constexpr char loaded = '+';
  const auto said = run_in_child(
      [&library]() -> std::string {
        if (library.rocm != nullptr) {
          const auto opened = open_rocm_library(*library.rocm);
          return opened ? loaded + opened->file : opened.error().message;
        }
        if (dlopen(library.name, RTLD_LAZY | RTLD_LOCAL) != nullptr) {
          return std::string(1, loaded) + library.name;
        }
        return fmt::format("{} cannot be loaded: package {}", library.name, library.packages);
      },
      std::chrono::seconds(10));
  if (!said) return tl::unexpected(said.error());
  if (said->starts_with(loaded)) return said->substr(1);
  return fail(ErrorCode::missing_dependency, *said);
}

Finding node(const std::string& capability, const std::string& path, const std::string& missing,
             const std::string& remedy) {
  if (access(path.c_str(), R_OK | W_OK) == 0) return {capability, Verdict::good, path, ""};
  if (access(path.c_str(), F_OK) != 0) {
    return {capability, Verdict::unavailable, path + " is not there: " + missing, ""};
  }
  return {capability, Verdict::unavailable, "this user may not open " + path, remedy};
}

std::string kernel_release() {
  utsname names{};
  return uname(&names) == 0 ? names.release : "?";
}

// Bits of capability sets, see capabilities(7).
constexpr unsigned kSysAdmin = 21;

// `status` is the text of /proc/self/status: "CapEff:\t000001ffffffffff".
bool has_capability(const std::string& status, unsigned bit) {
  constexpr std::string_view kEffective = "CapEff:";
  const auto at = status.find(kEffective);
  if (at == std::string::npos) return false;
  const auto begin = status.find_first_not_of(" \t", at + kEffective.size());
  if (begin == std::string::npos) return false;
  std::uint64_t bits = 0;
  std::from_chars(status.data() + begin, status.data() + status.size(), bits, 16);
  return (bits >> bit & 1U) != 0;
}

// Whether a process that computes has no queue on this card. Kernels before 5.8 list no queues, and
// without the card's number every queue may be on it.
bool leaves_alone(const fs::path& process, const AmdGpu& gpu) {
  std::error_code ec;
  if (gpu.kfd_id.empty() || !fs::is_directory(process / "queues", ec)) return false;
  // The process may end meanwhile.
  for (fs::directory_iterator queue(process / "queues", ec), end; !ec && queue != end;
       queue.increment(ec)) {
    const auto id = file_text((queue->path() / "gpuid").string());
    if (id.empty() || id == gpu.kfd_id) return false;
  }
  return true;
}

// Counters of RDNA cards that are no processor's graphics read 0 without a profile mode of their
// clocks, which root sets (ROCm/rocm-systems, issues 5953 and 10996).
void check_profile_mode(std::vector<Finding>& findings, const AmdGpu& gpu) {
  if (!gpu.target.starts_with("gfx1") || gpu.integrated) return;
  const std::string file = gpu.folder + "/power_dpm_force_performance_level";
  const std::string level = file_text(file);
  if (level.starts_with("profile_")) {
    findings.push_back({"clocks of counters", Verdict::good, level, ""});
    return;
  }
  findings.push_back(
      {"clocks of counters", Verdict::limited,
       fmt::format("counters of {} read 0 unless the clocks are in a profile mode; "
                   "they are in '{}'",
                   gpu.target, level),
       fmt::format("echo profile_standard | sudo tee {} (and auto when done)", file)});
}

// Whether a profiler can count on the card, before one is tried.
Finding amd_counters(const AmdGpu& gpu) {
  // Where the driver does not say which target it is, any profiler of AMD's may be the one.
  const std::string target = gpu.target.empty() ? "gfx9" : gpu.target;
  const auto profilers = installed_profilers(target);
  if (profilers.empty()) {
    std::string names;
    for (const Profiler profiler : profilers_for(target)) {
      names += (names.empty() ? "" : ", ") + std::string(to_string(profiler));
    }
    const bool needs_older = profilers_for(target).front() == Profiler::rocprof_v1;
    return {"counters", Verdict::unavailable,
            fmt::format("no profiler that counts on {} is here ({})",
                        gpu.target.empty() ? "AMD's cards" : gpu.target, names),
            fmt::format("install {} (ROCm's repository)",
                        needs_older ? "rocprofiler" : "rocprofiler-sdk")};
  }
  const std::string name(to_string(profilers.front().profiler));
  if (access("/dev/kfd", R_OK | W_OK) != 0) {
    return {"counters", Verdict::unavailable,
            fmt::format("{} is here, and this user may not open /dev/kfd", name),
            how_to_open_devices()};
  }
  return {"counters", Verdict::good, fmt::format("{} can be spawned", name), ""};
}

void check_amd(std::vector<Finding>& findings, const AmdGpu& gpu, const std::string& sysfs) {
  const auto version = file_text(sysfs + "/module/amdgpu/version");
  findings.push_back({"driver", Verdict::good,
                      version.empty() ? fmt::format("amdgpu of Linux {}", kernel_release())
                                      : fmt::format("amdgpu {}", version),
                      ""});
  findings.push_back(node("compute permission", "/dev/kfd",
                          "amdgpu is not loaded, or built without compute", how_to_open_devices()));
  if (!gpu.render.empty()) {
    findings.push_back(node("render permission", "/dev/dri/" + gpu.render, "no render node",
                            how_to_open_devices()));
  }
  const auto compute = file_text(gpu.folder + "/current_compute_partition");
  const auto memory = file_text(gpu.folder + "/current_memory_partition");
  if (compute.empty() && memory.empty()) {
    findings.push_back({"partition", Verdict::good, "the card is not partitioned", ""});
  } else {
    const bool whole =
        (compute.empty() || compute == "SPX") && (memory.empty() || memory == "NPS1");
    findings.push_back({"partition", whole ? Verdict::good : Verdict::limited,
                        fmt::format("compute {}, memory {}{}", compute.empty() ? "?" : compute,
                                    memory.empty() ? "?" : memory,
                                    whole ? "" : ": the sensor sees all partitions together"),
                        whole ? "" : "sudo amd-smi set --compute-partition SPX"});
  }
  std::error_code ec;
  findings.push_back(fs::exists(gpu.folder + "/ras", ec)
                         ? Finding{"ECC", Verdict::good, "error correction is on (ras)", ""}
                         : Finding{"ECC", Verdict::unavailable, "the driver does not tell", ""});

  std::string others;
  for (const auto& entry : fs::directory_iterator(sysfs + "/class/kfd/kfd/proc", ec)) {
    const auto process = entry.path().filename().string();
    if (process == std::to_string(getpid()) || leaves_alone(entry.path(), gpu)) continue;
    others += (others.empty() ? "" : ", ") + process;
  }
  const auto busy = file_text(gpu.folder + "/gpu_busy_percent");
  const bool idle = others.empty() && (busy.empty() || busy == "0");
  findings.push_back(
      {"other load", idle ? Verdict::good : Verdict::limited,
       idle ? "none"
            : fmt::format("{}% busy; processes that compute: {}", busy.empty() ? "?" : busy,
                          others.empty() ? "none" : others),
       idle ? "" : "end the other work, or wait for it"});

  findings.push_back(amd_counters(gpu));
  check_profile_mode(findings, gpu);
}

Finding other_load(const NvidiaGpu& gpu) {
  const char* unknown = "the driver does not report it";
  const std::string busy =
      gpu.busy_percent ? fmt::format("{}%", *gpu.busy_percent) : std::string(unknown);
  std::string others = gpu.processes ? "" : unknown;
  for (const unsigned process : gpu.processes.value_or(std::vector<unsigned>{})) {
    others += fmt::format("{}{}", others.empty() ? "" : ", ", process);
  }
  const bool loaded =
      gpu.busy_percent.value_or(0) > 0 || (gpu.processes && !gpu.processes->empty());
  const auto detail =
      fmt::format("busy: {}; processes that compute: {}", busy, others.empty() ? "none" : others);
  if (loaded) {
    return {"other load", Verdict::limited, detail, "end the other work, or wait for it"};
  }
  if (!gpu.busy_percent || !gpu.processes) {
    return {"other load", Verdict::unavailable, "unknown; " + detail,
            "make sure that nothing else computes on it"};
  }
  return {"other load", Verdict::good, "none", ""};
}

void check_nvidia(std::vector<Finding>& findings, const NvidiaGpu& gpu) {
  findings.push_back({"driver", Verdict::good, "NVIDIA " + gpu.driver, ""});
  findings.push_back(
      node("compute permission", "/dev/nvidiactl",
           "the kernel driver is not loaded (sudo modprobe nvidia), or the container "
           "was started without the GPU",
           "sudo chmod a+rw /dev/nvidia*"));
  const auto mode = [&findings](const char* name, const std::optional<bool>& on, Verdict if_on,
                                const char* on_text, const char* off_text,
                                const std::string& remedy) {
    if (!on) {
      findings.push_back({name, Verdict::unavailable, "the device does not tell", ""});
    } else {
      findings.push_back({name, *on ? if_on : Verdict::good, *on ? on_text : off_text,
                          *on && if_on != Verdict::good ? remedy : ""});
    }
  };
  const auto address = to_string(gpu.pci);
  mode("partition", gpu.mig, Verdict::limited, "MIG is on: the sensor sees all instances together",
       "MIG is off", fmt::format("sudo nvidia-smi -i {} -mig 0", address));
  mode("ECC", gpu.ecc, Verdict::good, "on", "off", "");
  if (gpu.persistence && !*gpu.persistence) {
    findings.push_back({"persistence mode", Verdict::limited,
                        "off: the driver wakes the GPU anew for each program",
                        fmt::format("sudo nvidia-smi -i {} -pm 1", address)});
  }
  findings.push_back(other_load(gpu));
  const auto profilers = installed_profilers("sm_");
  findings.push_back(check_ncu(profilers.empty() ? "" : profilers.front().program.string(),
                               file_text("/proc/driver/nvidia/params"),
                               file_text("/proc/self/status")));
}

}  // namespace

namespace {

// Whether a device of this vendor ("0x10de") is on the machine's PCI buses.
bool has_pci_vendor(const std::string& vendor) {
  std::error_code failed;
  const fs::directory_iterator devices(fs::path(sysfs_of({})) / "bus/pci/devices", failed);
  if (failed) return false;
  return std::any_of(devices, fs::directory_iterator(), [&](const fs::directory_entry& device) {
    return file_text((device.path() / "vendor").string()).starts_with(vendor);
  });
}

// Who has a card of one vendor alone does not miss the other's library. Who has none may wait for
// one, or has it where these buses do not show it, as in a virtual machine of Windows.
void leave_out_remedy(Finding& finding, const Library& library) {
  constexpr const char* kAmd = "0x1002";
  constexpr const char* kNvidia = "0x10de";
  const bool amd = library.rocm != nullptr;
  const bool nvidia = std::string_view(library.packages).find("NVIDIA") != std::string_view::npos;
  if ((!amd && !nvidia) || has_pci_vendor(amd ? kAmd : kNvidia)) return;
  if (!has_pci_vendor(amd ? kNvidia : kAmd)) return;
  finding.detail = fmt::format("not here, and not needed: no device of {} is on the PCI buses",
                               amd ? "AMD's" : "NVIDIA's");
  finding.remedy.clear();
}

}  // namespace

std::vector<Finding> check_libraries() {
  const std::array<Library, 7> libraries{{
      {"OpenCL loader", "libOpenCL.so.1", nullptr, "ocl-icd-libopencl1",
       "sudo apt-get install ocl-icd-libopencl1"},
      {"AMD SMI", nullptr, &kAmdSmiLibrary, "",
       "add ROCm's repository, then sudo apt-get install amd-smi-lib"},
      {"ROCm SMI", nullptr, &kRocmSmiLibrary, "", "sudo apt-get install librocm-smi64-1"},
      {"HIP", nullptr, &kHipLibrary, "", "sudo apt-get install libamdhip64-5"},
      {"AMD compiler", nullptr, &kComgrLibrary, "",
       "sudo apt-get install libamd-comgr2 rocm-device-libs"},
      {"NVML", "libnvidia-ml.so.1", nullptr, "libnvidia-ml1 (with NVIDIA's driver)",
       "sudo apt-get install nvidia-driver"},
      {"CUDA driver", "libcuda.so.1", nullptr, "libcuda1 (with NVIDIA's driver)",
       "sudo apt-get install nvidia-driver"},
  }};
  std::vector<Finding> findings;
  for (const Library& library : libraries) {
    const auto found = loadable(library);
    if (found) {
      findings.push_back({library.capability, Verdict::good, *found, ""});
      continue;
    }
    Finding missing{library.capability, Verdict::unavailable, found.error().message,
                    library.remedy};
    leave_out_remedy(missing, library);
    findings.push_back(std::move(missing));
  }
  return findings;
}

Finding check_ncu(const std::string& ncu, const std::string& driver_params,
                  const std::string& process_status) {
  if (ncu.empty()) {
    return {"counters", Verdict::unavailable, "ncu is not here",
            "install nsight-compute (NVIDIA's repository)"};
  }
  const bool admin_only = driver_params.find("RmProfilingAdminOnly: 1") != std::string::npos;
  if (admin_only && !has_capability(process_status, kSysAdmin)) {
    return {"counters", Verdict::unavailable,
            "the driver gives counters to administrators alone, and this process has no "
            "CAP_SYS_ADMIN (root in a container has none either)",
            "run as root outside containers, start the container with --cap-add SYS_ADMIN, or: "
            "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
            "/etc/modprobe.d/nvidia-counters.conf, then restart"};
  }
  return {"counters", Verdict::good, ncu + " can be spawned", ""};
}

std::vector<Finding> check_gpu(const TelemetryGpu& gpu, const std::string& sysfs) {
  std::vector<Finding> findings;
  if (gpu.amd) check_amd(findings, *gpu.amd, sysfs);
  if (gpu.nvidia) check_nvidia(findings, *gpu.nvidia);
  bool found = false;
  for (const SensorBackend& backend : gpu.backends) {
    // A backend that is not needed may be missing without harm.
    const bool good = backend.usable || found;
    findings.push_back(
        {"sensor by " + backend.name, good ? Verdict::good : Verdict::unavailable,
         backend.usable ? (found ? "works, and is not needed" : "works") : backend.reason, ""});
    found = found || backend.usable;
  }
  return findings;
}

}  // namespace ww::measure
