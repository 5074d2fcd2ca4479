// Building, compiling and linking programs through the compile worker.
#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <span>

#include "common/compile/compiler.hpp"
#include "common/runtime/runtime.hpp"
#include "opencl/object/api.hpp"
#include "opencl/object/entry_call.hpp"
#include "opencl/object/objects.hpp"
#include "opencl/program/build_options.hpp"
#include "opencl/program/program.hpp"

namespace ww::sim::driver {
namespace {

using BuildNotify = void(CL_CALLBACK*)(cl_program, void*);

std::string text_or_empty(const char* text) {
  return text != nullptr ? text : "";
}

std::string working_directory() {
  char path[PATH_MAX];
  return ::getcwd(path, sizeof path) != nullptr ? path : "";
}

const std::string& gfx_target() {
  return Runtime::get().powered_gpu().chip().architecture().gfx_target;
}

DeviceLanguage language_of_device() {
  return device_language(gfx_target());
}

CompileRequest new_request(CompileOperation operation) {
  CompileRequest request;
  request.operation = operation;
  request.isa = "amdgcn-amd-amdhsa--" + gfx_target();
  request.working_directory = working_directory();
  return request;
}

// Notes a failure in the program's log.
cl_int failed(_cl_program& program, const std::string& log, cl_int code) {
  program.log += log;
  if (!program.log.empty() && program.log.back() != '\n') program.log += '\n';
  program.status = CL_BUILD_ERROR;
  return code;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// Takes the compiler's answer; the output is the program's new binary.
cl_int take(_cl_program& program, CompileAnswer answer, cl_int failure) {
  program.log += answer.log;
  switch (answer.status) {
    case CompileStatus::success: break;
    case CompileStatus::failed: return failed(program, "", failure);
    // Not the source's fault: said on stderr too, because many programs never print the log.
    case CompileStatus::no_compiler:
      print_line(first_line(answer.log));
      return failed(
          program, "",
          failure == CL_LINK_PROGRAM_FAILURE ? CL_LINKER_NOT_AVAILABLE : CL_COMPILER_NOT_AVAILABLE);
    case CompileStatus::worker_failed:
      print_line(first_line(answer.log));
      return failed(program, "", failure);
  }
  program.binary = std::move(answer.output);
  return CL_SUCCESS;
}

// Does a kernel use all vector registers that its work-groups leave it?
bool is_short_of_registers(std::string_view binary) {
  const auto object = binpatch::CodeObject::parse(std::as_bytes(std::span(binary)));
  if (!object) return false;
  const std::string target = binpatch::to_string(object->target());
  const bool unified = target == "gfx90a" || target == "gfx942";
  constexpr std::uint32_t items_per_row = 4 * 64;  // a wave on each SIMD
  return std::any_of(object->kernels().begin(), object->kernels().end(), [&](const auto& kernel) {
    const std::uint32_t waves =
        std::max(1U, (kernel.max_flat_workgroup_size + items_per_row - 1) / items_per_row);
    return kernel.vgpr_count >= std::min(256U, (unified ? 512U : 256U) / waves);
  });
}

// Runs the compiler. Functions that no kernel needs are left out: LLVM keeps them for other
// programs, of which an executable has none, and a library's worth takes it minutes. Once more
// where
// - a function that is called takes all scalar registers: of gfx7's, LLVM 15 then leaves none to
//   the kernel's own needs and fails. Functions inlined, it knows better;
// - vector registers are short. LLVM 15 then makes values anew from the registers that they were
//   made of, and of a pair it only asks whether some half is still there
//   (LiveRangeEdit::allUsesAvailableAt): addresses come out wrong. It does not where the halves of
//   registers are not distinguished.
CompileAnswer run_compiler(CompileRequest request) {
  const bool has_code =
      request.operation == CompileOperation::build || request.operation == CompileOperation::link;
  if (has_code) {
    request.options.insert(request.options.end(), {"-mllvm", "-amdgpu-internalize-symbols"});
  }
  Compiler& compiler = Runtime::get().compiler();
  CompileAnswer answer = compiler.run(request);
  if (answer.status == CompileStatus::failed && has_code &&
      answer.log.find("error: scalar registers (") != std::string::npos) {
    request.options.insert(request.options.end(), {"-mllvm", "-amdgpu-function-calls=0",
                                                   "-Dnoinline=", "-D__noinline__="});
    CompileAnswer inlined = compiler.run(request);
    if (inlined.status != CompileStatus::success) return answer;
    answer = std::move(inlined);
  }
  if (answer.status != CompileStatus::success || !has_code ||
      !is_short_of_registers(answer.output)) {
    return answer;
  }
  request.options.insert(request.options.end(), {"-mllvm", "-enable-subreg-liveness=0"});
  CompileAnswer again = compiler.run(request);
  return again.status == CompileStatus::success ? again : answer;
}

// The source without the mark that editors put before UTF-8: only at a file's very start would the
// compiler pass over it.
std::string_view without_byte_order_mark(std::string_view source) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return source.substr(source.starts_with(mark) ? mark.size() : 0);
}

// The code of a failed compilation: options that the compiler does not know have one of their own.
cl_int failure_of(const CompileAnswer& answer, cl_int failure) {
  if (answer.log.find("error: unknown argument") == std::string::npos) return failure;
  return failure == CL_BUILD_PROGRAM_FAILURE ? CL_INVALID_BUILD_OPTIONS
                                             : CL_INVALID_COMPILER_OPTIONS;
}

// Compiles the program's source, by itself or up to a code object.
cl_int compile_source(_cl_program& program, CompileRequest request, const CompileOptions& options,
                      cl_int failure) {
  const std::string_view source = without_byte_order_mark(program.source);
  const bool prints = source.find("printf") != std::string_view::npos;
  request.options = options.words;
  // Findings then name the line; the code stays the same.
  if (checking()) request.options.emplace_back("-gline-tables-only");
  request.source = options.prelude + end_of_prelude(prints);
  request.source += source;
  CompileAnswer answer = run_compiler(request);
  if (prints && answer.status == CompileStatus::worker_failed) {
    // LLVM 15 crashes on some printf; a program that prints nothing is better than none.
    request.source = options.prelude + end_of_prelude(false);
    request.source += source;
    CompileAnswer again = run_compiler(request);
    if (again.status == CompileStatus::success) {
      const std::string warning =
          "warning: the compiler cannot handle a printf of this program; its kernels will print "
          "nothing\n";
      again.log = warning + again.log;
      print_line(warning.substr(0, warning.size() - 1));
      answer = std::move(again);
    }
  }
  failure = failure_of(answer, failure);
  return take(program, std::move(answer), failure);
}

// Does the ELF file have a segment with code? One that comes of a source without kernels has none.
bool has_code(std::string_view elf) {
  Elf64_Ehdr header{};
  if (elf.size() < sizeof header) return true;  // let the parser say what is wrong
  std::memcpy(&header, elf.data(), sizeof header);
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (header.e_phoff > elf.size() || elf.size() - header.e_phoff < (i + 1) * sizeof segment) {
      return true;
    }
    std::memcpy(&segment, elf.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) return true;
  }
  return false;
}

// Loads the program's code object into the device.
cl_int load_module(_cl_program& program, cl_int failure) {
  if (program.from_source && !has_code(program.binary)) {
    program.binary_type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    program.status = CL_BUILD_SUCCESS;
    return CL_SUCCESS;
  }
  auto object = parse_for_device(program.binary);
  if (!object) return failed(program, "error: " + object.error().text(), failure);
  auto id = Runtime::get().powered_gpu().load(*object);
  if (!id) return failed(program, "error: " + id.error().text(), failure);
  program.module = std::make_shared<const Module>(std::move(*object), *id);
  program.binary_type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  program.status = CL_BUILD_SUCCESS;
  return CL_SUCCESS;
}

}  // namespace

