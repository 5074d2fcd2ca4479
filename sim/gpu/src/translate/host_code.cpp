#include "translate/host_code.hpp"

#include <sys/mman.h>
#include <xbyak/xbyak.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "translate/slice_code.hpp"

namespace ww::sim::gpu::exec::translate {
namespace {

using namespace Xbyak::util;  // the names of its registers

constexpr int kSliceLanes = 16;
constexpr int kSliceBytes = kSliceLanes * static_cast<int>(sizeof(std::uint32_t));
constexpr int kSlices = kLanes / kSliceLanes;
constexpr std::size_t kMostBytes = 256UL << 10;  // of a function
constexpr std::size_t kChunkBytes = 256UL << 10;
constexpr std::size_t kAlignment = 64;

// A slice none of whose lanes is enabled: masks that the stretch writes are zero there.
void write_no_lanes(Xbyak::CodeGenerator& generator, std::span<const MicroOp* const> code) {
  for (const MicroOp* op : code) {
    if (op->result != Destination::mask && !op->vector.carry_out) continue;
    generator.mov(word[kMasks + op->destination2 * sizeof(std::uint32_t)], 0);
  }
}

// What stays in registers all the time.
void write_constants(Xbyak::CodeGenerator& generator, Literals& literals) {
  generator.vbroadcastss(kHostNan, literals.word(0xFFC00000));
  generator.vbroadcastss(kDeviceNan, literals.word(0x7FC00000));
}

// A function: as many instructions as make sense on one slice after the other, and so on.
class FunctionCode {
 public:
  FunctionCode(Xbyak::CodeGenerator& generator, bool flush, bool masked)
      : a_(generator), literals_(generator), flush_(flush), masked_(masked) {}

  bool write(std::span<const MicroOp* const> code) {
    write_constants(a_, literals_);
    while (!code.empty()) {
      const std::size_t written = write_part(code);
      if (written == 0) return false;
      code = code.subspan(written);
    }
    a_.vzeroupper();
    a_.ret();
    for (Careful& careful : careful_) {
      a_.L(careful.begin);
      for (auto rest = careful.code; !rest.empty();) {
        const std::size_t written =
            SliceCode(a_, literals_, rest, flush_, masked_, nullptr).write();
        if (written == 0) return false;
        rest = rest.subspan(written);
      }
      SliceCode::clear_flags(a_);
      a_.jmp(careful.next, Xbyak::CodeGenerator::T_NEAR);
    }
    literals_.write();
    return true;
  }

 private:
  // What is left for the end: the careful way through a part.
  struct Careful {
    Xbyak::Label begin;
    Xbyak::Label next;
    std::span<const MicroOp* const> code;
  };

  // From the front of the code on all slices; how many instructions, or 0.
  std::size_t write_part(std::span<const MicroOp* const> code) {
    Careful careful;
    Xbyak::Label again;
    Xbyak::Label none;
    Xbyak::Label done;
    const bool hopeful = SliceCode::worth_hoping(code);
    if (hopeful && !std::exchange(flags_cleared_, true)) SliceCode::clear_flags(a_);
    a_.mov(kMasks, kScalars);
    a_.mov(ecx, kSlices);
    a_.L(again);
    if (masked_) {
      a_.movzx(eax, word[kMasks + kExec * sizeof(std::uint32_t)]);
      a_.test(eax, eax);
      a_.jz(none, Xbyak::CodeGenerator::T_NEAR);
      a_.kmovw(k1, eax);
    }
    SliceCode slice(a_, literals_, code, flush_, masked_, hopeful ? &careful.begin : nullptr);
    const std::size_t written = slice.write();
    if (written == 0) return 0;
    careful.code = code.first(written);
    a_.L(careful.next);
    a_.add(kVectors, kSliceBytes);
    a_.add(kMasks, kSliceLanes / 8);
    a_.dec(ecx);
    a_.jnz(again, Xbyak::CodeGenerator::T_NEAR);
    a_.sub(kVectors, kSlices * kSliceBytes);
    if (masked_) {
      a_.jmp(done, Xbyak::CodeGenerator::T_NEAR);
      a_.L(none);
      write_no_lanes(a_, careful.code);
      a_.jmp(careful.next, Xbyak::CodeGenerator::T_NEAR);
      a_.L(done);
    }
    if (slice.may_give_up()) careful_.push_back(std::move(careful));
    return written;
  }

  Xbyak::CodeGenerator& a_;
  Literals literals_;
  bool flush_;
  bool masked_;
  bool flags_cleared_{};
  std::vector<Careful> careful_;
};

}  // namespace

HostCode::HostCode()
    : generator_(std::make_unique<Xbyak::CodeGenerator>(kMostBytes, Xbyak::DontSetProtectRWE)) {}

HostCode::~HostCode() {
  for (const Chunk& chunk : chunks_) munmap(chunk.bytes, chunk.size);
}

HostFunction HostCode::make(const MicroOp* first, std::uint32_t count, bool flush, bool masked) {
  std::vector<const MicroOp*> code;
  for (; code.size() < count; first += first->dwords) code.push_back(first);
  try {
    generator_->reset();
    if (!FunctionCode(*generator_, flush, masked).write(code)) return nullptr;
    return keep(generator_->getCode(), generator_->getSize());
  } catch (const Xbyak::Error&) {  // too long
    return nullptr;
  }
}

HostFunction HostCode::keep(const std::uint8_t* code, std::size_t size) {
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
  return reinterpret_cast<HostFunction>(place);
}

}  // namespace ww::sim::gpu::exec::translate
