// Image instructions (MIMG) and loads and stores of typed buffers (MUBUF with a format): operands,
// texels, registers. Lines, L1 and completion are those of other vector memory instructions.
// Sources: AMD Sea Islands and "Vega" ISA, chapter "Vector memory operations: image".
#include <algorithm>
#include <bit>
#include <cstring>

#include "machine/compute_unit/compute_unit.hpp"
#include "machine/compute_unit/memory_operation.hpp"
#include "machine/image/image_access.hpp"
#include "machine/image/image_resource.hpp"
#include "machine/image/image_sample.hpp"
#include "machine/isa/operands.hpp"
#include "machine/memory/memory_instructions.hpp"
#include "machine/memory/vector_memory.hpp"

namespace ww::sim::gpu::exec {
namespace {

using binpatch::isa::Instruction;
using binpatch::isa::OperandKind;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr U32 kLastRegister = 255;

// Cycles that a wave takes a CU's four texture units, which make four addresses, or one filtered
// texel each, a cycle; a filtered texel of 8 bytes takes two cycles, one of 16 bytes four, and
// filtering between slices all of it twice. Source: AMD, "Graphics Cores Next (GCN) Architecture"
// white paper, 2012, and the filter rates that its data sheets give by format.
std::int64_t texture_cycles(const ImageAccess& access, std::size_t taps) {
  constexpr std::int64_t kAddresses = kLanes / 4;
  if (taps <= 1) return kAddresses;
  const std::int64_t width = std::max<std::int64_t>(1, access.texel_bytes / 4);
  return kAddresses * width * (taps == TapSet::kMax ? 2 : 1);
}

// The lanes' values of one address: a coordinate, a layer or a level.
class Address {
 public:
  Address() = default;
  Address(Wave& wave, const MemoryFields& m, unsigned i)
      : words_(
            wave.vgpr(std::min(image_address(m, m.packed_addresses ? i / 2 : i), kLastRegister))),
        shift_(m.packed_addresses ? 16 * (i % 2) : 0),
        half_(m.packed_addresses) {}

  [[nodiscard]] bool given() const { return words_ != nullptr; }
  [[nodiscard]] U32 integer(std::size_t lane) const {
    return half_ ? words_[lane] >> shift_ & 0xFFFFU : words_[lane];
  }
  [[nodiscard]] float real(std::size_t lane) const {
    return std::bit_cast<float>(half_ ? half_as_float(integer(lane)) : words_[lane]);
  }

