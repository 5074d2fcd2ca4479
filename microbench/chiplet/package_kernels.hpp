// Declares the kernels that the chiplet campaign launches on one kind of package.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "ww/core/result.hpp"
#include "ww/model/chiplet_fit.hpp"

namespace ww::microbench {

class PackageKernels {
 public:
  virtual ~PackageKernels() = default;
  // Pace of a launch: how many times through the memory, and how many waits of 256 cycles after
  // each page.
  struct Pace {
    std::uint32_t passes{1};
    std::uint32_t waits{};
  };

  [[nodiscard]] virtual std::span<const model::ChipletPoint> points() const = 0;
  // Time of a pass over that of the slowest way as fast as it can, to which waits bring all ways,
  // and steps of a search for them; 0: they follow from one slope.
  struct Tuning {
    double room{1.03};
    int refinements{};
    std::uint32_t passes{1};  // of a launch, at least
  };
  [[nodiscard]] virtual Tuning tuning() const { return {}; }
  // Returns for the plan what a session finds before it launches.
  [[nodiscard]] virtual nlohmann::json setup() const = 0;
  // Facts that must equal those that an earlier session of the recording found.
  [[nodiscard]] virtual std::vector<std::int32_t> identity() const = 0;
  // Launches once and counts the wavefronts that took part, where the kernel can. Error bad_data
  // where these are not the point's. It may write to memory, after which a simulated chip executes
  // all launches anew.
  virtual Status check(const model::ChipletPoint& point) = 0;
  // Sets the arguments.
  virtual Status select(const model::ChipletPoint& point, const Pace& pace) = 0;
  virtual Status launch() = 0;
  virtual Result<double> time_launch() = 0;
  // Bits that one launch brings past the L2s, by arithmetic.
  [[nodiscard]] virtual double bits(const model::ChipletPoint& point, const Pace& pace) const = 0;
  [[nodiscard]] virtual const std::string& hash() const = 0;
};

}  // namespace ww::microbench
