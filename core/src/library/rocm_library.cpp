#include "ww/core/rocm_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>

namespace ww {
namespace {

namespace fs = std::filesystem;

constexpr std::array kComgrMajors = {3, 2};
// Every entry that is called, so that a library which is found also serves.
constexpr std::array kComgrEntries = {"amd_comgr_get_version",
                                      "amd_comgr_do_action",
                                      "amd_comgr_create_data",
                                      "amd_comgr_release_data",
                                      "amd_comgr_set_data",
                                      "amd_comgr_set_data_name",
                                      "amd_comgr_get_data",
                                      "amd_comgr_create_data_set",
                                      "amd_comgr_destroy_data_set",
                                      "amd_comgr_data_set_add",
                                      "amd_comgr_action_data_count",
                                      "amd_comgr_action_data_get_data",
                                      "amd_comgr_create_action_info",
                                      "amd_comgr_destroy_action_info",
                                      "amd_comgr_action_info_set_isa_name",
                                      "amd_comgr_action_info_set_language",
                                      "amd_comgr_action_info_set_option_list",
                                      "amd_comgr_action_info_set_working_directory_path",
                                      "amd_comgr_action_info_set_logging"};
constexpr std::array kHipMajors = {7, 6, 5, 8};
// Lists HIP's entries without the query of properties, whose name depends on the release.
constexpr std::array kHipEntries = {"hipInit",
                                    "hipGetDeviceCount",
                                    "hipSetDevice",
                                    "hipDeviceGetName",
                                    "hipDeviceGetPCIBusId",
                                    "hipDriverGetVersion",
                                    "hipMalloc",
                                    "hipFree",
                                    "hipMemcpyHtoD",
                                    "hipMemcpyDtoH",
                                    "hipModuleLoadData",
                                    "hipModuleUnload",
                                    "hipModuleGetFunction",
                                    "hipModuleLaunchKernel",
                                    "hipDeviceSynchronize",
                                    "hipEventCreate",
                                    "hipEventDestroy",
                                    "hipEventRecord",
                                    "hipEventElapsedTime",
                                    "hipGetErrorName"};
constexpr std::array kAmdSmiMajors = {27, 26, 25, 24, 23};
constexpr std::array kAmdSmiEntries = {
    "amdsmi_init",           "amdsmi_get_lib_version",       "amdsmi_get_socket_handles",
    "amdsmi_get_power_info", "amdsmi_get_processor_handles", "amdsmi_get_gpu_bdf_id",
    "amdsmi_get_clock_info", "amdsmi_get_energy_count",      "amdsmi_get_temp_metric"};
constexpr std::array kRocmSmiMajors = {7, 6, 1, 5};
constexpr std::array kRocmSmiEntries = {"rsmi_init",
                                        "rsmi_num_monitor_devices",
                                        "rsmi_dev_pci_id_get",
                                        "rsmi_dev_energy_count_get",
                                        "rsmi_dev_power_ave_get",
                                        "rsmi_dev_temp_metric_get",
                                        "rsmi_dev_volt_metric_get",
                                        "rsmi_dev_gpu_clk_freq_get",
                                        "rsmi_status_string"};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The numbers in a folder's name: "core-10.0" gives 10 and 0, so that 10 comes after 9.
std::vector<int> numbers_in(const std::string& name) {
  std::vector<int> numbers;
  for (std::size_t at = 0; at < name.size();) {
    int value = 0;
    const auto parsed = std::from_chars(name.data() + at, name.data() + name.size(), value);
    if (parsed.ec == std::errc{} && name[at] != '-') {
      numbers.push_back(value);
      at = static_cast<std::size_t>(parsed.ptr - name.data());
    } else {
      ++at;
    }
  }
  return numbers;
}

// Folders under `parent` whose names begin with `prefix`, the highest version first.
std::vector<std::string> versions_under(const std::string& parent, const std::string& prefix) {
  std::vector<std::string> names;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(parent, ec)) {
    const auto name = entry.path().filename().string();
    if (name.starts_with(prefix)) names.push_back(name);
  }
  std::ranges::sort(names, [](const std::string& a, const std::string& b) {
    return std::pair(numbers_in(a), a) > std::pair(numbers_in(b), b);
  });
  for (std::string& name : names) name = fmt::format("{}/{}", parent, name);
  return names;
}

// Whether a file has every entry; `lacking` names one that it has not.
bool has_entries(void* handle, const RocmLibrary& library, std::string& lacking) {
  for (const char* entry : library.entries) {
    if (dlsym(handle, entry) == nullptr) {
      lacking = entry;
      return false;
    }
  }
  return true;
}

}  // namespace

const RocmLibrary kComgrLibrary{
    "AMD's compiler library", "libamd_comgr", kComgrMajors, kComgrEntries,
    "libamd-comgr2 and rocm-device-libs (Debian: apt-get install libamd-comgr2 rocm-device-libs), "
    "or comgr (ROCm)"};
