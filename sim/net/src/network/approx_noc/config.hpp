// Approx-NoC (Boyapati et al., ISCA 2017): data packets are compressed at their source and
// decompressed where they arrive; words of approximable blocks may change to compress better.
#pragma once

#include <string>

#include "ww/sim/net/config.hpp"

namespace ww::sim::net {

struct CompressionConfig {
  std::string scheme{"di"};   // "di": dictionaries (DI-VAXX); "fp": frequent patterns (FP-VAXX)
  int compress_delay{3};      // cycles
  int decompress_delay{2};    // cycles
  int dictionary_entries{8};  // for each pair of source and destination
  bool exact_range{};         // the error range by a product, not by the paper's right shift
  bool bytes_as_words{};      // pixels as 32-bit integers (the paper knows integers and floats)
};

void compression_keys(NetworkConfig& config, BoundKeys& keys);

}  // namespace ww::sim::net
