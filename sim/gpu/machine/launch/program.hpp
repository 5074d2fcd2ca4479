// A code object in device memory, with its instructions lowered.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fast/forms/straight_line.hpp"
#include "fast/translate/translations.hpp"
#include "machine/compute_unit/device_memory.hpp"
#include "machine/isa/launch_state.hpp"
#include "machine/isa/micro_op.hpp"
#include "machine/isa/operands.hpp"
#include "machine/launch/lower.hpp"
#include "ww/binpatch/code_object.hpp"

namespace ww::sim::gpu::exec {

// The program's instructions as waves of one size execute them.
struct LoweredCode {
  std::vector<MicroOp> ops;
  StraightLines straight_lines;
  // Number behind the last scalar register that the code names, up to kSpecialScalars, in whole
  // lines of the host's caches.
  std::uint32_t scalar_end{};
  // Compilers also allocate accumulation registers that fill up a granule and that no code names,
  // wherever a jump may lead.
  bool names_accumulators{};
  ConstantPool pool;
  std::unique_ptr<Translations> translations;  // null on hosts that have no use for them
};

class Program {
 public:
  // `translate_after`: Tricks::translate_after. `f64_rate_divisor`: the chip's.
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
  // Offset at which the kernel's arguments have the address of its queue (hidden_queue_ptr).
  [[nodiscard]] std::optional<std::uint32_t> queue_argument(std::size_t kernel) const {
    return queue_arguments_[kernel];
  }
  // Returns the code as the waves of that kernel execute it: some kernels of RDNA may have waves of
  // 32 lanes, others of 64.
  [[nodiscard]] const LoweredCode& code_of(const binpatch::Kernel& kernel) const;
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
  std::vector<std::optional<std::uint32_t>> queue_arguments_;  // of each kernel
  // Code for waves of 64 lanes and of 32; null where no kernel has such waves.
  std::unique_ptr<LoweredCode> whole_;
  std::unique_ptr<LoweredCode> half_;
};

}  // namespace ww::sim::gpu::exec
