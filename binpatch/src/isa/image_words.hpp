// Fields of an image instruction's words, which every generation has elsewhere.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ww/binpatch/isa/instruction.hpp"

namespace ww::binpatch::isa {

inline constexpr unsigned kMaxImageAddresses = 13;  // one, and four in each of three words

struct ImageWords {
  std::string_view name;
  std::uint32_t dmask{}, dim{}, data{};
  std::uint32_t resource{}, sampler{};     // numbers of the first scalar registers
  std::uint32_t temporal_hint{}, scope{};  // gfx12
  bool unorm{}, glc{}, slc{}, dlc{}, scc{}, r128{}, tfe{}, lwe{}, da{}, a16{}, d16{};
  bool accumulator{};      // the data are in accumulation registers
  unsigned extra_words{};  // words of addresses beyond the first two
  std::array<std::uint8_t, kMaxImageAddresses> address{};
};

// Nothing where the generation has no such instruction, or where bits without a meaning are set.
[[nodiscard]] std::optional<ImageWords> image_words(std::span<const std::uint32_t> words,
                                                    Generation generation);

// Parts of an image instruction's operands that follow from its name.
struct ImageShape {
  bool sampler{};
  bool store{}, atomic{}, compare_and_swap{};
  bool gathers{};           // one channel of four texels
  bool samples{};           // of several samples of a texel; from gfx11 on one channel of four
  bool halves{};            // has a form with data of 16 bits
  bool ray{}, wide_node{};  // intersections of a ray with a node of a tree, its number of 64 bits
  bool coordinates{}, level{}, gradients{}, half_gradients{};
  unsigned extras{};  // bias, comparand, offsets: a word each
};
[[nodiscard]] ImageShape image_shape(std::string_view name);

}  // namespace ww::binpatch::isa
