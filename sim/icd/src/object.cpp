#include "object.hpp"

#include <map>
#include <new>
#include <vector>

namespace ww::sim::icd::pool {
namespace {

// What stays of a dead object: enough for the loader to dispatch and for us to refuse.
struct Tombstone : Object {
  Tombstone() : Object(ObjectType::dead) { references = 0; }
};

// Never destroyed: handles may be released from other libraries' exit handlers.
std::map<std::size_t, std::vector<void*>>& free_lists() {
  static auto& lists = *new std::map<std::size_t, std::vector<void*>>;
  return lists;
}

}  // namespace

void* take(std::size_t bytes) {
  auto& list = free_lists()[bytes];
  if (list.empty()) return ::operator new(bytes);
  void* storage = list.back();
  list.pop_back();
  return storage;
}

void give_back(void* storage, std::size_t bytes) {
  new (storage) Tombstone;
  free_lists()[bytes].push_back(storage);
}

}  // namespace ww::sim::icd::pool
