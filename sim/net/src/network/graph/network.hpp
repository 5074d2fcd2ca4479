// Networks of any topology: routers and links as a graph, routing by table.
#pragma once

#include "ww/sim/net/factory.hpp"

namespace ww::sim::net {

extern const NetworkKind kTopology;  // from a file
extern const NetworkKind kCrossbar;
extern const NetworkKind kCrossbarHierarchical;
extern const NetworkKind kCrossbarPartitioned;
extern const NetworkKind kTorus;
extern const NetworkKind kRing;
extern const NetworkKind kConcentratedMesh;
extern const NetworkKind kFlattenedButterfly;
extern const NetworkKind kChipletMesh;
extern const NetworkKind kButterfly;
extern const NetworkKind kFatTree;
extern const NetworkKind kDragonfly;

}  // namespace ww::sim::net
