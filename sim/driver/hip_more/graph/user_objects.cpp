// Objects of the program's whose life graphs share: the last use that ends calls their destructor,
// outside of the lock.
#include <limits>
#include <memory>
#include <unordered_map>

#include "hip_more/graph/graph_table.hpp"

namespace ww::sim::driver::hip {
namespace {

// hipUserObject_t.
struct UserObject {
  HostFunction destroy;
  void* pointer;
  unsigned uses;
};

std::unordered_map<const void*, std::unique_ptr<UserObject>>& objects() {
  static auto& all = *new std::unordered_map<const void*, std::unique_ptr<UserObject>>;
  return all;
}

UserObject* object_of(const void* handle) {
  const auto found = objects().find(handle);
  return found == objects().end() ? nullptr : found->second.get();
}

void retain(const void* handle, unsigned count) {
  if (UserObject* object = object_of(handle); object != nullptr) object->uses += count;
}

// More uses than there are end none, as with AMD's runtime.
void release(const void* handle, unsigned count) {
  UserObject* object = object_of(handle);
  if (object == nullptr || object->uses < count) return;
  object->uses -= count;
  if (object->uses != 0) return;
  Runtime::get().callbacks.emplace_back(
      [destroy = object->destroy, pointer = object->pointer] { destroy(pointer); });
  objects().erase(handle);
}

bool is_count(unsigned count) {
  return count != 0 && count <= static_cast<unsigned>(std::numeric_limits<int>::max());
}

}  // namespace

UserObjects::~UserObjects() {
  for (const auto& [object, count] : uses_) release(object, count);
}

UserObjects::UserObjects(const UserObjects& other) : uses_(other.uses_) {
  for (const auto& [object, count] : uses_) retain(object, count);
}

bool UserObjects::remove(void* object, unsigned count) {
  const auto found = uses_.find(object);
  if (found == uses_.end() || found->second < count) return false;
  found->second -= count;
  if (found->second == 0) uses_.erase(found);
  return true;
}

WW_HIP_EXPORT int hipUserObjectCreate(void** object, void* pointer, HostFunction destroy,
                                      unsigned uses, unsigned flags) {
  constexpr unsigned kNoDestructorSync = 1;
  return guarded([&]() -> int {
    if (object == nullptr || destroy == nullptr || flags != kNoDestructorSync || !is_count(uses)) {
      return kInvalidValue;
    }
    auto made = std::make_unique<UserObject>(UserObject{destroy, pointer, uses});
    *object = made.get();
    objects().emplace(*object, std::move(made));
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipUserObjectRetain(void* object, unsigned count) {
  return guarded([&]() -> int {
    if (object == nullptr || !is_count(count)) return kInvalidValue;
    retain(object, count);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipUserObjectRelease(void* object, unsigned count) {
  return guarded([&]() -> int {
    if (object == nullptr || !is_count(count)) return kInvalidValue;
    release(object, count);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGraphRetainUserObject(void* handle, void* object, unsigned count,
                                           unsigned flags) {
  constexpr unsigned kMove = 1;
  return guarded([&]() -> int {
    Graph* graph = find_graph(handle);
    if (graph == nullptr || object == nullptr || !is_count(count) || flags > kMove) {
      return kInvalidValue;
    }
    if (object_of(object) == nullptr) return kSuccess;
    if (flags != kMove) retain(object, count);
    graph->user_objects.add(object, count);
    return kSuccess;
  });
}
WW_HIP_EXPORT int hipGraphReleaseUserObject(void* handle, void* object, unsigned count) {
  return guarded([&]() -> int {
    Graph* graph = find_graph(handle);
    if (graph == nullptr || object == nullptr || !is_count(count)) return kInvalidValue;
    if (graph->user_objects.remove(object, count)) release(object, count);
    return kSuccess;
  });
}

}  // namespace ww::sim::driver::hip
