#include "opencl/object/object.hpp"

#include <deque>
#include <map>
#include <new>

namespace ww::sim::driver::pool {
namespace {

// Remains of a dead object: enough for the loader to dispatch and for us to refuse.
struct Tombstone : Object {
  Tombstone() : Object(ObjectType::dead) { references = 0; }
};

// A dead object rests until kRest of its size died after it: a program that goes on using a handle
// meets CL_INVALID_*, not the object that came next.
constexpr std::size_t kRest = 256;

// Never destroyed: handles may be released from other libraries' exit handlers.
std::map<std::size_t, std::deque<void*>>& free_lists() {
  static auto& lists = *new std::map<std::size_t, std::deque<void*>>;
  return lists;
}

}  // namespace

void* acquire(std::size_t bytes) {
  auto& list = free_lists()[bytes];
  if (list.size() <= kRest) return ::operator new(bytes);
  void* storage = list.front();
  list.pop_front();
  return storage;
}

void release(void* storage, std::size_t bytes) {
  new (storage) Tombstone;
  free_lists()[bytes].push_back(storage);
}

}  // namespace ww::sim::driver::pool
