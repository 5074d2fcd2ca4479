// The launches of one kernel, added up.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ww/measure/counter_file.hpp"
#include "ww/measure/counter_map.hpp"
#include "ww/model/estimate.hpp"

namespace ww::session {

// A counter's total in a dispatch, by a literal name.
[[nodiscard]] std::optional<double> counter(const measure::CounterDispatch& dispatch,
                                            const char* name);

class KernelSum {
 public:
  // `architecture` says how to read the counters. It outlives the sum, as launches do.
  explicit KernelSum(const std::string& architecture) : architecture_(architecture) {}
  void add(const measure::CounterDispatch& dispatch);
  [[nodiscard]] model::KernelTraffic traffic(const std::string& name) const;

 private:
  // Counts of the virtual GPU's monitors. A 0 of theirs is a fact.
  struct Monitors {
    bool any{};
    std::array<std::optional<model::WireActivity>, 3> wires;
    std::optional<model::WireActivity> legs, trunks_mm, legs_mm;
    double register_bits{};
    bool registers{true};
    double xbar_bits{};
    double xbar_bit_mm{};
    void add(const measure::CounterDispatch& dispatch);
    void put(model::KernelTraffic& result) const;
  };
  using Launches = std::vector<const measure::CounterDispatch*>;

  [[nodiscard]] Launches counted_launches() const;
  void put_times(model::KernelTraffic& result) const;
  void put_bytes(model::KernelTraffic& result) const;

  const std::string& architecture_;
  Launches launches_;
  Monitors monitors_;
};

}  // namespace ww::session
