#include "translate/host_code.hpp"

#include <sys/mman.h>
#include <xbyak/xbyak.h>

#include <algorithm>
#include <cstring>

#include "translate/slice_code.hpp"

namespace ww::sim::gpu::exec::translate {
namespace {

using namespace Xbyak::util;  // the names of its registers

constexpr int kSliceLanes = 16;
constexpr int kSlices = kLanes / kSliceLanes;
constexpr std::size_t kMostBytes = 256UL << 10;  // of a function
constexpr std::size_t kChunkBytes = 256UL << 10;
constexpr std::size_t kAlignment = 64;

// A slice none of whose lanes is enabled: masks that the stretch writes are zero there.
void write_no_lanes(Xbyak::CodeGenerator& generator, const std::vector<const MicroOp*>& code) {
  for (const MicroOp* op : code) {
    if (op->result != Destination::mask && !op->vector.carry_out) continue;
    generator.mov(word[kMasks + op->destination2 * sizeof(std::uint32_t)], 0);
  }
}

bool write_function(Xbyak::CodeGenerator& generator, const std::vector<const MicroOp*>& code,
                    bool flush, bool masked) {
  Literals literals(generator);
  SliceCode slice(generator, literals, code, flush, masked);
  Xbyak::Label again;
  Xbyak::Label next;
  Xbyak::Label none;
  slice.write_constants();
  generator.mov(kMasks, kScalars);
  generator.mov(ecx, kSlices);
  generator.L(again);
  if (masked) {
    generator.movzx(eax, word[kMasks + kExec * sizeof(std::uint32_t)]);
    generator.test(eax, eax);
    generator.jz(none, Xbyak::CodeGenerator::T_NEAR);
    generator.kmovw(k1, eax);
  }
  if (!slice.write()) return false;
  generator.L(next);
  generator.add(kVectors, kSliceLanes * static_cast<int>(sizeof(std::uint32_t)));
  generator.add(kMasks, kSliceLanes / 8);
  generator.dec(ecx);
  generator.jnz(again, Xbyak::CodeGenerator::T_NEAR);
  generator.vzeroupper();
  generator.ret();
  if (masked) {
    generator.L(none);
    write_no_lanes(generator, code);
    generator.jmp(next, Xbyak::CodeGenerator::T_NEAR);
  }
  literals.write();
  return true;
}

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
    if (!write_function(*generator_, code, flush, masked)) return nullptr;
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
