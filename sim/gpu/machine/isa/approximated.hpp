// Instructions whose results are those of the arithmetic that their manual describes, but whose
// last bits a card may round otherwise: no manual of AMD's gives them.
#pragma once

#include <string_view>

namespace ww::sim::gpu::exec {

// Reciprocals, roots, exponentials, logarithms, sines and cosines (the manuals bound their error,
// the emulator rounds a result in double precision), sums of products of floats (their order within
// an instruction is not published), and filtered texels (nor are their weights' bits). By the
// mnemonic, without the ending that names the encoding.
[[nodiscard]] bool is_approximated(std::string_view mnemonic);

}  // namespace ww::sim::gpu::exec
