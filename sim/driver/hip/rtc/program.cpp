// hiprtc: HIP that a program compiles while it runs. The compile worker compiles it, as it does
// OpenCL C.
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hip/rtc/rtc.hpp"
#include "ww/binpatch/code_object.hpp"

namespace ww::sim::driver::hip {
namespace {

// hiprtcProgram.
struct RtcProgram {
  std::string source;
  std::vector<CompileHeader> headers;
  std::vector<std::string> expressions;
  std::map<std::string, std::string> lowered;  // symbols, by expression
  std::string log;
  std::string code;     // a code object
  std::string bitcode;  // in its place where the program is to be linked with others
  bool compiled{};
};

template <class Body>
int with_program(const void* handle, Body&& body) noexcept {
  return with_rtc_object<RtcProgram>(handle, kRtcInvalidProgram, std::forward<Body>(body));
}

std::string present_folder() {
  char path[PATH_MAX];
  return ::getcwd(path, sizeof path) != nullptr ? path : "";
}

// The target that an option of HIP or of its model names.
std::string_view target_option(std::string_view option) {
  for (const std::string_view name : {"--gpu-architecture=", "--offload-arch=", "-arch="}) {
    if (option.starts_with(name)) return option.substr(name.size());
  }
  return {};
}

std::string marker(std::size_t index) {
  return "__wirewatt_hiprtc_name_" + std::to_string(index);
}

// The source, and a variable for each expression that the compiler has to set to its address: it
// alone can look names up and make templates' instances. Programs that are linked with each other
// may all have them (weak).
std::string source_with_names(const RtcProgram& program) {
  std::string source = program.source;
  for (std::size_t i = 0; i < program.expressions.size(); ++i) {
    source += "\n__attribute__((device, used, weak)) const void* " + marker(i) +
              " = (const void*)(" + program.expressions[i] + ");\n";
  }
  return source;
}

// The symbols whose addresses the variables have.
bool read_names(RtcProgram& program, const binpatch::CodeObject& object) {
  std::map<std::uint64_t, std::string> names;
  for (const auto& kernel : object.kernels()) names[kernel.entry_address] = kernel.name;
  for (const auto& variable : object.variables()) names[variable.address] = variable.name;
  std::map<std::uint64_t, std::uint64_t> values;
  for (const auto& each : object.relocations()) values[each.address] = each.value;
  for (std::size_t i = 0; i < program.expressions.size(); ++i) {
    for (const auto& variable : object.variables()) {
      if (variable.name != marker(i)) continue;
      const auto value = values.find(variable.address);
      if (value == values.end() || !names.contains(value->second)) return false;
      program.lowered[program.expressions[i]] = names[value->second];
    }
  }
  return program.lowered.size() == program.expressions.size();
}

// Reads the names from bitcode. What it calls of other programs does not matter for that.
bool read_names_of_bitcode(RtcProgram& program, const std::string& target) {
  if (program.expressions.empty()) return true;
  CompileRequest request = link_request(target, {program.bitcode});
  request.options = {"-Wl,--noinhibit-exec"};
  const CompileAnswer answer = run_compiler(request);
  if (answer.status != CompileStatus::success) {
    program.log += answer.log;
    return false;
  }
  const auto object = binpatch::CodeObject::parse(std::as_bytes(std::span(answer.output)));
  return object && read_names(program, *object);
}

int compile_program(RtcProgram& program, std::span<const char* const> options) {
  CompileRequest request;
  request.operation = CompileOperation::build_hip;
  request.working_directory = present_folder();
  request.headers = program.headers;
  request.source = source_with_names(program);
  std::string target;
  for (const char* option : options) {
    if (option == nullptr) return kRtcInvalidOption;
    const std::string_view named = target_option(option);
    if (!named.empty()) {
      target = named;
      continue;
    }
    // Clang's name for code that is linked later, and its older one.
    const std::string_view word = option;
    if (word == "-fgpu-rdc" || word == "-fcuda-rdc") {
      request.operation = CompileOperation::compile_hip;
    } else if (word == "-fno-gpu-rdc") {
      request.operation = CompileOperation::build_hip;
    } else {
      request.options.emplace_back(word);
    }
  }
  if (target.empty()) target = device_target();
  if (!target.starts_with("gfx")) return kRtcInvalidOption;
  request.isa = isa_of(target);
  CompileAnswer answer = run_compiler(request);
  program.log = std::move(answer.log);
  program.code.clear();
  program.bitcode.clear();
  program.lowered.clear();
  program.compiled = true;
  if (answer.status != CompileStatus::success) return kRtcCompilation;
  if (request.operation == CompileOperation::compile_hip) {
    program.bitcode = std::move(answer.output);
    return read_names_of_bitcode(program, target) ? kRtcSuccess : kRtcNameExpressionNotValid;
  }
  const auto object = binpatch::CodeObject::parse(std::as_bytes(std::span(answer.output)));
  if (!object) {
    program.log += "error: " + object.error().text() + "\n";
    return kRtcCompilation;
  }
  if (!read_names(program, *object)) return kRtcNameExpressionNotValid;
  program.code = std::move(answer.output);
  return kRtcSuccess;
}

// Size of the log with the zero at its end; 0 where nothing was said.
std::size_t log_bytes(const RtcProgram& program) {
  return program.log.empty() ? 0 : program.log.size() + 1;
}

// Returns the size of a compilation's output; checks `bytes` before the program.
int output_size(const void* handle, std::string RtcProgram::*made, std::size_t* bytes) {
  if (bytes == nullptr) return kRtcInvalidInput;
  return with_program(handle, [&](RtcProgram& program) -> int {
    if ((program.*made).empty()) return kRtcInvalidProgram;
    *bytes = (program.*made).size();
    return kRtcSuccess;
  });
}
int output(const void* handle, std::string RtcProgram::*made, char* place) {
  if (place == nullptr) return kRtcInvalidInput;
  return with_program(handle, [&](RtcProgram& program) -> int {
    if ((program.*made).empty()) return kRtcInvalidProgram;
    std::ranges::copy(program.*made, place);
    return kRtcSuccess;
  });
}

}  // namespace

WW_HIP_EXPORT int hiprtcCreateProgram(void** handle, const char* source, const char*,
                                      int header_count, const char* const* headers,
                                      const char* const* header_names) {
  return rtc_call([&]() -> int {
    if (handle == nullptr || source == nullptr || header_count < 0) return kRtcInvalidInput;
    if (header_count > 0 && (headers == nullptr || header_names == nullptr)) {
      return kRtcInvalidInput;
    }
    auto made = std::make_unique<RtcProgram>();
    made->source = source;
    for (std::size_t i = 0; i < static_cast<std::size_t>(header_count); ++i) {
      if (headers[i] == nullptr || header_names[i] == nullptr) return kRtcInvalidInput;
      made->headers.push_back({header_names[i], headers[i]});
    }
    *handle = made.get();
    rtc_objects<RtcProgram>().emplace(*handle, std::move(made));
    return kRtcSuccess;
  });
}
WW_HIP_EXPORT int hiprtcDestroyProgram(void** handle) {
  return rtc_call([&]() -> int {
    if (handle == nullptr) return kRtcInvalidInput;
    if (rtc_objects<RtcProgram>().erase(*handle) == 0) return kRtcInvalidProgram;
    *handle = nullptr;
    return kRtcSuccess;
  });
}
WW_HIP_EXPORT int hiprtcAddNameExpression(void* handle, const char* expression) {
  return with_program(handle, [&](RtcProgram& program) -> int {
    if (expression == nullptr) return kRtcInvalidInput;
    if (program.compiled) return kRtcNoNameExpressionsAfterCompilation;
    if (std::find(program.expressions.begin(), program.expressions.end(), expression) ==
        program.expressions.end()) {
      program.expressions.emplace_back(expression);
    }
    return kRtcSuccess;
  });
}
WW_HIP_EXPORT int hiprtcCompileProgram(void* handle, int count, const char* const* options) {
  return with_program(handle, [&](RtcProgram& program) -> int {
    if (count < 0 || (count > 0 && options == nullptr)) return kRtcInvalidInput;
    return compile_program(program, {options, static_cast<std::size_t>(count)});
  });
}
WW_HIP_EXPORT int hiprtcGetLoweredName(void* handle, const char* expression, const char** name) {
  return with_program(handle, [&](RtcProgram& program) -> int {
    if (expression == nullptr || name == nullptr) return kRtcInvalidInput;
    if (!program.compiled) return kRtcNoLoweredNamesBeforeCompilation;
    const auto found = program.lowered.find(expression);
    if (found == program.lowered.end()) return kRtcNameExpressionNotValid;
    *name = found->second.c_str();
    return kRtcSuccess;
  });
}
WW_HIP_EXPORT int hiprtcGetProgramLogSize(void* handle, std::size_t* bytes) {
  return with_program(handle, [&](RtcProgram& program) -> int {
    if (bytes == nullptr) return kRtcInvalidInput;
    *bytes = log_bytes(program);
    return kRtcSuccess;
  });
}
WW_HIP_EXPORT int hiprtcGetProgramLog(void* handle, char* log) {
  return with_program(handle, [&](RtcProgram& program) -> int {
    if (log == nullptr) return kRtcInvalidInput;
    std::memcpy(log, program.log.c_str(), log_bytes(program));
    return kRtcSuccess;
  });
}
WW_HIP_EXPORT int hiprtcGetCodeSize(void* handle, std::size_t* bytes) {
  return output_size(handle, &RtcProgram::code, bytes);
}
WW_HIP_EXPORT int hiprtcGetCode(void* handle, char* code) {
  return output(handle, &RtcProgram::code, code);
}
WW_HIP_EXPORT int hiprtcGetBitcodeSize(void* handle, std::size_t* bytes) {
  return output_size(handle, &RtcProgram::bitcode, bytes);
}
WW_HIP_EXPORT int hiprtcGetBitcode(void* handle, char* bitcode) {
  return output(handle, &RtcProgram::bitcode, bitcode);
}

}  // namespace ww::sim::driver::hip
