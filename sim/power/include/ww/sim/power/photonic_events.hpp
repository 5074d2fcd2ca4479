// The structure and the events of a photonic network: the input of its energy accounting.
#pragma once

#include <array>
#include <cstdint>

namespace ww::sim::power {

// The parts that are lit and tuned. They are fixed once the network is built.
struct PhotonicStructure {
  double core_hz{};
  double optical_hz{};
  std::uint32_t stations{};
  std::uint32_t data_units{};        // power units for data: lasers, power tokens
  std::uint32_t overhead_units{};    // always lit: token and prediction waveguides
  std::uint32_t unit_wavelengths{};  // wavelengths that a unit of power lights
  std::uint32_t waveguide_wavelengths{};
  std::uint32_t rings{};       // all of them: each is tuned all the time
  std::uint32_t splitters{};   // in a row, from the laser to the last power waveguide
  double pass_mm{};            // the serpentine from its first station to its last
  std::uint32_t pass_bends{};  // quarter turns on it
};

// Counts since the network was built. Optical cycles are those of optical_hz; they stand still
// while the network halts for its laser control.
struct PhotonicEvents {
  bool present{};  // false: no photonic network
  PhotonicStructure structure;
  std::uint64_t core_cycles{};
  std::uint64_t lit_unit_cycles{};              // data units that are lit, summed over core cycles
  std::uint64_t held_unit_optical_cycles{};     // data units that a station holds
  std::uint64_t busy_station_optical_cycles{};  // of stations that have something to send
  std::uint64_t modulated_bits{};
  std::uint64_t detected_bits{};        // each reader of a broadcast counts
  std::uint64_t messages{};             // sent over a waveguide
  std::uint64_t c_messages{};           // of these, on the C_network
  std::uint64_t local_messages{};       // within a cluster: no light
  std::uint64_t wait_optical_cycles{};  // of messages, in their station, before their first bit
  std::uint64_t data_grabs{};           // tokens taken off their waveguide
  std::uint64_t power_grabs{};
  std::uint64_t failed_attempts{};  // a token did not come by in time: back-off
  std::uint64_t epochs{};           // whose lasers the controller has set
  std::uint64_t halted_cycles{};    // core cycles
  // Number of epochs by units lit, and by units that stations held (over the epoch, rounded up).
  // The last bin has 16 and more.
  using EpochBins = std::array<std::uint64_t, 17>;
  EpochBins epochs_by_lit{}, epochs_by_held{};

  // Mean core cycles of a message from entering the station's queue to its first bit; 0 without
  // messages.
  [[nodiscard]] double wait_cycles_per_message() const;
  // Mean number of data units lit over time: GPUOPT's "tokens per epoch" (table 4).
  [[nodiscard]] double mean_lit_units() const;
  // Mean number of stations with something to send, which GPUOPT's ideal scheme lights (section
  // 4.3.5).
  [[nodiscard]] double mean_busy_stations() const;
  // Share of the lit data units that stations held.
  [[nodiscard]] double use_of_light() const;
  // Messages that a station sends before it gives its data token back.
  [[nodiscard]] double messages_per_grab() const;
  [[nodiscard]] double failed_attempts_per_message() const;
};

PhotonicEvents& operator+=(PhotonicEvents& sum, const PhotonicEvents& other);
// Counts of the time between two snapshots; the structure is kept.
[[nodiscard]] PhotonicEvents operator-(const PhotonicEvents& later, const PhotonicEvents& earlier);

}  // namespace ww::sim::power
