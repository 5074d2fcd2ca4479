// Text of image instructions (MIMG; VIMAGE and VSAMPLE of gfx12), from their words alone.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "isa/image_words.hpp"
#include "isa/operand.hpp"
#include "isa/text.hpp"

namespace ww::binpatch::isa {

namespace {

constexpr std::uint32_t kSamples = 6, kSamplesArray = 7;  // numbers of DIM

std::vector<std::uint32_t> raw_words(const Instruction& in) {
  const Modifiers& m = in.modifiers;
  const std::array<std::uint32_t, 5> listed = {m.more_dwords[0], m.more_dwords[1], m.extra_dword};
  const std::array<std::uint32_t, 5> unlisted = {m.offset, m.extra_dword, m.more_dwords[0],
                                                 m.more_dwords[1], m.more_dwords[2]};
  const auto& words = in.opcode == Opcode::unlisted ? unlisted : listed;
  return {words.begin(), words.begin() + in.size_bytes / 4};
}

// Collects the text of one instruction; nothing once a part of it has no text.
class ImageText {
 public:
  ImageText(const ImageWords& in, Generation generation)
      : in_(in), shape_(image_shape(in.name)), generation_(generation), line_(in.name) {}

  std::optional<std::string> take() && {
    if (!data() || !addresses() || !descriptors() || !modifiers()) return std::nullopt;
    return std::move(line_).take();
  }

 private:
  bool data();
  [[nodiscard]] bool gathers() const;
  [[nodiscard]] bool data_fit(unsigned count) const;
  bool addresses();
  bool ray_addresses();
  [[nodiscard]] unsigned address_words() const;
  [[nodiscard]] unsigned most_address_words() const;
  bool tuple(unsigned first, unsigned count);
  [[nodiscard]] bool nothing_from(std::size_t index) const {
    return std::ranges::all_of(in_.address.begin() + static_cast<std::ptrdiff_t>(index),
                               in_.address.end(), [](unsigned address) { return address == 0; });
  }
  bool apart(std::span<const unsigned> widths);
  bool descriptors();
  bool scalar(std::uint32_t first, unsigned count);
  bool modifiers();
  bool cache();
  [[nodiscard]] std::string temporal_hint() const;