 private:
  const U32* words_{};
  unsigned shift_{};
  bool half_{};
};

void fail_launch(Wave& wave, const Error& error) {
  wave.cu->fault(wave, error.code, error.message);
}

// gfx10 and later say which kind of image the addresses are of.
bool names_array(std::uint8_t dim) {
  constexpr std::uint8_t kArray1d = 4;
  constexpr std::uint8_t kArray2d = 5;
  return dim == kArray1d || dim == kArray2d;
}

bool is_load(const MemoryFields& m) {
  return m.kind == MemoryKind::load;
}

// Registers of the instruction's channels.
U32 register_words(U32 channels, bool halves) {
  const auto count = static_cast<U32>(std::popcount(channels));
  return halves ? (count + 1) / 2 : count;
}

MemoryOperation& prepare_texels(Wave& wave, const MicroOp& op, const TexelFormat& format,
                                U32 bytes_of_texel) {
  const MemoryFields& m = op.memory;
  MemoryOperation& operation = *wave.cu->new_operation(wave, true);
  operation.kind = m.kind;
  operation.element_bytes = static_cast<std::uint8_t>(bytes_of_texel);
  operation.destination = op.destination;
  operation.instruction = wave.pc - op.dwords;
  operation.exec = wave.exec();
  if (operation.bytes->image == nullptr) {
    operation.bytes->image = wave.cu->new_image_access();
  }
  ImageAccess& access = *operation.bytes->image;
  access.format = format;
  access.texel_bytes = bytes_of_texel;
  access.channels = m.channels;
  access.halves = m.packed_halves;
  access.gathered = m.gathered;
  access.inside = 0;
  access.border = border_channels(format);
  access.taps.count = 0;
  access.cycles = texture_cycles(access, 1);
  operation.image = true;
  if (is_load(m)) {
    operation.words = static_cast<std::uint16_t>(register_words(m.channels, m.packed_halves));
    if (bytes_of_texel < 4) std::fill_n(operation.data(), kLanes, 0U);
  }
  return operation;
}

// A register's half as a float's bits, or as an integer that keeps its sign where the format has
// one.
U32 widened_half(U32 half, NumberFormat number) {
  switch (number) {
    case NumberFormat::uint: return half;
    case NumberFormat::sint:
      return static_cast<U32>(static_cast<std::int32_t>(static_cast<std::int16_t>(half)));
    default: return half_as_float(half);
  }
}

U32 narrowed_half(U32 value, NumberFormat number) {
  const bool integer = number == NumberFormat::uint || number == NumberFormat::sint;
  return integer ? value & 0xFFFFU : float_as_half(value);
}

// Packs the data of a store: its lanes' registers as texels.
void pack_data(Wave& wave, const MicroOp& op, MemoryOperation& operation) {
  const MemoryFields& m = op.memory;
  const ImageAccess& access = *operation.bytes->image;
  const std::size_t words = element_words(operation);
  for (U64 set = operation.exec; set != 0; set &= set - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(set));
    Channels channels{};
    U32 place = 0;
    for (std::size_t i = 0; i < channels.size(); ++i) {
      if ((m.channels >> i & 1U) == 0) continue;
      if (access.halves) {
        const U32 word = wave.vgpr(op.source[3] + place / 2)[lane];
        channels[i] = widened_half(word >> 16 * (place % 2) & 0xFFFFU, access.format.number);
      } else {
        channels[i] = wave.vgpr(op.source[3] + place)[lane];
      }
      ++place;
    }
    pack_texel(access.format, channels,
               reinterpret_cast<std::byte*>(operation.data() + lane * words));
  }
  wave.cu->activity.register_bytes +=
      enabled_lanes(operation.exec) * U64{register_words(m.channels, m.packed_halves)} * 4U;
}

// Loads and stores without a sampler: integer coordinates.
U64 find_texels(Wave& wave, const MemoryFields& m, const ImageResource& image,
                MemoryOperation& operation) {
  std::array<Address, 3> coordinate;
  for (unsigned i = 0; i < image.dimensions; ++i) coordinate[i] = Address(wave, m, i);
  unsigned used = image.dimensions;
  Address layer;
  if (image.array && m.declares_array) layer = Address(wave, m, used++);
  const Address level = m.has_level ? Address(wave, m, used) : Address();
  U64 inside = 0;
  for (U64 set = operation.exec; set != 0; set &= set - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(set));
    std::array<U32, 3> at{};
    bool fits = !level.given() || level.integer(lane) == 0;
    for (unsigned i = 0; i < image.dimensions; ++i) {
      at[i] = coordinate[i].integer(lane);
      fits = fits && at[i] < image.size[i];
    }
    U32 slice = at[2];
    if (layer.given()) {
      slice = layer.integer(lane);
      fits = fits && slice < image.layers;
    }
    if (!fits) continue;
    inside |= U64{1} << lane;
    operation.address()[lane] = image.address(at[0], at[1], slice);
  }
  return inside;
}

void run_image(Wave& wave, const MicroOp& op) {
  ComputeUnit& cu = *wave.cu;
  if (!cu.vector_slot_free(wave, op)) return;
  const MemoryFields& m = op.memory;
  const auto image = read_resource(wave.sr + m.resource, cu.launch().isa);
  if (!image) return fail_launch(wave, image.error());
  if (!is_load(m) && image->format.number == NumberFormat::srgb) {
    return fail_launch(wave,
                       {ErrorCode::unsupported, "images of sRGB colours are not written", {}});
  }
  count_vector_memory(cu, op);
  MemoryOperation& operation = prepare_texels(wave, op, image->format, image->texel_bytes);
  if (!is_load(m)) pack_data(wave, op, operation);
  const U64 inside = find_texels(wave, m, *image, operation);
  operation.bytes->image->inside = inside;
  issue_lanes_inside(wave, op, operation, inside);
}

