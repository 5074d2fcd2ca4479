// Attributes of kernel nodes. One changes what a launch does: it makes it cooperative. The others
// are kept as the program set them.
#include <cstring>
#include <map>

#include "hip_more/graph/graph_table.hpp"

namespace ww::sim::driver::hip {
namespace {

// How much of the program's union the attribute is, which has grown with HIP's versions; 0: no
// attribute.
std::size_t bytes_of(int name) {
  switch (name) {
    case kAttributeAccessPolicyWindow: return sizeof(LaunchAttributeValue);
    case kAttributeCooperative:
    case kAttributePriority: return sizeof(int);
    default: return 0;
  }
}

// hipAccessPolicyWindow: what should stay in caches. No chip here keeps anything there, nor does
// AMD's library: the largest window in the device's properties has no bytes.
struct AccessPolicyWindow {
  void* base;
  int property_of_hits;
  float ratio_of_hits;
  int property_of_misses;
  std::size_t bytes;
};

int check_attribute(int name, const LaunchAttributeValue& value) {
  if (name != kAttributeAccessPolicyWindow) return kSuccess;
  constexpr int kPersisting = 2;
  AccessPolicyWindow window{};
  std::memcpy(&window, value.bytes, sizeof window);
  const bool good = window.ratio_of_hits >= 0 && window.ratio_of_hits <= 1 &&
                    window.property_of_misses != kPersisting && window.bytes == 0;
  return good ? kSuccess : kInvalidValue;
}

// Null for other nodes.
KernelCall* call_of(const void* handle) {
  GraphNode* node = find_node(handle);
  if (node == nullptr || node->kind != NodeKind::kernel) return nullptr;
  return std::get_if<KernelCall>(&node->what.parameters);
}

bool is_cooperative(const KernelCall& call) {
  const auto found = call.attributes.find(kAttributeCooperative);
  if (found == call.attributes.end()) return false;
  int value = 0;
  std::memcpy(&value, found->second.bytes, sizeof value);
  return value != 0;
}

// Gives a node other attributes, and the launch that goes with them. Errors: those of
// hipLaunchCooperativeKernel.
int set_attributes(const void* handle, std::map<int, LaunchAttributeValue> attributes) {
  KernelCall changed = *call_of(handle);
  changed.attributes = std::move(attributes);
  auto work = kernel_work(changed.parameters, is_cooperative(changed));
  if (!work) return work.error();
  std::get<KernelCall>(work->parameters).attributes = std::move(changed.attributes);
  find_node(handle)->what = std::move(*work);
  return kSuccess;
}

}  // namespace

WW_HIP_EXPORT int hipGraphKernelNodeSetAttribute(void* node, int name, const void* value) {
  return guarded_work([&]() -> int {
    const KernelCall* call = call_of(node);
    const std::size_t bytes = bytes_of(name);
    if (call == nullptr || value == nullptr || bytes == 0) return kInvalidValue;
    auto attributes = call->attributes;
    attributes[name] = {};
    std::memcpy(attributes[name].bytes, value, bytes);
    if (const int bad = check_attribute(name, attributes[name]); bad != kSuccess) return bad;
    return set_attributes(node, std::move(attributes));
  });
}
WW_HIP_EXPORT int hipGraphKernelNodeGetAttribute(void* node, int name, void* value) {
  return guarded([&]() -> int {
    const KernelCall* call = call_of(node);
    const std::size_t bytes = bytes_of(name);
    if (call == nullptr || value == nullptr || bytes == 0) return kInvalidValue;
    const auto found = call->attributes.find(name);
    const LaunchAttributeValue unset{};
    std::memcpy(value, found == call->attributes.end() ? unset.bytes : found->second.bytes, bytes);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGraphKernelNodeCopyAttributes(void* from, void* to) {
  return guarded_work([&]() -> int {
    const KernelCall* call = call_of(from);
    if (call == nullptr || call_of(to) == nullptr) return kInvalidValue;
    return set_attributes(to, call->attributes);
  });
}

}  // namespace ww::sim::driver::hip