  const ImageWords& in_;
  ImageShape shape_;
  Generation generation_;
  Line line_;
};

bool ImageText::gathers() const {
  return shape_.gathers || (shape_.samples && generation_ >= Generation::gfx11);
}

// The assembler's rules about the mask of channels, of which `count` registers follow.
bool ImageText::data_fit(unsigned count) const {
  const bool of_samples = in_.dim == kSamples || in_.dim == kSamplesArray;
  if (shape_.samples && !of_samples) return false;
  if (gathers()) {
    // LLVM has no registers for four halves and the word of residency.
    const bool odd = shape_.gathers && in_.d16 && in_.tfe && generation_ != Generation::gfx8;
    return std::popcount(in_.dmask) == 1 && !odd;
  }
  if (!shape_.atomic) return true;
  const bool mask = in_.dmask == 0x1 || in_.dmask == 0x3 || in_.dmask == 0xf;
  return mask && (shape_.compare_and_swap ? count >= 2 : count <= 3);
}

bool ImageText::data() {
  if (in_.d16 && !shape_.halves) return false;
  unsigned count =
      gathers() || shape_.ray ? 4 : std::max(1U, static_cast<unsigned>(std::popcount(in_.dmask)));
  // gfx8 leaves half of each register empty.
  if (in_.d16 && generation_ != Generation::gfx8) count = (count + 1) / 2;
  count += unsigned{in_.tfe};
  auto registers = vector_register(generation_, in_.data, count);
  if (!registers || !data_fit(count)) return false;
  if (in_.accumulator) registers->kind = OperandKind::agpr;
  line_.operand(*registers);
  return true;
}

unsigned ImageText::address_words() const {
  const bool level = shape_.level;
  if (generation_ < Generation::gfx10) {  // how many there are is the image's matter
    return 1 + shape_.extras + unsigned{shape_.gradients};
  }
  // By the instruction's DIM: 1D, 2D, 3D, cube, arrays of 1D and 2D, and these of several samples.
  constexpr unsigned kCoordinates[] = {1, 2, 3, 3, 2, 3, 3, 4};
  constexpr unsigned kGradients[] = {2, 4, 6, 4, 2, 4, 4, 4};
  const unsigned components = (shape_.coordinates ? kCoordinates[in_.dim] : 0) + unsigned{level};
  unsigned words = shape_.extras + (in_.a16 ? (components + 1) / 2 : components);
  if (shape_.gradients) {
    // Two gradients of each coordinate, packed by themselves.
    const unsigned all = kGradients[in_.dim];
    words += shape_.half_gradients ? (all / 2 + 1) / 2 * 2 : all;
  }
  return words;
}

// Arrays of images of several samples have a coordinate more, but no levels and no filters. LLVM's
// tuples leave room for it where they would have 3 or 7 registers.
unsigned ImageText::most_address_words() const {
  const bool filtered = shape_.sampler || shape_.level;
  const unsigned words =
      shape_.extras + (filtered ? 3 : 4) + unsigned{shape_.level} + (shape_.gradients ? 6 : 0);
  const bool is_tuple = generation_ < Generation::gfx12 && in_.extra_words == 0;
  return is_tuple && (words == 3 || words == 7) ? words + 1 : words;
}

bool ImageText::tuple(unsigned first, unsigned count) {
  const auto registers = vector_register(generation_, first, count);
  if (registers) line_.operand(*registers);
  return registers.has_value();
}

// Writes addresses that lie apart, each with so many registers.
bool ImageText::apart(std::span<const unsigned> widths) {
  std::string text;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const auto registers = vector_register(generation_, in_.address[i], widths[i]);
    if (!registers) return false;
    text += (i == 0 ? "" : ", ") + operand_text(*registers);
  }
  if (!nothing_from(widths.size())) return false;
  line_.operand(fmt::format("[{}]", text));
  return true;
}

bool ImageText::addresses() {
  if (shape_.ray) return ray_addresses();
  const unsigned words = address_words();
  if (words > most_address_words()) return false;
  const bool gfx12 = generation_ == Generation::gfx12;
  if (!gfx12 && in_.extra_words == 0) return tuple(in_.address[0], words);
  if (gfx12 && words == 1) return nothing_from(1) && tuple(in_.address[0], 1);
  const bool gfx10 = is_gfx10(generation_);
  // From gfx11 on the last of them is a tuple of all that is left.
  const unsigned apart_most = gfx12 ? (shape_.sampler ? 4 : 5) : 1 + 4 * in_.extra_words;
  if (gfx10 && words > apart_most) return false;
  if (!gfx12 && words <= apart_most - 4) return false;
  std::vector<unsigned> widths(std::min(words, apart_most), 1U);
  widths.back() += words - static_cast<unsigned>(widths.size());
  return apart(widths);
}

// The node, how far the ray reaches, its origin, direction and inverse direction.
bool ImageText::ray_addresses() {
  const unsigned node = shape_.wide_node ? 2 : 1;
  const bool gfx12 = generation_ == Generation::gfx12;
  const bool others = in_.glc || in_.slc || in_.dlc || in_.tfe || in_.lwe || in_.scope != 0 ||
                      in_.temporal_hint != 0;
  if (in_.dmask != 0xf || in_.dim != 0 || !in_.r128 || in_.unorm == gfx12 || others) return false;
  const unsigned words = node + 1 + (in_.a16 ? 6 : 9);
  if (!gfx12 && in_.extra_words == 0) return tuple(in_.address[0], words);
  if (is_gfx10(generation_)) {
    return (words + 2) / 4 == in_.extra_words && apart(std::vector<unsigned>(words, 1U));
  }
  std::vector<unsigned> widths = {node, 1, 3, 3};
  if (!in_.a16) widths.push_back(3);
  return apart(widths);
}

bool ImageText::scalar(std::uint32_t first, unsigned count) {
  const auto registers = first < 128 ? scalar_register(generation_, first, count) : std::nullopt;
  if (registers) line_.operand(*registers);
  return registers.has_value();
}

bool ImageText::descriptors() {
  if (!scalar(in_.resource, shape_.ray ? 4 : 8)) return false;
  return shape_.sampler ? scalar(in_.sampler, 4) : in_.sampler == 0;
}

// RDNA4 ISA, table "Temporal hints": a number has other names by the kind of access and the scope.
// Empty where it has none.
std::string ImageText::temporal_hint() const {
  constexpr std::uint32_t kDevice = 2, kSystem = 3;
  const std::uint32_t hint = in_.temporal_hint;
  if (shape_.atomic) {
    constexpr std::string_view kNames[] = {"",           "RETURN", "NT",         "NT_RETURN",
                                           "CASCADE_RT", "",       "CASCADE_NT", ""};
    const bool named = hint < 4 || in_.scope >= kDevice;
    return named && !kNames[hint].empty() ? fmt::format("TH_ATOMIC_{}", kNames[hint]) : "";
  }
  const std::string_view third = in_.scope == kSystem ? "BYPASS" : shape_.store ? "RT_WB" : "LU";
  const std::array<std::string_view, 8> names = {"",      "NT",    "HT",    third,
                                                 "NT_RT", "RT_NT", "NT_HT", "NT_WB"};
  if (hint == 7 && !shape_.store) return "";
  return fmt::format("TH_{}_{}", shape_.store ? "STORE" : "LOAD", names[hint]);
}

bool ImageText::cache() {
  if (generation_ == Generation::gfx12) {
    constexpr std::string_view kScopes[] = {"", "SCOPE_SE", "SCOPE_DEV", "SCOPE_SYS"};
    const std::string hint = in_.temporal_hint == 0 ? "" : temporal_hint();
    line_.word_if(!hint.empty(), "th:" + hint);
    line_.word_if(in_.scope != 0, fmt::format("scope:{}", kScopes[in_.scope]));
    return in_.temporal_hint == 0 || !hint.empty();
  }
  line_.word_if(in_.glc, "glc");
  line_.word_if(in_.slc, "slc");
  line_.word_if(in_.dlc, "dlc");
  line_.word_if(in_.scc, "scc");
  return true;
}

bool ImageText::modifiers() {
  if (shape_.ray) {
    line_.word_if(in_.a16, "a16");
    return true;
  }
  line_.word_if(in_.dmask != 0, fmt::format("dmask:{:#x}", in_.dmask));
  if (generation_ >= Generation::gfx10) {
    constexpr std::string_view kShapes[] = {"1D",       "2D",       "3D",      "CUBE",
                                            "1D_ARRAY", "2D_ARRAY", "2D_MSAA", "2D_MSAA_ARRAY"};
    line_.word(fmt::format("dim:SQ_RSRC_IMG_{}", kShapes[in_.dim]));
  }
  line_.word_if(in_.unorm, "unorm");
  if (!cache()) return false;
  line_.word_if(in_.r128, "r128");
  line_.word_if(in_.a16, "a16");
  line_.word_if(in_.tfe, "tfe");
  line_.word_if(in_.lwe, "lwe");
  line_.word_if(in_.da, "da");
  line_.word_if(in_.d16, "d16");
  return true;
}

}  // namespace

std::optional<std::string> image_text(const Instruction& instruction, Generation generation) {
  const auto in = image_words(raw_words(instruction), generation);
  return in ? ImageText(*in, generation).take() : std::nullopt;
}

}  // namespace ww::binpatch::isa
