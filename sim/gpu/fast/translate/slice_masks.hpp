// Where masks of lanes are while a group of slices goes through a stretch of instructions: in mask
// registers of the host, or in vector registers beside the values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "fast/translate/slice_assembler.hpp"
#include "fast/translate/slice_registers.hpp"

namespace ww::sim::gpu::exec::translate {

class SliceMasks {
 public:
  static constexpr std::uint32_t kSpares = 6;

  SliceMasks(SliceAssembler& host, SliceRegisters& registers)
      : host_(host), registers_(registers) {}

  // The next instruction begins, on a slice.
  void begin(std::uint32_t slice);
  // A place for a mask that keep() gives a name.
  [[nodiscard]] Mask make();
  // Returns a mask for this instruction; from the third on only after forget().
  [[nodiscard]] Mask spare(std::uint32_t i);
  // The slice's part of the wave's mask that begins at the scalar register, if it is here.
  [[nodiscard]] std::optional<Mask> find(std::uint32_t scalar);
  void keep(std::uint32_t scalar, Mask mask);
  // Nothing is found from here on, as far as masks have registers of their own.
  void forget() { held_.fill({}); }

 private:
  // k2 and k3 are spares, k4 to k7 have masks of the wave.
  static constexpr int kFirstSpare = 2;
  static constexpr std::uint32_t kFirstHeld = 4;
  static constexpr std::uint32_t kNone = kScalarFile + 2;
  struct HeldMask {
    std::uint32_t scalar{kNone};
    std::uint32_t slice{};
    bool operator==(const HeldMask&) const = default;
  };

  SliceAssembler& host_;
  SliceRegisters& registers_;
  std::uint32_t slice_{};
  std::array<HeldMask, 4> held_{};
  std::uint32_t next_{};
  std::array<std::optional<Mask>, kSpares> spare_{};  // vector registers
};

}  // namespace ww::sim::gpu::exec::translate
