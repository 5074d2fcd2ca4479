// Answers clGet*Info queries: size checks and copies in one place.
#pragma once

#include <cstring>
#include <span>
#include <string_view>

#include "opencl/object/opencl.hpp"

namespace ww::sim::driver {

class InfoSink {
 public:
  InfoSink(std::size_t size, void* value, std::size_t* size_ret)
      : size_(size), value_(value), size_ret_(size_ret) {}

  // CL_INVALID_VALUE when the caller's room is too small.
  cl_int bytes(const void* data, std::size_t count) const {
    if (value_ != nullptr) {
      if (size_ < count) return CL_INVALID_VALUE;
      if (count > 0) std::memcpy(value_, data, count);
    }
    if (size_ret_ != nullptr) *size_ret_ = count;
    return CL_SUCCESS;
  }
  template <class T>
  cl_int value(const T& answer) const {
    return array(std::span<const T>(&answer, 1));
  }
  cl_int flag(bool answer) const { return value<cl_bool>(answer ? CL_TRUE : CL_FALSE); }
  template <class T>
  cl_int array(std::span<const T> answers) const {
    return bytes(answers.data(), answers.size_bytes());
  }
  // A string with its terminating zero.
  cl_int text(std::string_view answer) const {
    if (value_ != nullptr) {
      if (size_ < answer.size() + 1) return CL_INVALID_VALUE;
      std::memcpy(value_, answer.data(), answer.size());
      static_cast<char*>(value_)[answer.size()] = '\0';
    }
    if (size_ret_ != nullptr) *size_ret_ = answer.size() + 1;
    return CL_SUCCESS;
  }

 private:
  std::size_t size_;
  void* value_;
  std::size_t* size_ret_;
};

}  // namespace ww::sim::driver