std::size_t max_group_size(const _cl_kernel& kernel) {
  const _cl_program& program = *kernel.program.get();
  if (!program.from_source || kernel.info->required_workgroup_size) {
    return kernel.info->max_flat_workgroup_size;
  }
  for (std::size_t i = kLargeGroups.size(); i-- != 0;) {
    const LargeForm& large = program.large[i];
    if (!large.tried || large.module) return kLargeGroups[i];
  }
  return kernel.info->max_flat_workgroup_size;
}

std::shared_ptr<const Module> for_large_groups(_cl_program& program, std::size_t items) {
  const auto size = std::find_if(kLargeGroups.begin(), kLargeGroups.end(),
                                 [items](std::size_t most) { return items <= most; });
  if (size == kLargeGroups.end()) return nullptr;
  LargeForm& large = program.large[static_cast<std::size_t>(size - kLargeGroups.begin())];
  if (large.tried) return large.module;
  large.tried = true;
  auto options = compile_options(program.options, language_of_device());
  if (!program.from_source || !options) return nullptr;
  const std::string attribute =
      "__attribute__((amdgpu_flat_work_group_size(1, " + std::to_string(*size) + ")))";
  options->prelude += "#define __kernel __kernel " + attribute + "\n#define kernel __kernel\n";
  // An object of its own: the program's log and binary stay as they are.
  _cl_program built;
  built.from_source = true;
  built.source = program.source;
  if (compile_source(built, new_request(CompileOperation::build), *options,
                     CL_BUILD_PROGRAM_FAILURE) != CL_SUCCESS ||
      load_module(built, CL_BUILD_PROGRAM_FAILURE) != CL_SUCCESS) {
    return nullptr;
  }
  large.module = std::move(built.module);
  return large.module;
}