// Where a sample has several texels each of them is a part of the operation.
void spread_taps(const ImageResource& image, const std::array<AxisTaps, 3>& axis, U32 layer,
                 std::size_t lane, TapSet& taps) {
  for (std::size_t i = 0; i < image.dimensions; ++i) {
    taps.fraction[i][lane] = static_cast<std::uint8_t>(axis[i].fraction);
  }
  for (std::size_t tap = 0; tap < taps.count; ++tap) {
    std::array<U32, 3> at{};
    bool inside = true;
    for (std::size_t i = 0; i < image.dimensions; ++i) {
      const std::size_t which = tap >> i & 1U;
      at[i] = axis[i].texel[which];
      inside = inside && axis[i].inside[which];
    }
    if (!inside) continue;
    taps.inside[tap] |= U64{1} << lane;
    taps.address[tap][lane] = image.address(at[0], at[1], image.array ? layer : at[2]);
  }
}

void run_sample(Wave& wave, const MicroOp& op) {
  ComputeUnit& cu = *wave.cu;
  if (!cu.vector_slot_free(wave, op)) return;
  const MemoryFields& m = op.memory;
  const auto image = read_resource(wave.sr + m.resource, cu.launch().isa);
  if (!image) return fail_launch(wave, image.error());
  const auto sampler = read_sampler(wave.sr + m.sampler, cu.launch().isa);
  if (!sampler) return fail_launch(wave, sampler.error());
  if (m.gathered != 0 && image->dimensions != 2) {
    return fail_launch(wave, {ErrorCode::unsupported, "a gather from an image that is not 2D", {}});
  }
  count_vector_memory(cu, op);
  MemoryOperation& operation = prepare_texels(wave, op, image->format, image->texel_bytes);
  ImageAccess& access = *operation.bytes->image;
  if (sampler->opaque_border) {
    access.border = opaque_border_channels(image->format, image->border_alpha);
  }
  // A gather takes the texels that a filter would take, of integers too.
  const bool linear = (sampler->linear && image->has_fractions()) || m.gathered != 0;
  const bool linear_z = sampler->linear_between_slices && image->has_fractions();
  const bool filtered = linear || (linear_z && image->dimensions == 3);
  if (filtered) {
    access.taps.count = std::size_t{1} << image->dimensions;
    access.taps.inside = {};
    access.cycles = texture_cycles(access, access.taps.count);
  }
  std::array<Address, 3> coordinate;
  for (unsigned i = 0; i < image->dimensions; ++i) coordinate[i] = Address(wave, m, i);
  Address layer_of;
  if (image->array && m.declares_array) {
    layer_of = Address(wave, m, static_cast<unsigned>(image->dimensions));
  }
  for (U64 set = operation.exec; set != 0; set &= set - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(set));
    std::array<AxisTaps, 3> axis{};
    bool inside = true;
    for (std::size_t i = 0; i < image->dimensions; ++i) {
      axis[i] = axis_taps(coordinate[i].real(lane), image->size[i], sampler->clamp[i],
                          sampler->unnormalized || m.unnormalized, i == 2 ? linear_z : linear);
      inside = inside && axis[i].inside[0];
    }
    const U32 layer = layer_of.given() ? nearest_layer(layer_of.real(lane), image->layers) : 0U;
    if (filtered) {
      spread_taps(*image, axis, layer, lane, access.taps);
    } else if (inside) {
      access.inside |= U64{1} << lane;
      operation.address()[lane] = image->address(axis[0].texel[0], axis[1].texel[0],
                                                 image->array ? layer : axis[2].texel[0]);
    }
  }
  if (filtered) {
    issue_taps(wave, op, operation);
  } else {
    issue_lanes_inside(wave, op, operation, access.inside);
  }
}

