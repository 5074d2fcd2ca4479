// How OpenCL's entry points run: under the driver's lock, and without exceptions.
#pragma once

#include <new>
#include <utility>

#include "common/runtime/runtime.hpp"
#include "opencl/object/opencl.hpp"
#include "tl/expected.hpp"

namespace ww::sim::driver {

// Runs an API call's body under the lock. No exception leaves the driver.
template <class Body>
cl_int guarded(Body&& body) noexcept {
  try {
    Entry entry;
    return body(entry);
  } catch (...) {
    return CL_OUT_OF_HOST_MEMORY;
  }
}

template <class Handle>
using Created = tl::expected<Handle, cl_int>;

// Reports the error of calls that create: sets *errcode_ret where given.
template <class Handle, class Body>
Handle created(cl_int* errcode_ret, Body&& body) noexcept {
  Created<Handle> outcome = tl::unexpected<cl_int>(CL_OUT_OF_HOST_MEMORY);
  try {
    Entry entry;
    outcome = body(entry);
  } catch (...) {
    outcome = tl::unexpected<cl_int>(CL_OUT_OF_HOST_MEMORY);
  }
  if (errcode_ret != nullptr) *errcode_ret = outcome ? CL_SUCCESS : outcome.error();
  return outcome ? *outcome : Handle{};
}

[[nodiscard]] inline tl::unexpected<cl_int> refuse(cl_int code) {
  return tl::unexpected<cl_int>(code);
}

}  // namespace ww::sim::driver
