#include "fast/translate/form_code.hpp"

#include <xbyak/xbyak.h>

#include <cstddef>
#include <vector>

#include "fast/forms/lane_forms.hpp"
#include "fast/translate/operation.hpp"
#include "machine/isa/wave.hpp"

namespace ww::sim::gpu::exec::translate {
namespace {

using namespace Xbyak::util;  // the names of its registers

constexpr Xbyak::Reg64 kWave = rdi;
constexpr int kWordBits = 32;
// The places of a form's two numbers.
constexpr std::size_t kFirst = offsetof(LaneForm, first);
constexpr std::size_t kStep = offsetof(LaneForm, step);

// Host registers with the numbers of a form.
struct HostForm {
  Xbyak::Reg64 first;
  Xbyak::Reg64 step;
};
constexpr HostForm kA{rax, rdx};
constexpr HostForm kB{r8, r9};
constexpr Xbyak::Reg64 kCount = rcx;
constexpr Xbyak::Reg64 kLastA = r10;
constexpr Xbyak::Reg64 kLastB = r11;
constexpr Xbyak::Reg64 kSpare = rsi;

// Writes the functions of lane_forms.cpp as code, in the same order: an instruction changes nothing
// before it has made sure that its result has a form.
class FormCode {
 public:
  explicit FormCode(Xbyak::CodeGenerator& generator) : a_(generator) {}

  void write(const MicroOp* first, std::uint32_t count) {
    std::vector<Xbyak::Label> no_form(count);  // by instruction
    const MicroOp* op = first;
    for (Xbyak::Label& label : no_form) {
      no_form_ = &label;
      write(*op, *form_rule(*op));
      op += op->dwords;
    }
    leave(count);
    for (std::uint32_t done = 0; done < count; ++done) {
      a_.L(no_form[done]);
      leave(done);
    }
  }

 private:
  void leave(std::uint32_t done) {
    a_.mov(eax, done);
    a_.ret();
  }

  static bool has_step(const MicroOp& op, std::size_t i) { return op.kind[i] == Source::vgpr; }
  static Xbyak::Address word(std::size_t at) {
    return dword[kWave + static_cast<std::uint32_t>(at)];
  }
  static Xbyak::Address words(std::size_t at) {
    return qword[kWave + static_cast<std::uint32_t>(at)];
  }
  static std::size_t form_at(std::size_t index) {
    return offsetof(Wave, form) + index * sizeof(LaneForm);
  }
  static std::size_t scalars_at(std::size_t index) {
    return offsetof(Wave, sr) + index * sizeof(std::uint32_t);
  }

  void give_up_unless_zero() { a_.jnz(*no_form_, Xbyak::CodeGenerator::T_NEAR); }

  // The first number of source i, or of the register behind it.
  void load_first(const MicroOp& op, std::size_t i, const Xbyak::Reg64& to, bool upper = false) {
    if (op.kind[i] == Source::constant) {
      a_.mov(to.cvt32(), constant_of(op, i));
      return;
    }
    const std::size_t next = has_step(op, i) ? sizeof(LaneForm) : sizeof(std::uint32_t);
    a_.mov(to.cvt32(), word(op.form_at[i] + kFirst + (upper ? next : 0)));
  }
  void load_step(const MicroOp& op, std::size_t i, const Xbyak::Reg64& to) {
    has_step(op, i) ? a_.movsxd(to, word(op.form_at[i] + kStep)) : a_.xor_(to.cvt32(), to.cvt32());
  }
  void load(const MicroOp& op, std::size_t i, const HostForm& to) {
    load_first(op, i, to.first);
    load_step(op, i, to.step);
  }
  // `to` += source i.
  void add(const MicroOp& op, std::size_t i, const HostForm& to) {
    if (op.kind[i] == Source::constant) {
      a_.add(to.first.cvt32(), constant_of(op, i));
      return;
    }
    a_.add(to.first.cvt32(), word(op.form_at[i] + kFirst));
    if (has_step(op, i)) a_.add(to.step.cvt32(), word(op.form_at[i] + kStep));
  }
  // The distance of a shift, which is the same for all lanes, is in kCount.
  void load_count(const MicroOp& op, std::size_t i) {
    if (has_step(op, i)) {
      a_.cmp(word(op.form_at[i] + kStep), 0);
      give_up_unless_zero();
    }
    load_first(op, i, kCount);
  }
  void store(const HostForm& form, std::size_t index) {
    a_.mov(word(form_at(index) + kFirst), form.first.cvt32());
    a_.mov(word(form_at(index) + kStep), form.step.cvt32());
  }

  // The last lane's number, from a step with its sign.
  void find_last(const HostForm& form, const Xbyak::Reg64& last) {
    a_.imul(last, form.step, static_cast<int>(kLastLane));
    a_.add(last, form.first);
  }
  // Finds a source's word in the last lane; its values between do not wrap around.
  void find_last_word(const MicroOp& op, std::size_t i, const HostForm& form,
                      const Xbyak::Reg64& last) {
    if (!has_step(op, i)) {
      a_.mov(last, form.first);
      return;
    }
    find_last(form, last);
    a_.mov(kSpare, last);
    a_.shr(kSpare, kWordBits);
    give_up_unless_zero();
  }
  // Whether the upper words of two numbers are the same.
  void expect_same_upper(const Xbyak::Reg64& x, const Xbyak::Reg64& y) {
    a_.mov(kSpare, x);
    a_.xor_(kSpare, y);
    a_.shr(kSpare, kWordBits);
    give_up_unless_zero();
  }

