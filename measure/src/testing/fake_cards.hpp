// Trees of kernel files with any number of AMD cards, each with what a test writes into it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace ww::measure::testing {

class FakeCards {
 public:
  // `sysfs` is made when the first card is.
  explicit FakeCards(std::filesystem::path sysfs) : sysfs_(std::move(sysfs)) {}

  static void write(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  static void write(const std::filesystem::path& file, const std::vector<std::byte>& bytes) {
    write(file, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
  // A card with a hwmon folder and a render device; returns its folder.
  [[nodiscard]] std::filesystem::path add(int number, const std::string& pci,
                                          const std::string& device_id) const {
    namespace fs = std::filesystem;
    const fs::path top = sysfs_ / "class";
    fs::path device = top / "_pci" / pci;
    const std::string name = "card" + std::to_string(number);
    fs::create_directories(device / "drm" / name);
    fs::create_directories(device / ("drm/renderD" + std::to_string(128 + number)));
    fs::create_directories(top / "drm");
    fs::create_directory_symlink("../_pci/" + pci + "/drm/" + name, top / "drm" / name);
    fs::create_directory_symlink("../..", device / "drm" / name / "device");
    write(device / "vendor", std::string("0x1002\n"));
    write(device / "device", device_id + "\n");
    write(device / "hwmon/hwmon0/name", std::string("amdgpu\n"));
    return device;
  }
  [[nodiscard]] const std::filesystem::path& sysfs() const { return sysfs_; }

 private:
  std::filesystem::path sysfs_;
};

}  // namespace ww::measure::testing
