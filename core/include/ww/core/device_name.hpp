// How a device is named on the command line, in campaigns and in reports.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace ww {

// Begins the names of virtual devices. What carries such a name is no measurement of a real one.
inline constexpr std::string_view kVirtualPrefix = "virtual:";
// The virtual device whose driver is loaded in this process, whatever its chip.
inline constexpr std::string_view kVirtualLabel = "virtual";

// A name taken apart; whether there is such a device is not checked here.
class DeviceName {
 public:
  enum class Kind {
    virtual_chip,  // "virtual:w9100", "virtual:random", "virtual:path/chip.toml"
    opencl,        // "opencl:0.1": platform and device as the OpenCL loader lists them
    hip,           // "hip:0"
    cuda,          // "cuda:0"
    sensor,        // "gpu:0": a GPU's sensor, AMD's first
    pci,           // "pci:0000:03:00.0": a GPU's sensor by the card's address
    other,         // none of these, or empty
  };

  explicit DeviceName(std::string_view text);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool is_virtual() const { return kind_ == Kind::virtual_chip; }
  // Whether it names a compute host of a real device.
  [[nodiscard]] bool is_host() const {
    return kind_ == Kind::opencl || kind_ == Kind::hip || kind_ == Kind::cuda;
  }

  // Returns the text after the colon; empty where there is none.
  [[nodiscard]] std::string_view rest() const;
  // Chip of a virtual device ("w9100", "random", "path/chip.toml"), else empty.
  [[nodiscard]] std::string chip() const;
  // Whether the chip is drawn at random, by a seed.
  [[nodiscard]] bool is_random_chip() const {
    return chip() == "random" || chip() == "random_rdna";
  }
  // Whether the chip is described by a file.
  [[nodiscard]] bool is_chip_file() const { return chip().ends_with(".toml"); }
  // N of hip:N, cuda:N and gpu:N. Absent for other names and where N is not a number from 0 up.
  [[nodiscard]] std::optional<int> index() const;
  // P and D of opencl:P.D. Absent likewise.
  [[nodiscard]] std::optional<std::pair<int, int>> opencl_place() const;

 private:
  std::string text_;
  Kind kind_{Kind::other};
};

// "virtual:w9100" for the chip "w9100".
[[nodiscard]] std::string virtual_device_name(std::string_view chip);

}  // namespace ww
