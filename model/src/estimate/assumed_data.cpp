#include "ww/model/assumed_data.hpp"

namespace ww::model {
namespace {

// The value is the average that IISWC'16, section VI, assumes for all applications, of random
// words. The ranges are those of 36 workloads' own data, rounded outwards: one more of the same
// kind lies between their least and their most with a probability of 35/37, whatever the
// distribution. Of the four ends three are physical limits as well: a payload bit toggles at most
// once a beat (workloads that send partial beats exceed it, by wires that carry no payload),
// neighbours at best move all together, and words that no neighbour follows are random ones.
// docs/estimate.md has the table.
constexpr AssumedData kUnknownData{{0.34, 0.2, 1}, {0, -1, 0}};

}  // namespace

const AssumedData& unknown_data() {
  return kUnknownData;
}

AssumedData data_at_rate(double toggle_rate) {
  return {{toggle_rate, toggle_rate, toggle_rate}, kUnknownData.coupling};
}

}  // namespace ww::model
