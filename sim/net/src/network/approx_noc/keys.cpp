#include "vc_router/keys.hpp"
#include "network/approx_noc/config.hpp"

namespace ww::sim::net {
namespace {

constexpr int kLongestCodec = 64;
constexpr std::string_view kCodecGroup = "dapper and approx-noc";
constexpr std::string_view kPaper = "Boyapati et al., ISCA 2017";

constexpr Key<CompressionConfig> kCompressionKeys[] = {
    {"scheme", &CompressionConfig::scheme, one_of("di, fp"), "", kCodecGroup,
     "approx-noc: compress by di (dictionaries) or fp (frequent patterns)", kPaper},
    {"compress_delay", &CompressionConfig::compress_delay, between(0, kLongestCodec, "cycles"),
     "cycles", "", "Time to compress a packet", kPaper},
    {"decompress_delay", &CompressionConfig::decompress_delay, between(0, kLongestCodec, "cycles"),
     "cycles", "", "Time to decompress a packet", kPaper},
    {"dictionary_entries", &CompressionConfig::dictionary_entries,
     between(1, 64, "a dictionary holds words"), "", "",
     "Words in the dictionary of each pair of source and destination", kPaper},
    {"exact_range", &CompressionConfig::exact_range, anything(), "", kCodecGroup,
     "approx-noc: compute the error range by a product instead of a right shift", ""},
    {"bytes_as_words", &CompressionConfig::bytes_as_words, anything(), "", kCodecGroup,
     "approx-noc: treat four pixels as one integer", ""},
};

}  // namespace

void compression_keys(NetworkConfig& config, BoundKeys& keys) {
  vc_router_keys(config, keys);
  bind_rows<CompressionConfig>(config.own<CompressionConfig>(), kCompressionKeys, keys);
}

}  // namespace ww::sim::net
