// OpenCL C to code objects with the program clang-19, for targets that are newer than AMD's
// compiler library at hand: Debian's is of LLVM 15, which ends before gfx941. The device libraries
// are those that are installed. The one that says which instruction set they are for is made where
// it lacks. HIP is compiled so for every target.
#pragma once

#include <memory>
#include <string>

#include "common/compile/protocol.hpp"

namespace ww::sim::driver {

class Clang {
 public:
  // Looks for clang-19 and lld-19 on PATH and for the device libraries. Error missing_dependency:
  // the message names the packages.
  static Result<Clang> find();
  ~Clang();
  Clang(Clang&&) noexcept;

  // Carries out one request. Never fails as such: the answer's status and log say what went wrong.
  // The compiler is a process of its own: where it aborts, the build has failed.
  [[nodiscard]] CompileAnswer run(const CompileRequest& request);

 private:
  struct Impl;
  explicit Clang(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ww::sim::driver
