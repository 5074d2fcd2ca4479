// Declares the base of every OpenCL object of this driver, and how it lives and dies.
//
// A handle is a pointer to an object whose first word is the loader's dispatch table. Objects come
// from pools that never give memory back and keep a dead object's first words readable, so that a
// released handle is refused with CL_INVALID_* instead of crashing the loader or the driver.
// Threading: all of this happens under the driver's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "opencl/object/opencl.hpp"

namespace ww::sim::driver {

enum class ObjectType : std::uint32_t {
  dead = 0x5757dead,
  platform = 0x57570001,
  device,
  context,
  queue,
  memory,
  sampler,
  program,
  kernel,
  event,
};

[[nodiscard]] const cl_icd_dispatch& dispatch_table();

struct Object {
  explicit Object(ObjectType object_type) : dispatch(&dispatch_table()), type(object_type) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  const cl_icd_dispatch* dispatch;  // must be the first word
  ObjectType type;
  cl_uint references{1};  // the application's: clRetain*, clRelease*
  cl_uint uses{0};        // the driver's own: objects and pending commands that need this one
};

namespace pool {
void* acquire(std::size_t bytes);
void release(void* storage, std::size_t bytes);
}  // namespace pool

// Base of the pooled object types; `kObjectType` of T is its tag.
template <class T, ObjectType Tag>
struct ObjectOf : Object {
  static constexpr ObjectType kObjectType = Tag;
  ObjectOf() : Object(Tag) {}
  static void* operator new(std::size_t bytes) { return pool::acquire(bytes); }
  static void operator delete(void* storage) { pool::release(storage, sizeof(T)); }
};

// True for a live handle of its type. Null, dead and foreign handles are not valid.
template <class T>
[[nodiscard]] bool valid(const T* handle) {
  return handle != nullptr && handle->type == T::kObjectType;
}

// Deletes an object that nobody needs any more; each type's file defines its own.
void destroy(cl_context context);
void destroy(cl_command_queue queue);
void destroy(cl_mem memory);
void destroy(cl_sampler sampler);
void destroy(cl_program program);
void destroy(cl_kernel kernel);
void destroy(cl_event event);

template <class T>
void drop_if_unneeded(T* object) {
  if (object->references == 0 && object->uses == 0) destroy(object);
}

// clRetain*: `invalid` for handles that are not live.
template <class T>
cl_int retain_handle(T* handle, cl_int invalid) {
  if (!valid(handle) || handle->references == 0) return invalid;
  ++handle->references;
  return CL_SUCCESS;
}

template <class T>
cl_int release_handle(T* handle, cl_int invalid) {
  if (!valid(handle) || handle->references == 0) return invalid;
  --handle->references;
  drop_if_unneeded(handle);
  return CL_SUCCESS;
}

// The driver's own reference: keeps an object alive without showing in its reference count.
template <class T>
class Use {
 public:
  Use() = default;
  explicit Use(T* object) : object_(object) {
    if (object_ != nullptr) ++object_->uses;
  }
  Use(const Use& other) : Use(other.object_) {}
  Use(Use&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Use& operator=(Use other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Use() {
    if (object_ != nullptr) {
      --object_->uses;
      drop_if_unneeded(object_);
    }
  }
  [[nodiscard]] T* get() const { return object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_{};
};

}  // namespace ww::sim::driver
