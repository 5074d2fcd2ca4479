// Networks by name and size.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "ww/sim/net/factory.hpp"

namespace ww::sim::net::test {

inline std::unique_ptr<Network> made(const NetworkConfig& config) {
  auto network = make_network(config);
  EXPECT_TRUE(network) << network.error().text();
  return network ? std::move(*network) : nullptr;
}

inline NetworkConfig sized(const std::string& name, int width, int height, int concentration = 1) {
  NetworkConfig config;
  config.network = name;
  config.width = width;
  config.height = height;
  config.concentration = concentration;
  return config;
}

}  // namespace ww::sim::net::test
