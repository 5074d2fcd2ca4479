#include "host/code_compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "ww/core/atomic_file.hpp"
#include "ww/core/subprocess.hpp"
#include "ww/core/temporary_folder.hpp"
#include "ww/kernels/sources.hpp"

namespace ww::microbench {
namespace {

namespace fs = std::filesystem;

// $WIREWATT_COMPILE_WORKER, else beside the program.
fs::path worker_path() {
  if (const char* set = std::getenv("WIREWATT_COMPILE_WORKER"); set != nullptr && *set != '\0') {
    return fs::absolute(set);
  }
  const auto program = own_program();
  if (!program) {
    return "wirewatt-compile-worker";
  }
  return (program->parent_path() / "../libexec/wirewatt/wirewatt-compile-worker")
      .lexically_normal();
}

}  // namespace

Result<std::vector<std::byte>> compile_for_amd(const std::string& target, const std::string& text,
                                               const std::string& name) {
  const fs::path worker = worker_path();
  if (std::error_code ec; !fs::exists(worker, ec)) {
    return fail(ErrorCode::missing_dependency,
                fmt::format("the compiler is not at {}; build it (target wirewatt-compile-worker) "
                            "or set WIREWATT_COMPILE_WORKER",
                            worker.string()),
                name);
  }
  WW_ASSIGN(scratch, ScratchFolder::create("compile"));
  const fs::path source = scratch.path() / "program.cl";
  const fs::path object = scratch.path() / "program.co";
  WW_TRY(write_file_atomically(source, text));
  ProcessRequest request;
  request.command = {worker.string(), "--compile", "amdgcn-amd-amdhsa--" + target, source.string(),
                     object.string()};
  std::ranges::copy(kernels::compiler_options(text, target), std::back_inserter(request.command));
  request.limit = std::chrono::minutes(2);
  WW_ASSIGN(done, run_process(request));
  if (done.exit_code == 3) return fail(ErrorCode::missing_dependency, done.errors, name);
  if (done.timed_out) return fail(ErrorCode::device_error, "the compiler took over 2 min", name);
  if (done.exit_code != 0) {
    return fail(ErrorCode::device_error,
                fmt::format("the build failed{}\n{}",
                            done.signal != 0 ? ": the compiler crashed" : "", done.errors),
                fmt::format("kernel {} for {}", name, target));
  }
  WW_ASSIGN(bytes, read_file(object));
  std::vector<std::byte> result(bytes.size());
  std::ranges::transform(bytes, result.begin(), [](char c) { return static_cast<std::byte>(c); });
  return result;
}

}  // namespace ww::microbench
