// Pre-decoded instructions: operands resolved to register indices or broadcast constants, semantics
// to a function pointer. One micro-op for each dword of code, so that the program counter counts
// dwords and a jump into the middle of an instruction does what the hardware does.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ww/binpatch/isa/opcode.hpp"

namespace ww::sim::gpu::exec {

using binpatch::isa::Opcode;

inline constexpr int kLanes = 64;

struct Wave;
struct MicroOp;
using Handler = void (*)(Wave&, const MicroOp&);

// Masks that a vector function takes and gives beside its lanes: carry, condition, enabled lanes.
struct LaneContext {
  std::uint64_t mask_in{};
  std::uint64_t mask_out{};
  std::uint64_t exec{};
  bool ieee{true};  // the wave's mode: minimum and maximum pass a signalling NaN on, quiet
};
// A wave's mode for floats of 32 bits.
struct FloatMode {
  bool flush{};  // denormals are zeros
  bool ieee{true};
};
// Change of a float's result after its operation, by a wave's mode.
struct ResultChange {
  std::uint8_t omod{};  // 0: none
  bool clamp{};
  bool keeps_nan{};  // clamp leaves a NaN as it is
};
// One operation over 64 lanes. Registers are [64] words; a 64-bit value is two consecutive
// registers, the low words first. The destination may be one of the sources.
using LaneFunction = void (*)(std::uint32_t* d, const std::uint32_t* a, const std::uint32_t* b,
                              const std::uint32_t* c, LaneContext& context);

// Part of the CU that issues it.
enum class Unit : std::uint8_t { valu, salu, branch, internal, smem, vmem, lds };

enum class Source : std::uint8_t { none, vgpr, scalar, constant };

// Scalar operands live in one file by their hardware number.
enum ScalarIndex : std::uint16_t {
  kFlatScratch = 104,
  kVcc = 106,
  kTba = 108,
  kTma = 110,
  kTtmp = 112,
  kM0 = 124,
  kExec = 126,
  kXnackMask = 102,
  kSharedBase = 235,  // of the flat apertures, and their ends; computed when read
  kSharedLimit = 236,
  kPrivateBase = 237,
  kPrivateLimit = 238,
  kVccz = 251,  // computed when read
  kExecz = 252,
  kScc = 253,
  kScalarFile = 128,
  kDiscard = kScalarFile,  // what is written to the null register (gfx10)
  kNull = 239,             // reads as zero
};

enum class Destination : std::uint8_t { none, vgpr, vgpr_pair, vgpr_quad, mask };

// Vector registers of a result that goes to such registers.
[[nodiscard]] constexpr unsigned register_count(Destination result) {
  return result == Destination::vgpr_quad ? 4 : result == Destination::vgpr_pair ? 2 : 1;
}

// Names the needs of a vector instruction beside its function while all lanes are enabled.
enum class Plain : std::uint8_t {
  no,       // more than this list has: Handler
  lanes,    // nothing
  carry,    // its mask goes to a scalar register pair
  compare,  // as `carry`, and there are no lanes to write
};

struct VectorFields {
  LaneFunction function[2];  // [flush f32 denormals]
  // Places of the sources: bytes from the vector or the scalar registers; of a constant the address
  // of 128 words, broadcast low, then high.
  std::uintptr_t at[3];
  bool scalar_first;        // the functions take one word as first source
  std::uint8_t wide;        // bit i: source i is 64 bits
  std::uint8_t float_bits;  // 0 integer, 32 or 64: what neg, abs, omod and clamp mean
  std::uint8_t abs, neg, omod;
  bool clamp;
  bool mask_in;      // takes a mask (MicroOp::mask_source)
  bool writes_exec;  // v_cmpx
  bool carry_out;    // a mask goes to destination2 beside the lanes
  // Operands of 16 bits, and VOP3P's choices of halves (vector_forms.hpp). Bit i: source i.
  std::uint8_t result_bits;
  std::uint16_t halves : 4;       // op_sel; bit 3: the result's
  std::uint16_t halves_high : 3;  // op_sel_hi
  std::uint16_t narrow : 3;       // 16 bits wide
  std::uint16_t preserves : 1;    // the result leaves the other half
  std::uint16_t short_mask : 1;   // masks are one scalar register: a wave of 32
};

// An instruction on registers whose lanes follow one another; false where it has to be executed
// lane by lane (lane_forms.hpp).
using FormFunction = bool (*)(Wave&, const MicroOp&);

enum class MemoryKind : std::uint8_t { load, store, atomic, atomic_return };
enum class AtomicOp : std::uint8_t {
  swap,
  cmpswap,
  add,
  sub,
  rsub,
  smin,
  umin,
  smax,
  umax,
  and_,
  or_,
  xor_,
  inc,
  dec,
  fcmpswap,
  fmin,
  fmax,
  mskor,
  wrap,
  fadd,
  fadd_halves,  // two at once
};

struct MemoryFields {
  std::uint32_t offset;
  std::uint8_t element_bytes;  // per lane: 1, 2, 4, 8, 12 or 16 (atomics: of one operand)
  bool sign_extend;
  MemoryKind kind;
  AtomicOp atomic;
  bool glc, addr64, offen, idxen;
  bool past_gl1;  // neither served by the cache of the shader array nor kept in it
  bool flat;
  std::uint8_t half;  // of 16-bit data: 0 whole registers, 1 their low halves, 2 their high ones
  std::uint16_t address;   // VGPR
  std::uint16_t resource;  // SGPR of the buffer descriptor, or of an SMRD's base
  // DS with two addresses
  std::uint8_t parts;     // 1 or 2
  std::uint16_t offset2;  // bytes
  std::uint16_t data2;    // VGPR of the second datum
  bool lane_addresses;    // flat_ and global_: each lane has a 64-bit address
  // Place, from 1 on, of a load whose address is found ahead (load_addresses.hpp) among such loads,
  // and the dword of the next one; else 0.
  std::uint8_t place;
  std::uint32_t next_load;
  // Images and typed buffers (image_memory.cpp); `parts` is then the most address registers.
  std::uint16_t sampler;  // SGPR of the sampler descriptor
  std::uint8_t channels;  // bit i: channel i has a register; 0 for all others
  bool packed_halves;     // two channels a register
  bool packed_addresses;  // two addresses a register: 16-bit integers, or halves with a sampler
  bool declares_array, unnormalized, has_level;
  std::uint8_t gathered;  // channel of each of four texels, from 1 on; else 0
  // The first of them is `address`, byte i of `offset` is the VGPR of the one after that.
  bool separate;
};

// The register of an image's address i.
[[nodiscard]] constexpr std::uint32_t image_address(const MemoryFields& fields, unsigned i) {
  return fields.separate && i != 0 ? fields.offset >> 8 * (i - 1) & 0xFFU : fields.address + i;
}

struct ScalarFields {
  std::uint64_t constant[2];  // sources that are constants, widened
};

// The first 64 bytes are all that straight-line code needs of a vector instruction.
struct alignas(64) MicroOp {
  Handler run{};
  Unit unit{Unit::internal};
  std::uint8_t cycles{4};  // that the issuing unit is taken
  std::uint8_t dwords{1};
  // Reads and writes registers of its wave alone, cannot fail and does not depend on the time or
  // the program counter: may be executed ahead of its turn (straight_line.hpp).
  bool straight{};
  Source kind[3]{};
  Destination result{Destination::none};
  std::uint16_t destination{};
  std::uint16_t destination2{};     // carry or mask: scalar register pair
  std::uint16_t mask_source{kVcc};  // scalar register pair of the mask that it reads
  Plain plain{Plain::no};
  bool whole{};  // a vector instruction that takes and gives whole registers, no parts of them
  union {
    VectorFields vector;
    MemoryFields memory;
    ScalarFields scalar;
  };
  Opcode opcode{};
  std::uint16_t source[4]{};
  std::int32_t immediate{};  // simm16; branches: target relative to the next instruction
  // Bits of the first 64 vector registers that it reads and writes when it issues; not the
  // addresses of flat and global accesses.
  std::uint64_t reads{};
  std::uint64_t writes{};
  FormFunction form{};         // null: none
  std::uint16_t form_at[3]{};  // where the wave has the sources, in bytes from its beginning
  bool reads_vcc{};            // or might
  bool approximated{};         // a card may give other last bits (approximated.hpp)
  MicroOp() : scalar{} {}
};
static_assert(sizeof(MicroOp) == 128);
static_assert(offsetof(MicroOp, vector) + offsetof(VectorFields, scalar_first) == 64);

}  // namespace ww::sim::gpu::exec
