// Runs the driver's compiler: a worker, and its answers to earlier requests.
#pragma once

#include <string>

#include "common/compile/compile_cache.hpp"
#include "common/compile/compile_client.hpp"

namespace ww::sim::driver {

// Not thread-safe; the driver's lock guards it.
class Compiler {
 public:
  // Uses the worker at that path, which may take `timeout_ms` for a request.
  Compiler(const std::string& worker_path, int timeout_ms)
      : client_(worker_path, timeout_ms), cache_(compile_cache_folder(), worker_path) {}

  // Runs the compiler, or gives back what it said to the same request before. Errors are those of
  // CompileClient::run().
  CompileAnswer run(const CompileRequest& request) {
    const std::string key = cache_.key(request);
    if (auto known = cache_.find(key)) return *std::move(known);
    CompileAnswer answer = client_.run(request);
    cache_.keep(key, answer);
    return answer;
  }

 private:
  CompileClient client_;
  CompileCache cache_;
};

}  // namespace ww::sim::driver
