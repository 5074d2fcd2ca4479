#pragma once

#include <string>

#include "ww/sim/net/config.hpp"

namespace ww::sim::net {

struct BufferlessConfig {
  std::string deflection{"chipper"};  // or "bless": the oldest flit first
  int reassembly_buffers{16};         // packets of several flits that a node takes at a time
};

void bufferless_keys(NetworkConfig& config, BoundKeys& keys);

}  // namespace ww::sim::net
