#include "fast/translate/host_code.hpp"

#include <sys/mman.h>
#include <xbyak/xbyak.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "fast/translate/parts.hpp"
#include "fast/translate/slice_code.hpp"

namespace ww::sim::gpu::exec::translate {
namespace {

using namespace Xbyak::util;  // the names of its registers

constexpr std::size_t kMaxBytes = 1UL << 20;  // of a function
constexpr std::size_t kChunkBytes = 256UL << 10;
constexpr std::size_t kAlignment = 64;

// A slice none of whose lanes is enabled: masks that the stretch writes are zero there.
void write_no_lanes(SliceAssembler& host, std::span<const MicroOp* const> code) {
  for (const MicroOp* op : code) {
    if (writes_mask(*op)) host.clear_mask(op->destination2 * sizeof(std::uint32_t));
  }
}

// A function: as many instructions as make sense on one group of slices after the other, and so on.
class FunctionCode {
 public:
  FunctionCode(SliceAssembler& host, FloatMode mode)
      : host_(host), a_(host.generator()), mode_(mode), masked_(host.masked()) {}

  bool write(std::span<const MicroOp* const> code) {
    host_.write_constants();
    a_.mov(kMasks, kScalars);
    while (!code.empty()) {
      const std::size_t written = write_part(code);
      if (written == 0) return false;
      code = code.subspan(written);
    }
    a_.vzeroupper();
    a_.ret();
    for (Careful& careful : careful_) {
      a_.L(careful.begin);
      Xbyak::Label again;
      begin_steps(r8d, careful.slices, 1, again);
      for (auto rest = careful.code; !rest.empty();) {
        const std::size_t written = SliceCode(host_, rest, 1, mode_, nullptr).write();
        if (written == 0) return false;
        rest = rest.subspan(written);
      }
      end_steps(r8d, careful.slices, 1, again);
      SliceCode::clear_flags(a_);
      a_.jmp(careful.next, Xbyak::CodeGenerator::T_NEAR);
    }
    host_.literals().write();
    return true;
  }

 private:
  // Keeps the end of a part's code: the careful way through the part, one slice of the group after
  // the other.
  struct Careful {
    Xbyak::Label begin;
    Xbyak::Label next;
    std::span<const MicroOp* const> code;
    std::uint32_t slices;
  };

  // Repeats the code between them for `slices` slices, `step` at a time.
  void begin_steps(Xbyak::Reg32 counter, std::uint32_t slices, std::uint32_t step,
                   Xbyak::Label& again) {
    if (slices == step) return;
    a_.mov(counter, slices / step);
    a_.L(again);
  }
  void end_steps(Xbyak::Reg32 counter, std::uint32_t slices, std::uint32_t step,
                 Xbyak::Label& again) {
    if (slices == step) return;
    a_.add(kVectors, step * shape_.bytes());
    a_.add(kMasks, step * shape_.mask_bytes());
    a_.dec(counter);
    a_.jnz(again, Xbyak::CodeGenerator::T_NEAR);
    a_.sub(kVectors, slices * shape_.bytes());
    a_.sub(kMasks, slices * shape_.mask_bytes());
  }

  // Writes all slices of the code's front, some at a time; how many instructions, or 0.
  std::size_t write_part(std::span<const MicroOp* const> code) {
    Careful careful;
    Xbyak::Label again;
    Xbyak::Label none;
    Xbyak::Label done;
    // Each slice has its own enabled lanes.
    const Group group = masked_ ? Group{1, code.size()} : group_for(code, host_.vectors());
    code = code.first(group.instructions);
    const bool hopeful = SliceCode::worth_hoping(code, host_.vectors(), group.slices);
    if (hopeful && !std::exchange(flags_cleared_, true)) SliceCode::clear_flags(a_);
    begin_steps(ecx, shape_.slices(), group.slices, again);
    if (masked_) host_.read_enabled(kExec * sizeof(std::uint32_t), none);
    SliceCode slice(host_, code, group.slices, mode_, hopeful ? &careful.begin : nullptr);
    const std::size_t written = slice.write();
    if (written == 0) return 0;
    careful.code = code.first(written);
    careful.slices = group.slices;
    a_.L(careful.next);
    end_steps(ecx, shape_.slices(), group.slices, again);
    if (masked_) {
      a_.jmp(done, Xbyak::CodeGenerator::T_NEAR);
      a_.L(none);
      write_no_lanes(host_, careful.code);
      a_.jmp(careful.next, Xbyak::CodeGenerator::T_NEAR);
      a_.L(done);
    }
    if (slice.may_give_up()) careful_.push_back(std::move(careful));
    return written;
  }

  SliceAssembler& host_;
  Xbyak::CodeGenerator& a_;
  const SliceShape shape_{host_.shape()};
  FloatMode mode_;
  bool masked_;
  bool flags_cleared_{};
  std::vector<Careful> careful_;
};

}  // namespace

HostCode::HostCode(HostVectors vectors)
    : vectors_(vectors),
      generator_(std::make_unique<Xbyak::CodeGenerator>(kMaxBytes, Xbyak::DontSetProtectRWE)) {}

HostCode::~HostCode() {
  for (const Chunk& chunk : chunks_) munmap(chunk.bytes, chunk.size);
}

HostFunction HostCode::make(const MicroOp* first, std::uint32_t count, FloatMode mode,
                            bool masked) {
  std::vector<const MicroOp*> code;
  std::deque<MicroOp> made;
  for (; count != 0; --count, first += first->dwords) {
    const auto parts = has_parts(*first) ? parts_of(*first, mode.flush) : std::nullopt;
    if (!parts) code.push_back(first);
    for (std::size_t i = 0; parts && i < parts->size(); ++i) {
      code.push_back(&made.emplace_back((*parts)[i]));
    }
  }
  try {
    generator_->reset();
    const auto host = vectors_ == HostVectors::avx512 ? make_avx512(*generator_, masked)
                                                      : make_avx2(*generator_, masked);
    if (!FunctionCode(*host, mode).write(code)) return nullptr;
    return reinterpret_cast<HostFunction>(keep(generator_->getCode(), generator_->getSize()));
  } catch (const Xbyak::Error&) {  // too long, or too few registers
    return nullptr;
  }
}

HostForms HostCode::make_forms(const MicroOp* first, std::uint32_t count) {
  generator_->reset();
  write_forms(*generator_, first, count);
  return reinterpret_cast<HostForms>(keep(generator_->getCode(), generator_->getSize()));
}

// Keeps code in executable memory; null where the host has none.
std::byte* HostCode::keep(const std::uint8_t* code, std::size_t size) {
  if (chunks_.empty() || used_ + size > chunks_.back().size) {
    const std::size_t bytes = std::max(kChunkBytes, size);
    void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    chunks_.push_back({static_cast<std::byte*>(memory), bytes});
    used_ = 0;
  }
  std::byte* const place = chunks_.back().bytes + used_;
  std::memcpy(place, code, size);
  used_ += (size + kAlignment - 1) / kAlignment * kAlignment;
  return place;
}

}  // namespace ww::sim::gpu::exec::translate
