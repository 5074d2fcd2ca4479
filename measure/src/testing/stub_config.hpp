// One machine for the stubs of a card's driver and of its sensor: "key value" lines of the file
// `config` in the folder that $WW_NVML_STUB names. Each stub takes the keys that it knows.
#pragma once

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

namespace ww::measure::testing {

inline std::string stub_folder() {
  const char* set = std::getenv("WW_NVML_STUB");
  return set == nullptr ? "." : set;
}

class StubConfig {
 public:
  StubConfig() {
    if (std::getenv("WW_NVML_STUB") == nullptr) return;
    std::ifstream file(stub_folder() + "/config");
    std::string key;
    double value = 0;
    while (file >> key >> value) values_[key] = value;
  }
  [[nodiscard]] double number(const std::string& key, double otherwise) const {
    const auto found = values_.find(key);
    return found == values_.end() ? otherwise : found->second;
  }
  [[nodiscard]] unsigned count(const std::string& key, unsigned otherwise) const {
    return static_cast<unsigned>(number(key, otherwise));
  }
  // Return code of a call of the stubbed library; 0 is success in all of them.
  [[nodiscard]] int code(const std::string& key, int otherwise = 0) const {
    return static_cast<int>(number(key, otherwise));
  }

 private:
  std::map<std::string, double> values_;
};

inline const StubConfig& stub_config() {
  static const StubConfig read;
  return read;
}

}  // namespace ww::measure::testing
