#include "simple_router/keys.hpp"
#include "network/bufferless/config.hpp"

namespace ww::sim::net {
namespace {

constexpr Key<BufferlessConfig> kBufferlessKeys[] = {
    {"deflection", &BufferlessConfig::deflection, one_of("chipper, bless"), "", "Network",
     "mesh-bufferless: chipper (a golden packet first) or bless (the oldest flit first)",
     "CHIPPER, HPCA 2011; BLESS, ISCA 2009"},
    {"reassembly_buffers", &BufferlessConfig::reassembly_buffers,
     between(1, 65535, "a receiver needs room to put a packet together"), "packets", "Network",
     "mesh-bufferless: packets that a node puts together at a time", ""},
};

}  // namespace

void bufferless_keys(NetworkConfig& config, BoundKeys& keys) {
  simple_router_keys(config, keys);
  bind_rows<BufferlessConfig>(config.own<BufferlessConfig>(), kBufferlessKeys, keys);
}

}  // namespace ww::sim::net
