// A code object in device memory, with its instructions lowered.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "compute_unit/device_memory.hpp"
#include "isa/launch_state.hpp"
#include "isa/micro_op.hpp"
#include "isa/operands.hpp"
#include "isa/straight_line.hpp"
#include "launch/lower.hpp"
#include "translate/translations.hpp"
#include "ww/binpatch/code_object.hpp"

namespace ww::sim::gpu::exec {

class Program {
 public:
  // `translate_after`: Options::translate_after. `f64_rate_divisor`: the chip's.
  // Errors: unsupported (another GPU's code), out_of_range (no room), parse_error (no code).
  static Result<std::unique_ptr<Program>> load(const binpatch::CodeObject& object,
                                               const std::string& target, DeviceMemory& memory,
                                               std::uint32_t translate_after, int f64_rate_divisor);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] const std::vector<binpatch::Kernel>& kernels() const { return kernels_; }
  // Index into kernels(); nothing for an unknown name.
  [[nodiscard]] std::optional<std::size_t> find(const std::string& name) const;
  [[nodiscard]] const MicroOp* code() const { return code_.data(); }
  [[nodiscard]] const StraightLines& straight_lines() const { return straight_lines_; }
  // Null on hosts that have no use for them.
  [[nodiscard]] Translations* translations() const { return translations_.get(); }
  [[nodiscard]] std::uint32_t code_dwords() const {
    return static_cast<std::uint32_t>(code_.size());
  }
  // Behind the last scalar register that the code names, up to kSpecialScalars, in whole lines of
  // the host's caches.
  [[nodiscard]] std::uint32_t scalar_end() const { return scalar_end_; }
  // Compilers also allocate accumulation registers that fill up a granule and that no code names,
  // wherever a jump may lead.
  [[nodiscard]] bool names_accumulators() const { return names_accumulators_; }
  [[nodiscard]] Isa isa() const { return isa_; }
  [[nodiscard]] std::uint64_t code_address() const { return code_address_; }
  // Device address of what the code object calls `address`.
  [[nodiscard]] std::uint64_t device_address(std::uint64_t address) const {
    return image_ + address;
  }

 private:
  explicit Program(DeviceMemory& memory) : memory_(memory) {}

  DeviceMemory& memory_;
  Isa isa_{};
  std::uint64_t image_{};
  std::uint64_t code_address_{};
  std::vector<binpatch::Kernel> kernels_;
  std::vector<MicroOp> code_;
  StraightLines straight_lines_;
  std::uint32_t scalar_end_{};
  bool names_accumulators_{};
  ConstantPool pool_;
  std::unique_ptr<Translations> translations_;
};

}  // namespace ww::sim::gpu::exec
