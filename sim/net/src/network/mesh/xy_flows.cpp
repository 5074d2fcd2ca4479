#include "network/mesh/xy_flows.hpp"

namespace ww::sim::net {
namespace {

// Ports as MeshRouting's: +x, -x, +y, -y, then the nodes. A link enters at the port opposite to the
// one where it leaves.
class MeshFlows final : public Flows {
 public:
  explicit MeshFlows(const NetworkConfig& config)
      : width_(static_cast<std::uint32_t>(config.width)),
        routers_(width_ * static_cast<std::uint32_t>(config.height)),
        nodes_(static_cast<std::uint32_t>(config.concentration)),
        link_delay_(config.link_delay) {}

  [[nodiscard]] std::uint32_t routers() const override { return routers_; }
  [[nodiscard]] std::uint32_t ports() const override { return kLinks + nodes_; }
  [[nodiscard]] std::uint32_t layers() const override { return 1; }

  void find(NodeId from, NodeId to, Path& path) const override {
    path.steps.clear();
    std::uint32_t here = from / nodes_;
    std::uint32_t input = kLinks + from % nodes_;
    const std::uint32_t exit = to / nodes_;
    const auto along = [&](std::uint32_t port, std::uint32_t steps, std::uint32_t stride,
                           bool forward) {
      for (std::uint32_t i = 0; i < steps; ++i) {
        path.steps.push_back({here * ports() + port, input, link_delay_});
        here = forward ? here + stride : here - stride;
        input = port ^ 1U;
      }
    };
    const std::uint32_t x = here % width_;
    const std::uint32_t to_x = exit % width_;
    along(to_x > x ? 0 : 1, to_x > x ? to_x - x : x - to_x, 1, to_x > x);
    const std::uint32_t y = here / width_;
    const std::uint32_t to_y = exit / width_;
    along(to_y > y ? 2 : 3, to_y > y ? to_y - y : y - to_y, width_, to_y > y);
    const auto links = static_cast<int>(path.steps.size());
    path.steps.push_back({here * ports() + kLinks + to % nodes_, input, 1});
    path.wire_cycles = links * link_delay_ + 2;  // a cycle from and to the node
  }

 private:
  static constexpr std::uint32_t kLinks = 4;
  std::uint32_t width_;
  std::uint32_t routers_;
  std::uint32_t nodes_;
  int link_delay_;
};

}  // namespace

std::unique_ptr<Flows> mesh_flows(const NetworkConfig& config) {
  return std::make_unique<MeshFlows>(config);
}

}  // namespace ww::sim::net
