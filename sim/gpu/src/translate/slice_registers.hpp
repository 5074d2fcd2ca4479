// The host's vector registers while a group of slices, 16 lanes each, goes through a stretch of
// instructions: which of them holds what. A vector register of the wave is loaded when it is first
// read, and written back at the end or when its place is needed.
#pragma once

#include <xbyak/xbyak.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "isa/micro_op.hpp"
#include "translate/slice_group.hpp"

namespace ww::sim::gpu::exec::translate {

inline constexpr std::uint32_t kSliceBytes = kSliceLanes * sizeof(std::uint32_t);
inline constexpr std::uint32_t kSliceMaskBytes = kSliceLanes / 8;

// Where the code of a group of slices finds the wave: vector registers from the first slice's lanes
// on, scalar registers, and the first slice's part of the masks among the latter.
inline constexpr Xbyak::Reg64 kVectors = Xbyak::util::rdi;
inline constexpr Xbyak::Reg64 kScalars = Xbyak::util::rsi;
inline constexpr Xbyak::Reg64 kMasks = Xbyak::util::rdx;
inline constexpr std::uint32_t kRegisterStep = kLanes * sizeof(std::uint32_t);

// Words that the code reads, behind it.
class Literals {
 public:
  explicit Literals(Xbyak::CodeGenerator& assembler) : assembler_(assembler) {}
  [[nodiscard]] Xbyak::Address word(std::uint32_t value);
  [[nodiscard]] Xbyak::Address all_lanes(std::uint32_t value);
  void write();

 private:
  std::size_t offset_of(std::uint32_t value);

  Xbyak::CodeGenerator& assembler_;
  Xbyak::Label label_;
  std::vector<std::uint32_t> words_;
};

// What a host register may hold: a vector register of the wave, or a scalar register or constant in
// all lanes.
struct Held {
  Source kind{};
  std::uint32_t number{};  // of the register; of a constant its value
  bool flushed{};          // a copy without denormals
  std::uint32_t slice{};   // of a vector register; all slices share the others
  bool operator==(const Held&) const = default;
};
[[nodiscard]] Held source_of(const MicroOp& op, std::size_t i);

class SliceRegisters {
 public:
  using Zmm = Xbyak::Zmm;
  static constexpr std::uint32_t kCount = kHostRegisters;

  // `masked`: writing a register needs what it held. `retained`: what the wave's registers held is
  // still in their places until write_back(); the caller ends where they are crowded(). A read()
  // and the like of a vector register is that of the slice which began last.
  SliceRegisters(Xbyak::CodeGenerator& assembler, Literals& literals,
                 std::span<const MicroOp* const> code, std::uint32_t slices, bool masked,
                 bool retained)
      : assembler_(assembler),
        literals_(literals),
        code_(code),
        slices_(slices),
        masked_(masked),
        retained_(retained) {}

  // Instruction `at` of the code begins on a slice: registers of what came before it may be given
  // away.
  void begin(std::size_t at, std::uint32_t slice);
  // To be read, not to be changed.
  [[nodiscard]] Zmm read(Held held);
  // A copy that read() gave before, and still has; nothing where it has not.
  [[nodiscard]] std::optional<Zmm> find(Held held);
  // As fresh(), to be filled with what it then holds.
  [[nodiscard]] Zmm hold(Held held);
  // Its contents are of no interest.
  [[nodiscard]] Zmm fresh();
  // `result` is now the wave's vector register; it came from fresh().
  void bind(std::uint32_t vector, Zmm result, bool flushed);
  // `target`, which read() gave, was changed in some lanes.
  void changed(Zmm target, bool flushed);
  // Whether an instruction on all slices may not find enough registers whose contents need not be
  // written back.
  [[nodiscard]] bool crowded(const MicroOp& op) const;
  // Classes of vfpclass that have to be ruled out before the register's values may be used by all
  // instructions.
  void suspect(Zmm zmm, std::uint8_t classes) { place_[zmm.getIdx()].suspected |= classes; }
  [[nodiscard]] std::uint8_t suspected(Zmm zmm) const { return place_[zmm.getIdx()].suspected; }
  // Those that write_back() will write.
  [[nodiscard]] std::vector<Zmm> results() const;
  void ruled_out(Zmm zmm) { place_[zmm.getIdx()].suspected = 0; }
  // Whether denormals cannot be there.
  [[nodiscard]] bool flushed(Zmm zmm) const { return place_[zmm.getIdx()].flushed; }
  void write_back();

 private:
  struct Place {
    Held held;
    bool taken{};
    bool dirty{};
    bool flushed{};
    bool pinned{};
    std::uint8_t suspected{};
  };
  [[nodiscard]] Held of_this_slice(Held held) const;
  [[nodiscard]] static Xbyak::Address home(Held vector);
  [[nodiscard]] std::size_t next_use(Held held) const;
  std::uint32_t free_place();

  Xbyak::CodeGenerator& assembler_;
  Literals& literals_;
  std::span<const MicroOp* const> code_;
  std::uint32_t slices_;
  bool masked_;
  bool retained_;
  std::size_t at_{};
  std::uint32_t slice_{};
  std::array<Place, kCount> place_{};
};

}  // namespace ww::sim::gpu::exec::translate
