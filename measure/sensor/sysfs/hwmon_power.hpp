// Interprets a number in hwmon's power1_average or power1_input.
#pragma once

#include <cstdint>

namespace ww::measure {

// amdgpu keeps power as whole watts and one byte behind them, and prints watts times 10^6 plus that
// byte times 10^3. What the byte counts depends on the firmware: 256ths of a watt on Polaris and on
// most APUs, hundredths on Strix. Read as a decimal fraction, 3103000 would be 3.103 W; it is 3 W
// and 103/256. Drivers that print true micro-watts show themselves by a remainder that no byte
// gives.
class HwmonPower {
 public:
  enum class Fraction { of_256, hundredths };
  explicit HwmonPower(Fraction fraction = Fraction::of_256) : fraction_(fraction) {}

  // Micro-watts of the number in the file.
  [[nodiscard]] std::int64_t microwatts(std::int64_t number) {
    constexpr std::int64_t watt = 1'000'000, step = 1000, bytes = 256, hundred = 100;
    const std::int64_t rest = number % watt;
    if (number < 0 || rest == 0) return number;
    const std::int64_t most = fraction_ == Fraction::of_256 ? bytes : hundred;
    if (rest % step != 0 || rest / step >= most) decimal_ = true;
    if (decimal_) return number;
    return number - rest + rest / step * watt / most;
  }

 private:
  Fraction fraction_;
  bool decimal_{};
};

}  // namespace ww::measure
