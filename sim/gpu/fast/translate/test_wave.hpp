// Declares a wave by itself for tests, which can be copied with its vector registers.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "machine/isa/operands.hpp"
#include "machine/isa/wave.hpp"

namespace ww::sim::gpu::exec::translate {

inline constexpr binpatch::isa::Operand kVccPair{
    binpatch::isa::OperandKind::special, 2,
    static_cast<std::uint16_t>(binpatch::isa::SpecialRegister::vcc_lo), 0};

// A wave with `vectors` vector registers.
template <std::uint32_t vectors>
struct TestWave {
  struct alignas(64) Registers {
    std::array<std::uint32_t, vectors * kLanes> word{};
  };
  Wave wave{};
  std::unique_ptr<Registers> registers = std::make_unique<Registers>();

  TestWave() { wave.v = registers->word.data(); }
  TestWave(const TestWave& other) : wave(other.wave) {
    *registers = *other.registers;
    wave.v = registers->word.data();
  }
  TestWave& operator=(const TestWave&) = delete;
};

}  // namespace ww::sim::gpu::exec::translate