const RocmLibrary kHipLibrary{"HIP's runtime", "libamdhip64", kHipMajors, kHipEntries,
                              "libamdhip64-5 (Debian), or hip-runtime-amd (ROCm)"};
const RocmLibrary kAmdSmiLibrary{"AMD SMI", "libamd_smi", kAmdSmiMajors, kAmdSmiEntries,
                                 "amd-smi-lib (ROCm from 5.7 on)"};
const RocmLibrary kRocmSmiLibrary{"ROCm SMI", "librocm_smi64", kRocmSmiMajors, kRocmSmiEntries,
                                  "librocm-smi64-1 (Debian), or rocm-smi-lib (ROCm up to 7)"};

RocmPlaces rocm_places() {
  return {"", environment("ROCM_PATH"), environment("HOME"), environment("VIRTUAL_ENV")};
}

std::vector<std::string> rocm_folders(const RocmPlaces& places) {
  std::vector<std::string> folders;
  const auto add = [&folders](const std::string& folder) {
    std::error_code ec;
    if (fs::is_directory(folder, ec) && std::ranges::find(folders, folder) == folders.end()) {
      folders.push_back(folder);
    }
  };
  if (!places.rocm_path.empty()) {
    for (const char* lib : {"/lib", "/lib64"}) add(places.root + places.rocm_path + lib);
  }
  folders.emplace_back();  // the loader's own
  const std::string opt = places.root + "/opt";
  for (const char* lib : {"/lib", "/lib64"}) add(opt + "/rocm" + lib);
  for (const auto& core : versions_under(opt + "/rocm", "core")) add(core + "/lib");
  for (const auto& release : versions_under(opt, "rocm-")) add(release + "/lib");
  // Python's packages: of the environment at work, of the user, of the system.
  std::vector<std::string> pythons;
  if (!places.venv.empty()) pythons.push_back(places.root + places.venv + "/lib");
  if (!places.home.empty()) pythons.push_back(places.root + places.home + "/.local/lib");
  pythons.push_back(places.root + "/usr/local/lib");
  pythons.push_back(places.root + "/usr/lib");
  for (const auto& python : pythons) {
    for (const auto& version : versions_under(python, "python3")) {
      for (const char* packages : {"/site-packages", "/dist-packages"}) {
        add(version + packages + "/_rocm_sdk_core/lib");
      }
    }
  }
  return folders;
}

Result<OpenedLibrary> open_rocm_library(const RocmLibrary& library, const RocmPlaces& places) {
  std::string refused;
  const auto attempt = [&](const std::string& file) -> void* {
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* said = dlerror();
      std::error_code ec;
      // For a bare name the loader's reason is that there is none.
      if (file.find('/') != std::string::npos && fs::exists(file, ec)) {
        // Where another library is missing that this one needs, the reason names that one alone.
        const std::string why = said == nullptr ? file : said;
        refused +=
            why.find(file) == std::string::npos ? fmt::format("; {}: {}", file, why) : "; " + why;
      }
      return nullptr;
    }
    if (std::string lacking; !has_entries(handle, library, lacking)) {
      refused += fmt::format("; {} has no {}", file, lacking);
      return nullptr;
    }
    return handle;
  };
  const auto in = [](const std::string& folder, const std::string& name) {
    return folder.empty() ? name : fmt::format("{}/{}", folder, name);
  };
  std::vector<std::string> files;
  const auto folders = rocm_folders(places);
  const auto add = [&](const std::string& folder, int major) {
    files.push_back(in(folder, fmt::format("{}.so.{}", library.stem, major)));
  };
  // A folder that was named is taken as it is. Of the others the newest library is: an old one of
  // the distribution does not know the parts that a newer one beside it was installed for.
  const auto named = std::ranges::find(folders, std::string());
  for (auto folder = folders.begin(); folder != named; ++folder) {
    for (const int major : library.majors) add(*folder, major);
    files.push_back(in(*folder, fmt::format("{}.so", library.stem)));
  }
  for (const int major : library.majors) {
    for (auto folder = named; folder != folders.end(); ++folder) add(*folder, major);
  }
  for (auto folder = named; folder != folders.end(); ++folder) {
    files.push_back(in(*folder, fmt::format("{}.so", library.stem)));
  }
  for (const std::string& file : files) {
    if (void* handle = attempt(file); handle != nullptr) return OpenedLibrary{handle, file};
  }
  return fail(ErrorCode::missing_dependency,
              fmt::format("{} ({}) cannot be loaded{}; install the package {}, or set ROCM_PATH to "
                          "the folder that ROCm is in",
                          library.what, library.stem, refused, library.packages));
}

}  // namespace ww