  // The carry that comes in, of all lanes: 0 or -1 is in kCount.
  void load_carry(const MicroOp& op) {
    a_.mov(kCount, words(scalars_at(op.mask_source)));
    a_.lea(kSpare, a_.ptr[kCount + 1]);
    a_.shr(kSpare, 1);
    give_up_unless_zero();
  }

  void add_carry_out(const MicroOp& op, bool carry_in) {
    load(op, 0, kA);
    load(op, 1, kB);
    find_last_word(op, 0, kA, kLastA);
    find_last_word(op, 1, kB, kLastB);
    a_.add(kLastA, kLastB);
    a_.add(kA.first, kB.first);
    if (carry_in) {
      load_carry(op);
      a_.sub(kLastA, kCount);
      a_.sub(kA.first, kCount);
    }
    expect_same_upper(kA.first, kLastA);
    a_.add(kA.step.cvt32(), kB.step.cvt32());
    store(kA, op.destination);
    a_.shr(kA.first, kWordBits);
    a_.neg(kA.first);
    a_.mov(words(scalars_at(op.destination2)), kA.first);
  }

  void shift_right(const MicroOp& op, std::size_t value, std::size_t by) {
    load_count(op, by);
    load(op, value, kA);
    find_last_word(op, value, kA, kLastA);
    a_.sar(kA.first.cvt32(), cl);
    a_.sar(kLastA.cvt32(), cl);
    a_.cmp(kA.first.cvt32(), kLastA.cvt32());
    give_up_unless_zero();
    a_.xor_(kA.step.cvt32(), kA.step.cvt32());
    store(kA, op.destination);
  }

  void shift_pair(const MicroOp& op, std::size_t value, std::size_t by) {
    constexpr int kStepBits = 26;
    load_count(op, by);
    if (has_step(op, value)) {
      a_.cmp(word(op.form_at[value] + sizeof(LaneForm) + kStep), 0);
      give_up_unless_zero();
    }
    load(op, value, kA);
    find_last_word(op, value, kA, kLastA);
    load_first(op, value, kB.first, true);
    a_.shl(kB.first, kWordBits);
    a_.or_(kA.first, kB.first);
    a_.shl(kA.first, cl);
    a_.shl(kA.step, cl);
    a_.lea(kSpare, a_.ptr[kA.step + (1 << (kStepBits - 1))]);
    a_.shr(kSpare, kStepBits);
    give_up_unless_zero();
    find_last(kA, kLastA);
    expect_same_upper(kA.first, kLastA);
    store(kA, op.destination);
    a_.shr(kA.first, kWordBits);
    a_.xor_(kA.step.cvt32(), kA.step.cvt32());
    store(kA, op.destination + 1U);
  }

  void subtract(const MicroOp& op, std::size_t from, std::size_t what) {
    load(op, from, kA);
    load(op, what, kB);
    a_.sub(kA.first.cvt32(), kB.first.cvt32());
    a_.sub(kA.step.cvt32(), kB.step.cvt32());
    store(kA, op.destination);
  }

  void shift_left(const HostForm& form) {
    a_.shl(form.first.cvt32(), cl);
    a_.shl(form.step.cvt32(), cl);
  }

  void write(const MicroOp& op, FormRule rule) {
    switch (rule) {
      case FormRule::move: load(op, 0, kA); break;
      case FormRule::add:
      case FormRule::add_three:
        load(op, 0, kA);
        add(op, 1, kA);
        if (rule == FormRule::add_three) add(op, 2, kA);
        break;
      case FormRule::add_carry_in:
        load_carry(op);
        load(op, 0, kA);
        add(op, 1, kA);
        a_.sub(kA.first.cvt32(), kCount.cvt32());
        break;
      case FormRule::shift_left:
      case FormRule::shift_left_add:
        load_count(op, 1);
        load(op, 0, kA);
        shift_left(kA);
        if (rule == FormRule::shift_left_add) add(op, 2, kA);
        break;
      case FormRule::shift_left_reversed:
        load_count(op, 0);
        load(op, 1, kA);
        shift_left(kA);
        break;
      case FormRule::add_shift_left:
        load_count(op, 2);
        load(op, 0, kA);
        add(op, 1, kA);
        shift_left(kA);
        break;
      case FormRule::subtract: return subtract(op, 0, 1);
      case FormRule::subtract_reversed: return subtract(op, 1, 0);
      case FormRule::add_carry_out: return add_carry_out(op, false);
      case FormRule::add_carry: return add_carry_out(op, true);
      case FormRule::shift_right: return shift_right(op, 0, 1);
      case FormRule::shift_right_reversed: return shift_right(op, 1, 0);
      case FormRule::shift_pair: return shift_pair(op, 0, 1);
      case FormRule::shift_pair_reversed: return shift_pair(op, 1, 0);
      default: return;
    }
    store(kA, op.destination);
  }

  Xbyak::CodeGenerator& a_;
  Xbyak::Label* no_form_{};
};

}  // namespace

bool can_follow(const MicroOp& op) {
  const auto rule = form_rule(op);
  if (!rule) return false;
  switch (*rule) {
    case FormRule::subtract_carry_out:
    case FormRule::subtract_reversed_carry_out:
    case FormRule::multiply:
    case FormRule::multiply_24:
    case FormRule::multiply_24_add:
    case FormRule::multiply_add_pair:
    case FormRule::shift_left_add_pair: return false;
    // A wide constant has an upper word of its own.
    case FormRule::shift_pair: return op.kind[0] != Source::constant;
    case FormRule::shift_pair_reversed: return op.kind[1] != Source::constant;
    default: return true;
  }
}

void write_forms(Xbyak::CodeGenerator& generator, const MicroOp* first, std::uint32_t count) {
  FormCode(generator).write(first, count);
}

}  // namespace ww::sim::gpu::exec::translate
