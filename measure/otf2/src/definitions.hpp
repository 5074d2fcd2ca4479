// The metrics, the clock and the locations that a trace defines.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "metric_unit.hpp"

namespace ww::otf2 {

struct Clock {
  std::uint64_t ticks_per_s{};
  std::uint64_t start{};
};

struct Member {
  OTF2_StringRef name{};
  OTF2_StringRef unit{};
  OTF2_MetricMode mode{};
  double scale{1};  // base to the power of the exponent
};

struct Instance {
  OTF2_MetricRef of_class{};
  OTF2_LocationRef recorder{};
};

struct Location {
  OTF2_LocationGroupRef group{};
  std::uint64_t events{};
};

struct Definitions {
  std::map<OTF2_StringRef, std::string> strings;
  std::map<OTF2_MetricMemberRef, Member> members;
  std::map<OTF2_MetricRef, std::vector<OTF2_MetricMemberRef>> classes;
  std::map<OTF2_MetricRef, Instance> instances;
  std::map<OTF2_LocationRef, Location> locations;
  std::map<OTF2_LocationGroupRef, OTF2_StringRef> groups;
  std::optional<Clock> clock;

  [[nodiscard]] std::string text(OTF2_StringRef reference) const;
  // The members of a class or of an instance; null where the trace defines no such metric.
  [[nodiscard]] const std::vector<OTF2_MetricMemberRef>* members_of(OTF2_MetricRef metric) const;
};

// Callbacks that fill a `Definitions`, their user data.
[[nodiscard]] OTF2_ErrorCode set_definition_callbacks(OTF2_GlobalDefReaderCallbacks* callbacks);

}  // namespace ww::otf2