cl_int load_executable(_cl_program& program, cl_int failure) {
  return load_module(program, failure);
}

namespace {

// Removes what an earlier build left behind.
void start_over(_cl_program& program, const char* options) {
  program.options = text_or_empty(options);
  program.log.clear();
  program.module.reset();
  program.large = {};
  program.status = CL_BUILD_IN_PROGRESS;
  if (program.from_source) {
    program.binary.clear();
    program.binary_type = CL_PROGRAM_BINARY_TYPE_NONE;
  }
}

cl_int build(_cl_program& program, const char* options_text) {
  start_over(program, options_text);
  if (!program.from_source && program.binary_type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE) {
    return load_module(program, CL_BUILD_PROGRAM_FAILURE);
  }
  auto options = compile_options(program.options, language_of_device());
  if (!options)
    return failed(program, "error: " + options.error().text(), CL_INVALID_BUILD_OPTIONS);
  cl_int code = CL_SUCCESS;
  if (program.from_source) {
    code = compile_source(program, new_request(CompileOperation::build), *options,
                          CL_BUILD_PROGRAM_FAILURE);
  } else {
    CompileRequest request = new_request(CompileOperation::link);
    request.options = std::move(options->words);
    request.bitcodes.emplace_back(bitcode_of(program.binary));
    code = take(program, run_compiler(std::move(request)), CL_BUILD_PROGRAM_FAILURE);
  }
  return code == CL_SUCCESS ? load_module(program, CL_BUILD_PROGRAM_FAILURE) : code;
}

cl_int compile(_cl_program& program, const char* options_text, std::vector<CompileHeader> headers) {
  start_over(program, options_text);
  auto options = compile_options(program.options, language_of_device());
  if (!options) {
    return failed(program, "error: " + options.error().text(), CL_INVALID_COMPILER_OPTIONS);
  }
  CompileRequest request = new_request(CompileOperation::compile);
  request.headers = std::move(headers);
  const cl_int code =
      compile_source(program, std::move(request), *options, CL_COMPILE_PROGRAM_FAILURE);
  if (code != CL_SUCCESS) return code;
  program.binary_type = CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
  program.status = CL_BUILD_SUCCESS;
  return CL_SUCCESS;
}

cl_int link(_cl_program& program, std::vector<std::string> bitcodes, LinkOptions options) {
  program.status = CL_BUILD_IN_PROGRESS;
  CompileRequest request =
      new_request(options.create_library ? CompileOperation::library : CompileOperation::link);
  request.options = std::move(options.words);
  request.bitcodes = std::move(bitcodes);
  const cl_int code = take(program, run_compiler(std::move(request)), CL_LINK_PROGRAM_FAILURE);
  if (code != CL_SUCCESS) return code;
  if (!options.create_library) return load_module(program, CL_LINK_PROGRAM_FAILURE);
  program.binary = library_binary(program.binary);
  program.binary_type = CL_PROGRAM_BINARY_TYPE_LIBRARY;
  program.status = CL_BUILD_SUCCESS;
  return CL_SUCCESS;
}

void notify_later(cl_program program, BuildNotify notify, void* user_data) {
  if (notify == nullptr) return;
  Runtime::get().callbacks.push_back(
      [kept = Use(program), notify, user_data] { notify(kept.get(), user_data); });
}

// Makes the checks that clBuildProgram and clCompileProgram share.
cl_int check_build(cl_program program, cl_uint count, const cl_device_id* devices,
                   BuildNotify notify, const void* user_data) {
  if (!valid(program)) return CL_INVALID_PROGRAM;
  if (const cl_int bad = check_device_list(count, devices); bad != CL_SUCCESS) return bad;
  if (notify == nullptr && user_data != nullptr) return CL_INVALID_VALUE;
  return program->kernels > 0 ? CL_INVALID_OPERATION : CL_SUCCESS;
}

bool is_linkable(const _cl_program& program) {
  return program.binary_type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT ||
         program.binary_type == CL_PROGRAM_BINARY_TYPE_LIBRARY;
}

}  // namespace

