// OpenCL C to code objects with AMD's compiler library, found at run time.
#pragma once

#include <memory>

#include "common/compile/protocol.hpp"

namespace ww::sim::driver {

struct ComgrApi;

class Comgr {
 public:
  // Loads libamd_comgr, version 2.4 or later, from wherever ROCm put it. Error
  // missing_dependency: the message names the package.
  static Result<Comgr> load();
  ~Comgr();
  Comgr(Comgr&&) noexcept;

  // Whether the library has the target ("amdgcn-amd-amdhsa--gfx942"): older ones lack the newest.
  [[nodiscard]] bool knows(const std::string& isa) const;

  // Carries out one request. Never fails as such: the answer's status and log say what went wrong.
  // The library may abort the process on some inputs.
  CompileAnswer run(CompileRequest request) const;

 private:
  Comgr(std::unique_ptr<ComgrApi> api, std::string file);
  [[nodiscard]] CompileAnswer answer(const CompileRequest& request) const;
  std::unique_ptr<ComgrApi> api_;
  std::string file_;  // of the library
};

}  // namespace ww::sim::driver