void run_typed_buffer(Wave& wave, const MicroOp& op) {
  ComputeUnit& cu = *wave.cu;
  if (!cu.vector_slot_free(wave, op)) return;
  const MemoryFields& m = op.memory;
  const auto buffer = read_typed_buffer(wave.sr + m.resource, cu.launch().isa);
  if (!buffer) return fail_launch(wave, buffer.error());
  count_vector_memory(cu, op);
  MemoryOperation& operation = prepare_texels(wave, op, buffer->format, buffer->texel_bytes);
  if (!is_load(m)) pack_data(wave, op, operation);
  const U64 inside = find_buffer_addresses(wave, op, operation) & operation.exec;
  operation.bytes->image->inside = inside;
  issue_lanes_inside(wave, op, operation, inside);
}

Channels filtered(const ImageAccess& access, std::size_t lane, std::size_t words) {
  const TapSet& taps = access.taps;
  std::array<double, 4> sum{};
  for (std::size_t tap = 0; tap < taps.count; ++tap) {
    double weight = 1;
    for (std::size_t i = 0; std::size_t{1} << i < taps.count; ++i) {
      const double farther = taps.fraction[i][lane] / 256.0;
      weight *= (tap >> i & 1U) != 0 ? farther : 1 - farther;
    }
    // A texel that has no part in the result is none of its infinities either.
    if (weight == 0) continue;
    const Channels texel =
        (taps.inside[tap] >> lane & 1U) == 0
            ? access.border
            : unpack_texel(access.format,
                           reinterpret_cast<const std::byte*>(taps.data[tap] + lane * words));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weight * std::bit_cast<float>(texel[i]);
  }
  Channels result{};
  for (std::size_t i = 0; i < sum.size(); ++i) {
    result[i] = std::bit_cast<U32>(static_cast<float>(sum[i]));
  }
  return result;
}

// The four texels around a place, from the lower left one against the clock. Source: AMD, "RDNA 2"
// Instruction Set Architecture, IMAGE_GATHER4.
Channels gathered(const ImageAccess& access, std::size_t lane, std::size_t words) {
  constexpr std::array<std::size_t, 4> kTaps{2, 3, 1, 0};
  const std::size_t channel = access.gathered - 1U;
  Channels result{};
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::size_t tap = kTaps[i];
    const bool inside = (access.taps.inside[tap] >> lane & 1U) != 0;
    const auto* texel = reinterpret_cast<const std::byte*>(access.taps.data[tap] + lane * words);
    result[i] = inside ? unpack_texel(access.format, texel)[channel] : access.border[channel];
  }
  return result;
}

void write_channels(Wave& wave, const MemoryOperation& operation, std::size_t lane,
                    const Channels& channels) {
  const ImageAccess& access = *operation.bytes->image;
  U32 place = 0;
  U32 word = 0;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if ((access.channels >> i & 1U) == 0) continue;
    if (!access.halves) {
      wave.vgpr(operation.destination + place++)[lane] = channels[i];
      continue;
    }
    const U32 half = narrowed_half(channels[i], access.format.number);
    word = place % 2 == 0 ? half : word | half << 16;
    wave.vgpr(operation.destination + place++ / 2)[lane] = word;
  }
}

// The modifiers that all of these instructions share.
void set_fields(const Instruction& instruction, MicroOp& op, bool load, U32 channels, bool halves) {
  op.memory = MemoryFields{};
  MemoryFields& m = op.memory;
  m.kind = load ? MemoryKind::load : MemoryKind::store;
  m.glc = instruction.modifiers.glc;
  m.channels = static_cast<std::uint8_t>(channels);
  m.packed_halves = halves;
  // Bytes of the registers, for those who look at code without a descriptor.
  m.element_bytes = static_cast<std::uint8_t>(4 * register_words(channels, halves));
  m.address = instruction.src[0].index;
  m.resource = instruction.src[1].index;
  op.destination = vector_index(instruction.dst[0]);
  op.source[3] = vector_index(instruction.src[3]);
}

}  // namespace

