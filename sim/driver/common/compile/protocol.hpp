// Declares the protocol of the driver and the compile worker: one length-prefixed request, one
// length-prefixed answer, over a stream socket. Both ends are the same build, so the encoding is
// the machine's own; a version number catches a worker of another build.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ww/core/result.hpp"

namespace ww::sim::driver {

// Largest frame either end accepts [bytes]; larger prefixes mean a broken stream.
inline constexpr std::uint64_t kMaxFrameBytes = std::uint64_t{1} << 30;

// How the name of a worker's folder for temporary files begins. The driver makes it and names it in
// TMPDIR; whoever ends last removes it.
inline constexpr std::string_view kWorkerFolder = "wirewatt-compile-";

enum class CompileOperation : std::uint32_t {
  compile,      // source to LLVM bitcode, device libraries linked in
  link,         // bitcodes to one gfx701 code object
  library,      // bitcodes to one bitcode
  build,        // source to a code object: compile, then link
  build_hip,    // HIP source to a code object
  compile_hip,  // HIP source to LLVM bitcode, device libraries linked in
  link_hip,     // HIP's bitcodes to one code object
};

// Whether clang compiles it for every target.
[[nodiscard]] constexpr bool is_of_hip(CompileOperation operation) {
  return operation >= CompileOperation::build_hip;
}
// Whether it has HIP source.
[[nodiscard]] constexpr bool compiles_hip(CompileOperation operation) {
  return operation == CompileOperation::build_hip || operation == CompileOperation::compile_hip;
}

// A named text: an include file of clCompileProgram.
struct CompileHeader {
  std::string name;
  std::string text;
};

struct CompileRequest {
  CompileOperation operation{CompileOperation::build};
  std::string isa;     // "amdgcn-amd-amdhsa--gfx701"
  std::string source;  // compile, build, build_hip, compile_hip
  std::vector<CompileHeader> headers;
  std::vector<std::string> options;   // clang's, one word an entry
  std::string working_directory;      // where relative include paths start
  std::vector<std::string> bitcodes;  // link, library, link_hip
};

enum class CompileStatus : std::uint32_t {
  success,
  failed,         // the compiler said no; the log has its words
  no_compiler,    // libamd_comgr, its device libraries or the worker are not there
  worker_failed,  // the worker died or hung
};

struct CompileAnswer {
  CompileStatus status{CompileStatus::failed};
  std::string log;
  std::string output;  // code object or bitcode, by operation
  // Files beside the request that the output comes from, the compiler first; empty: unknown. Of
  // libraries and headers that are installed together one stands for all.
  std::vector<std::string> made_with{};
};

[[nodiscard]] std::string encode(const CompileRequest& request);
[[nodiscard]] std::string encode(const CompileAnswer& answer);

// Errors: parse_error for a truncated, oversized or foreign frame.
[[nodiscard]] Result<CompileRequest> decode_request(std::string_view frame);
[[nodiscard]] Result<CompileAnswer> decode_answer(std::string_view frame);

// Writes a frame with its length in front. `timeout_ms` < 0 waits for ever. Errors: io_error (the
// other end is gone; no signal is raised), cancelled (the time is up).
Status send_frame(int socket, std::string_view frame, int timeout_ms);
// Reads one frame. Errors: not_found (the stream ended between frames), io_error, parse_error (a
// length over kMaxFrameBytes), cancelled (the time is up).
Result<std::string> receive_frame(int socket, int timeout_ms);

}  // namespace ww::sim::driver
