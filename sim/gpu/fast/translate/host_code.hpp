// Host functions that execute a stretch of vector instructions on all lanes of a wave, or on the
// forms of its registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fast/translate/form_code.hpp"
#include "fast/translate/host_vectors.hpp"
#include "machine/isa/micro_op.hpp"

namespace ww::sim::gpu::exec::translate {

// Vector registers and scalar registers of a wave.
using HostFunction = void (*)(std::uint32_t* vectors, std::uint32_t* scalars);

class HostCode {
 public:
  explicit HostCode(HostVectors vectors);
  ~HostCode();
  HostCode(const HostCode&) = delete;
  HostCode& operator=(const HostCode&) = delete;

  // `count` instructions that can_translate(), from `first` on, for waves in this mode. `masked`:
  // exec may have any lanes; otherwise it has all. Null where it cannot be made; one caller at a
  // time. The functions live as long as this.
  [[nodiscard]] HostFunction make(const MicroOp* first, std::uint32_t count, FloatMode mode,
                                  bool masked);

  // Makes code on forms of instructions that can_follow().
  [[nodiscard]] HostForms make_forms(const MicroOp* first, std::uint32_t count);

 private:
  // Executable memory.
  struct Chunk {
    std::byte* bytes{};
    std::size_t size{};
  };
  std::byte* keep(const std::uint8_t* code, std::size_t size);

  HostVectors vectors_;
  std::unique_ptr<Xbyak::CodeGenerator> generator_;
  std::vector<Chunk> chunks_;
  std::size_t used_{};  // of the last one
};

}  // namespace ww::sim::gpu::exec::translate