void complete_image(Wave& wave, MemoryOperation& operation) {
  const ImageAccess& access = *operation.bytes->image;
  const std::size_t words = element_words(operation);
  for (U64 set = operation.exec; set != 0; set &= set - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(set));
    if (access.gathered != 0) {
      write_channels(wave, operation, lane, gathered(access, lane, words));
    } else if (access.taps.count != 0) {
      write_channels(wave, operation, lane, filtered(access, lane, words));
    } else if ((access.inside >> lane & 1U) != 0) {
      write_channels(wave, operation, lane,
                     unpack_texel(access.format, reinterpret_cast<const std::byte*>(
                                                     operation.data() + lane * words)));
    } else {
      write_channels(wave, operation, lane, access.border);
    }
  }
}

bool lower_image(const Instruction& instruction, MicroOp& op) {
  const auto& modifiers = instruction.modifiers;
  op.unit = Unit::vmem;
  switch (instruction.opcode) {
    case Opcode::image_load:
    case Opcode::image_load_mip:
    case Opcode::image_store:
    case Opcode::image_store_mip: op.run = run_image; break;
    case Opcode::image_sample:
    case Opcode::image_sample_l:
    case Opcode::image_sample_lz:
    case Opcode::image_gather4:
    case Opcode::image_gather4_lz: op.run = run_sample; break;
    default: return false;
  }
  const bool gathers =
      instruction.opcode == Opcode::image_gather4 || instruction.opcode == Opcode::image_gather4_lz;
  if (instruction.src[1].kind != OperandKind::sgpr) return false;
  const bool load = instruction.dst[0].kind != OperandKind::none;
  constexpr U32 kAllChannels = 15;
  set_fields(instruction, op, load, gathers ? kAllChannels : modifiers.dmask, modifiers.d16);
  MemoryFields& m = op.memory;
  if (gathers) m.gathered = static_cast<std::uint8_t>(std::countr_zero(modifiers.dmask) + 1);
  m.declares_array = modifiers.da || names_array(modifiers.dim);
  m.unnormalized = modifiers.unorm && op.run == run_sample;
  m.has_level =
      instruction.opcode == Opcode::image_load_mip || instruction.opcode == Opcode::image_store_mip;
  m.parts = static_cast<std::uint8_t>(instruction.src[0].count + modifiers.separate_addresses);
  m.packed_addresses = modifiers.a16;
  m.separate = modifiers.separate_addresses != 0;
  if (m.separate) m.offset = modifiers.extra_dword;
  if (op.run == run_sample) {
    if (instruction.src[2].kind != OperandKind::sgpr) return false;
    m.sampler = instruction.src[2].index;
  }
  return true;
}

bool lower_typed_buffer(const Instruction& instruction, MicroOp& op) {
  std::string_view name = binpatch::isa::mnemonic(instruction.opcode);
  const auto& modifiers = instruction.modifiers;
  const bool load = name.starts_with("buffer_load_format_");
  if (!load && !name.starts_with("buffer_store_format_")) return false;
  name.remove_prefix(load ? 19 : 20);
  const bool halves = name.starts_with("d16_");
  if (halves) name.remove_prefix(4);
  if (!std::string_view("xyzw").starts_with(name) || modifiers.tfe || modifiers.lds ||
      modifiers.addr64) {
    return false;
  }
  set_fields(instruction, op, load, (1U << name.size()) - 1, halves);
  op.memory.offen = modifiers.offen;
  op.memory.idxen = modifiers.idxen;
  op.memory.offset = modifiers.offset;
  op.run = run_typed_buffer;
  return lower_buffer_resource(instruction, op);
}

}  // namespace ww::sim::gpu::exec