namespace api {

cl_int CL_API_CALL clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices,
                                  const char* options, BuildNotify notify, void* user_data) {
  return guarded([&](Entry&) -> cl_int {
    if (const cl_int bad = check_build(program, count, devices, notify, user_data);
        bad != CL_SUCCESS) {
      return bad;
    }
    if (program->linked) return CL_INVALID_OPERATION;
    const Use keep(program);
    const cl_int code = build(*program, options);
    notify_later(program, notify, user_data);
    return code;
  });
}

cl_int CL_API_CALL clCompileProgram(cl_program program, cl_uint count, const cl_device_id* devices,
                                    const char* options, cl_uint header_count,
                                    const cl_program* headers, const char** names,
                                    BuildNotify notify, void* user_data) {
  return guarded([&](Entry&) -> cl_int {
    if (const cl_int bad = check_build(program, count, devices, notify, user_data);
        bad != CL_SUCCESS) {
      return bad;
    }
    if ((header_count == 0) != (headers == nullptr) || (header_count == 0) != (names == nullptr)) {
      return CL_INVALID_VALUE;
    }
    if (!program->from_source) return CL_INVALID_OPERATION;
    std::vector<CompileHeader> texts;
    for (cl_uint i = 0; i < header_count; ++i) {
      if (names[i] == nullptr) return CL_INVALID_VALUE;
      if (!valid(headers[i])) return CL_INVALID_PROGRAM;
      if (!headers[i]->from_source) return CL_INVALID_OPERATION;
      texts.push_back({names[i], headers[i]->source});
    }
    const Use keep(program);
    const cl_int code = compile(*program, options, std::move(texts));
    notify_later(program, notify, user_data);
    return code;
  });
}

cl_program CL_API_CALL clLinkProgram(cl_context context, cl_uint count, const cl_device_id* devices,
                                     const char* options_text, cl_uint program_count,
                                     const cl_program* programs, BuildNotify notify,
                                     void* user_data, cl_int* errcode_ret) {
  // A failed link still gives a program, which has the log.
  cl_int link_code = CL_SUCCESS;
  cl_int code = CL_SUCCESS;
  const auto program = created<cl_program>(&code, [&](Entry&) -> Created<cl_program> {
    if (!valid(context)) return refuse(CL_INVALID_CONTEXT);
    if (const cl_int bad = check_device_list(count, devices); bad != CL_SUCCESS) return refuse(bad);
    if (program_count == 0 || programs == nullptr || (notify == nullptr && user_data != nullptr)) {
      return refuse(CL_INVALID_VALUE);
    }
    std::vector<std::string> bitcodes;
    for (cl_uint i = 0; i < program_count; ++i) {
      if (!valid(programs[i])) return refuse(CL_INVALID_PROGRAM);
      if (!is_linkable(*programs[i])) return refuse(CL_INVALID_OPERATION);
      bitcodes.emplace_back(bitcode_of(programs[i]->binary));
    }
    auto options = link_options(text_or_empty(options_text));
    if (!options) {
      print_line("clLinkProgram: " + options.error().text());
      return refuse(CL_INVALID_LINKER_OPTIONS);
    }
    auto* linked = new_program(context);
    linked->linked = true;
    linked->options = text_or_empty(options_text);
    link_code = link(*linked, std::move(bitcodes), std::move(*options));
    notify_later(linked, notify, user_data);
    return linked;
  });
  if (errcode_ret != nullptr) *errcode_ret = code != CL_SUCCESS ? code : link_code;
  return program;
}

cl_int CL_API_CALL clUnloadCompiler() {
  return CL_SUCCESS;
}

cl_int CL_API_CALL clUnloadPlatformCompiler(cl_platform_id platform) {
  return platform == the_platform() ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

}  // namespace api
}  // namespace ww::sim::driver
