#include "definitions.hpp"

#include <cmath>

namespace ww::otf2 {
namespace {

Definitions& of(void* user) {
  return *static_cast<Definitions*>(user);
}

OTF2_CallbackCode on_clock(void* user, std::uint64_t ticks_per_s, std::uint64_t start,
                           std::uint64_t /*length*/, std::uint64_t /*realtime*/) {
  of(user).clock = Clock{ticks_per_s, start};
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_string(void* user, OTF2_StringRef self, const char* text) {
  of(user).strings[self] = text == nullptr ? "" : text;
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_member(void* user, OTF2_MetricMemberRef self, OTF2_StringRef name,
                            OTF2_StringRef /*description*/, OTF2_MetricType /*type*/,
                            OTF2_MetricMode mode, OTF2_Type /*value_type*/, OTF2_Base base,
                            std::int64_t exponent, OTF2_StringRef unit) {
  const double scale =
      std::pow(base == OTF2_BASE_BINARY ? 2.0 : 10.0, static_cast<double>(exponent));
  of(user).members[self] = {name, unit, mode, scale};
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_class(void* user, OTF2_MetricRef self, std::uint8_t count,
                           const OTF2_MetricMemberRef* members, OTF2_MetricOccurrence /*when*/,
                           OTF2_RecorderKind /*recorder*/) {
  of(user).classes[self].assign(members, members + count);
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_instance(void* user, OTF2_MetricRef self, OTF2_MetricRef its_class,
                              OTF2_LocationRef recorder, OTF2_MetricScope /*scope*/,
                              std::uint64_t /*of*/) {
  of(user).instances[self] = {its_class, recorder};
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_location(void* user, OTF2_LocationRef self, OTF2_StringRef /*name*/,
                              OTF2_LocationType /*type*/, std::uint64_t events,
                              OTF2_LocationGroupRef group) {
  of(user).locations[self] = {group, events};
  return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode on_group(void* user, OTF2_LocationGroupRef self, OTF2_StringRef name,
                           OTF2_LocationGroupType /*type*/, OTF2_SystemTreeNodeRef /*parent*/,
                           OTF2_LocationGroupRef /*creator*/) {
  of(user).groups[self] = name;
  return OTF2_CALLBACK_SUCCESS;
}

}  // namespace

std::string Definitions::text(OTF2_StringRef reference) const {
  const auto found = strings.find(reference);
  return found == strings.end() ? "" : found->second;
}

const std::vector<OTF2_MetricMemberRef>* Definitions::members_of(OTF2_MetricRef metric) const {
  const auto instance = instances.find(metric);
  const auto found = classes.find(instance == instances.end() ? metric : instance->second.of_class);
  return found == classes.end() ? nullptr : &found->second;
}

OTF2_ErrorCode set_definition_callbacks(OTF2_GlobalDefReaderCallbacks* callbacks) {
  for (const OTF2_ErrorCode code :
       {OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, on_clock),
        OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, on_string),
        OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(callbacks, on_member),
        OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(callbacks, on_class),
        OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(callbacks, on_instance),
        OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, on_location),
        OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(callbacks, on_group)}) {
    if (code != OTF2_SUCCESS) return code;
  }
  return OTF2_SUCCESS;
}

}  // namespace ww::otf2
