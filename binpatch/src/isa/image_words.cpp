// Sources: AMD, "Sea Islands Series", "Vega", "Instinct MI200", "RDNA 2", RDNA3 and RDNA4
// Instruction Set Architecture, chapter "Microcode formats": MIMG, VIMAGE and VSAMPLE.
#include "isa/image_words.hpp"

#include <algorithm>

#include "isa/decoder.hpp"

namespace ww::binpatch::isa {

namespace {

struct ImageRow {
  std::string_view name;
  std::uint8_t gfx6, gfx8, gfx10, gfx11, gfx12;
};
constexpr std::uint8_t none = 0xff;
constexpr ImageRow kRows[] = {
#define IMAGE(name, gfx6, gfx8, gfx10, gfx11, gfx12) {#name, gfx6, gfx8, gfx10, gfx11, gfx12},
#include "isa/tables/image_names.def"
#undef IMAGE
};

std::uint8_t number_of(const ImageRow& row, Generation generation) {
  if (generation <= Generation::gfx7) return row.gfx6;
  if (generation < Generation::gfx10) return row.gfx8;
  if (is_gfx10(generation)) return row.gfx10;
  return generation == Generation::gfx12 ? row.gfx12 : row.gfx11;
}

// gfx8 cannot gather texels of one row; gfx90a samples in one way alone; gfx940 has no images.
bool has_images(const ImageRow& row, Generation generation) {
  if (generation == Generation::gfx9 || generation == Generation::gfx940) return false;
  if (generation == Generation::gfx8) return row.name != "image_gather4h";
  return generation != Generation::gfx90a || row.name == "image_sample" ||
         !image_shape(row.name).sampler;
}

std::string_view name_of(std::uint32_t number, Generation generation) {
  const auto* const row = std::ranges::find_if(kRows, [&](const ImageRow& each) {
    const std::uint8_t its = number_of(each, generation);
    return its == number && its != none && has_images(each, generation);
  });
  return row == std::end(kRows) ? std::string_view{} : row->name;
}

void take_addresses(std::span<const std::uint32_t> words, ImageWords& out) {
  out.address[0] = static_cast<std::uint8_t>(bits(words[1], 0, 8));
  out.extra_words = static_cast<unsigned>(words.size() - 2);
  for (unsigned i = 1; i < 1 + 4 * out.extra_words; ++i) {
    const std::uint32_t word = words[2 + (i - 1) / 4];
    out.address[i] = static_cast<std::uint8_t>(bits(word, 8 * ((i - 1) % 4), 8));
  }
}

bool before_gfx10(std::span<const std::uint32_t> words, Generation generation, ImageWords& out) {
  const std::uint32_t first = words[0];
  const std::uint32_t second = words[1];
  out.name = name_of(bits(first, 18, 7), generation);
  const bool newest = has_even_tuples(generation);
  out.scc = newest && bit(first, 7);
  out.dmask = bits(first, 8, 4);
  out.unorm = bit(first, 12);
  out.glc = bit(first, 13);
  out.da = bit(first, 14);
  out.a16 = is_gfx9(generation) && bit(first, 15);
  out.r128 = !is_gfx9(generation) && bit(first, 15);
  out.accumulator = newest && bit(first, 16);
  out.tfe = !newest && bit(first, 16);
  out.lwe = bit(first, 17);
  out.slc = bit(first, 25);
  out.data = bits(second, 8, 8);
  out.resource = 4 * bits(second, 16, 5);
  out.sampler = 4 * bits(second, 21, 5);
  out.d16 = bit(second, 31);
  take_addresses(words, out);
  return (bits(first, 0, 8) & (newest ? 0x7fU : 0xffU)) == 0 && bits(second, 26, 5) == 0 &&
         (generation >= Generation::gfx8 || !out.d16);
}

bool of_gfx10(std::span<const std::uint32_t> words, Generation generation, ImageWords& out) {
  const std::uint32_t first = words[0];
  const std::uint32_t second = words[1];
  out.name = name_of(bits(first, 18, 7) | bits(first, 0, 1) << 7, generation);
  out.dim = bits(first, 3, 3);
  out.dlc = bit(first, 7);
  out.dmask = bits(first, 8, 4);
  out.unorm = bit(first, 12);
  out.glc = bit(first, 13);
  out.r128 = bit(first, 15);
  out.tfe = bit(first, 16);
  out.lwe = bit(first, 17);
  out.slc = bit(first, 25);
  out.data = bits(second, 8, 8);
  out.resource = 4 * bits(second, 16, 5);
  out.sampler = 4 * bits(second, 21, 5);
  out.a16 = bit(second, 30);
  out.d16 = bit(second, 31);
  take_addresses(words, out);
  return !bit(first, 6) && !bit(first, 14) && bits(second, 26, 4) == 0;
}

bool of_gfx11(std::span<const std::uint32_t> words, Generation generation, ImageWords& out) {
  const std::uint32_t first = words[0];
  const std::uint32_t second = words[1];
  out.name = name_of(bits(first, 18, 8), generation);
  out.dim = bits(first, 2, 3);
  out.unorm = bit(first, 7);
  out.dmask = bits(first, 8, 4);
  out.slc = bit(first, 12);
  out.dlc = bit(first, 13);
  out.glc = bit(first, 14);
  out.r128 = bit(first, 15);
  out.a16 = bit(first, 16);
  out.d16 = bit(first, 17);
  out.data = bits(second, 8, 8);
  out.resource = 4 * bits(second, 16, 5);
  out.tfe = bit(second, 21);
  out.lwe = bit(second, 22);
  out.sampler = 4 * bits(second, 26, 5);
  take_addresses(words, out);
  return !bit(first, 1) && bits(first, 5, 2) == 0 && bits(second, 23, 3) == 0 && !bit(second, 31);
}

// VIMAGE and VSAMPLE: the third word has four addresses; VIMAGE has a fifth in the second word.
bool of_gfx12(std::span<const std::uint32_t> words, Generation generation, ImageWords& out) {
  const std::uint32_t first = words[0];
  const std::uint32_t second = words[1];
  const bool samples = bits(first, 26, 6) == 0x39;
  out.name = name_of(bits(first, 14, 8), generation);
  out.dim = bits(first, 0, 3);
  out.r128 = bit(first, 4);
  out.d16 = bit(first, 5);
  out.a16 = bit(first, 6);
  out.dmask = bits(first, 22, 4);
  out.data = bits(second, 0, 8);
  out.resource = bits(second, 9, 9);
  out.scope = bits(second, 18, 2);
  out.temporal_hint = bits(second, 20, 3);
  for (unsigned i = 0; i < 4; ++i) {
    out.address[i] = static_cast<std::uint8_t>(bits(words[2], 8 * i, 8));
  }
  const ImageShape shape = image_shape(out.name);
  // image_msaa_load is a VSAMPLE, though it has no sampler.
  if (samples != (shape.sampler || shape.samples)) return false;
  if (!samples) {
    out.tfe = bit(second, 23);
    out.address[4] = static_cast<std::uint8_t>(bits(second, 24, 8));
    return !bit(first, 3) && bits(first, 7, 7) == 0 && !bit(second, 8);
  }
  out.tfe = bit(first, 3);
  out.unorm = bit(first, 13);
  out.lwe = bit(second, 8);
  out.sampler = bits(second, 23, 9);
  return bits(first, 7, 6) == 0;
}

}  // namespace

ImageShape image_shape(std::string_view name) {
  const auto begins = [name](std::string_view with) { return name.starts_with(with); };
  // Whether `part` stands between two underlines, or behind the last one.
  const auto names = [name](std::string_view part) {
    for (std::size_t at = name.find(part); at != std::string_view::npos;
         at = name.find(part, at + 1)) {
      const std::size_t end = at + part.size();
      if (name[at - 1] == '_' && (end == name.size() || name[end] == '_')) return true;
    }
    return false;
  };
  ImageShape out;
  out.ray = begins("image_bvh");
  out.wide_node = begins("image_bvh64");
  out.gathers = begins("image_gather4");
  out.samples = begins("image_msaa_load");
  out.sampler = begins("image_sample") || out.gathers || begins("image_get_lod");
  out.store = begins("image_store");
  out.atomic = begins("image_atomic");
  out.compare_and_swap = out.atomic && name.ends_with("cmpswap");
  out.halves = !out.atomic && !out.ray && !begins("image_get") && !names("pck");
  out.coordinates = !begins("image_get_resinfo");
  if (out.atomic || out.ray) return out;
  out.level = names("mip") || names("l") || names("cl") || begins("image_get_resinfo");
  out.gradients = names("d") || names("cd");
  out.half_gradients = names("g16");
  out.extras = unsigned{names("b")} + unsigned{names("c")} + unsigned{names("o")};
  return out;
}

std::optional<ImageWords> image_words(std::span<const std::uint32_t> words, Generation generation) {
  ImageWords out;
  const bool meant = generation < Generation::gfx10    ? before_gfx10(words, generation, out)
                     : is_gfx10(generation)            ? of_gfx10(words, generation, out)
                     : generation == Generation::gfx12 ? of_gfx12(words, generation, out)
                                                       : of_gfx11(words, generation, out);
  if (!meant || out.name.empty()) return std::nullopt;
  return out;
}

}  // namespace ww::binpatch::isa
