#include "clang.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/compile/known_errors.hpp"
#include "hip_functions.hpp"
#include "ww/core/atomic_file.hpp"
#include "ww/core/process.hpp"
#include "ww/core/subprocess.hpp"
#include "ww/core/temporary_folder.hpp"

namespace ww::sim::driver {

namespace fs = std::filesystem;

namespace {

constexpr const char* kCompiler = "clang-19";  // of kClangRelease
constexpr const char* kLinker = "ld.lld-19";
constexpr const char* kDeviceLibrary = "ockl.bc";  // one of them
constexpr const char* kHipHeader = "include/hip/hip_runtime.h";
constexpr const char* kVersionHeader = "include/hip/hip_version.h";
// Device functions that a header calls by that name, and that older device libraries and compilers
// do not have.
struct MissingFunctions {
  const char* header;
  const char* name;     // one of them
  const char* library;  // that may have them; null: none has
  std::string_view text;
};
constexpr MissingFunctions kMissingFunctions[] = {
    {"include/hip/amd_detail/amd_hip_atomic.h", "llvm.amdgcn.atomic.inc.i32.p0i32", nullptr,
     kHipAtomics},
    {"include/hip/amd_detail/amd_device_functions.h", "__ockl_steadyctr_u64", kDeviceLibrary,
     kHipSteadyClock},
    {"include/hip/amd_detail/amd_device_functions.h", "__ocml_cvtrtz_f32_f64", "ocml.bc",
     kHipRounding},
};
// Types that AMD's hiprtc defines before every program.
constexpr const char* kProgramTypes =
    "#ifndef __HIP_NO_STD_DEFS__\n"
    "#if defined(__HIPRTC_PTRDIFF_T_IS_LONG_LONG__) && __HIPRTC_PTRDIFF_T_IS_LONG_LONG__\n"
    "typedef long long ptrdiff_t;\n"
    "#else\n"
    "typedef __PTRDIFF_TYPE__ ptrdiff_t;\n"
    "#endif\n"
    "typedef long clock_t;\n"
    "namespace std {\n"
    "typedef ::ptrdiff_t ptrdiff_t;\n"
    "typedef ::clock_t clock_t;\n"
    "}\n"
    "#endif\n";
// Headers that AMD's hiprtc hands to every program beside the runtime's, in that order (ROCm/clr,
// hipamd/src/hiprtc/CMakeLists.txt, HIPRTC_HEADERS). With hiprtc they do not include one another.
struct ProgramHeader {
  const char* name;
  // HIP 5's headers need headers of C++ that are not for a device; they do not speak of hiprtc.
  bool since_6{};
};
constexpr ProgramHeader kProgramHeaders[] = {
    {"hip/hip_common.h"},
    {"hip/amd_detail/device_library_decls.h"},
    {"hip/amd_detail/hip_assert.h"},
    {"hip/library_types.h"},
    {"hip/driver_types.h"},
    {"hip/surface_types.h"},
    {"hip/amd_detail/amd_channel_descriptor.h"},
    {"hip/texture_types.h"},
    {"hip/amd_detail/ockl_image.h"},
    {"hip/amd_detail/texture_fetch_functions.h"},
    {"hip/amd_detail/texture_indirect_functions.h"},
    {"hip/amd_detail/amd_surface_functions.h"},
    {"hip/amd_detail/amd_hip_complex.h"},
    {"hip/amd_detail/amd_hip_math_constants.h"},
    {"hip/amd_detail/math_fwd.h"},
    {"hip/amd_detail/amd_warp_functions.h"},
    {"hip/amd_detail/amd_device_functions.h"},
    {"hip/amd_detail/amd_warp_sync_functions.h"},
    {"hip/amd_detail/hip_cooperative_groups_helper.h", true},
    {"hip/amd_detail/amd_hip_cooperative_groups.h", true},
    {"hip/amd_detail/amd_hip_unsafe_atomics.h"},
    {"hip/amd_detail/amd_hip_atomic.h"},
    {"hip/amd_detail/hip_fp16_math_fwd.h"},
    {"hip/amd_detail/amd_hip_fp16.h"},
    {"hip/amd_detail/amd_math_functions.h"},
    {"hip/hip_bfloat16.h", true},
};
constexpr std::string_view kTriple = "amdgcn-amd-amdhsa";

using Words = std::vector<std::string>;

// Whether the file is there and has that name in it.
bool names(const fs::path& file, std::string_view name) {
  const auto text = read_file(file);
  return text && text->find(name) != std::string::npos;
}

// Returns those of kProgramHeaders that exist, for programs of hiprtc.
std::vector<std::string> program_headers(const fs::path& root) {
  std::vector<std::string> headers;
  for (const ProgramHeader& header : kProgramHeaders) {
    const fs::path file = root / "include" / header.name;
    std::error_code ignored;
    if (header.since_6 ? names(file, "__HIPCC_RTC__") : fs::exists(file, ignored)) {
      headers.emplace_back(header.name);
    }
  }
  return headers;
}

// The definitions of the headers' version, by which the compiler's own header knows that kernels
// can allocate memory. With hiprtc nothing else includes them.
Words version_of(const fs::path& root) {
  Words definitions;
  const auto text = read_file(root / kVersionHeader);
  if (!text) return definitions;
  for (const std::string_view name :
       {"HIP_VERSION_MAJOR", "HIP_VERSION_MINOR", "HIP_VERSION_PATCH"}) {
    const auto at = text->find(fmt::format("#define {} ", name));
    if (at == std::string::npos) continue;
    const auto begin = text->find_first_of("0123456789\n", at);
    const auto end = text->find_first_not_of("0123456789", begin);
    definitions.push_back(fmt::format("-D{}={}", name, text->substr(begin, end - begin)));
  }
  return definitions;
}

// The folder of AMD's device libraries: of ROCM_PATH, of Debian 12 and 13, of ROCm.
std::optional<fs::path> device_libraries() {
  std::vector<fs::path> folders;
  if (const char* rocm = std::getenv("ROCM_PATH"); rocm != nullptr && *rocm != '\0') {
    folders.push_back(fs::path(rocm) / "amdgcn" / "bitcode");
  }
  folders.insert(folders.end(), {"/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
                                 "/usr/lib/aarch64-linux-gnu/amdgcn/bitcode",
                                 "/usr/lib/llvm-17/lib/clang/17/amdgcn/bitcode",
                                 "/usr/amdgcn/bitcode", "/opt/rocm/amdgcn/bitcode"});
  std::error_code ignored;
  for (const fs::path& folder : folders) {
    if (fs::exists(folder / kDeviceLibrary, ignored)) return folder;
  }
  return std::nullopt;
}

// The folder whose include/hip has HIP's headers.
std::optional<fs::path> hip_root() {
  std::vector<fs::path> folders;
  for (const char* name : {"WIREWATT_HIP_ROOT", "ROCM_PATH"}) {
    if (const char* named = std::getenv(name); named != nullptr && *named != '\0') {
      folders.emplace_back(named);
    }
  }
  folders.insert(folders.end(), {"/usr", "/opt/rocm"});
  std::error_code ignored;
  for (const fs::path& folder : folders) {
    if (fs::exists(folder / kHipHeader, ignored)) return folder;
  }
  return std::nullopt;
}

// "amdgcn-amd-amdhsa--gfx942:xnack-" -> "gfx942".
std::string processor_of(std::string_view isa) {
  const std::string_view name = isa.substr(std::min(isa.size(), isa.find("gfx")));
  return std::string(name.substr(0, name.find(':')));
}

// Version for the device libraries: major * 1000 + minor * 100 + stepping, where the last two
// digits of the name are minor and stepping, in base 16. LLVM, "User Guide for AMDGPU Backend".
std::optional<int> isa_version(std::string_view processor) {
  if (!processor.starts_with("gfx") || processor.size() < 6) return std::nullopt;
  processor.remove_prefix(3);
  const auto number = [](std::string_view digits, int base) -> std::optional<int> {
    int value = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return value;
  };
  const auto major = number(processor.substr(0, processor.size() - 2), 10);
  const auto minor = number(processor.substr(processor.size() - 2, 1), 16);
  const auto stepping = number(processor.substr(processor.size() - 1), 16);
  if (!major || !minor || !stepping) return std::nullopt;
  return *major * 1000 + *minor * 100 + *stepping;
}

bool is_optimisation(std::string_view word) {
  return word.size() == 3 && word.starts_with("-O");
}

// The options that code generation understands.
Words codegen_options(const Words& options) {
  Words kept;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (is_optimisation(options[i]) || options[i].starts_with("-mcode-object-version")) {
      kept.push_back(options[i]);
    } else if (options[i] == "-mllvm" && i + 1 < options.size()) {
      kept.insert(kept.end(), {options[i], options[i + 1]});
      ++i;
    }
  }
  return kept;
}

CompileAnswer failed(std::string log) {
  return {CompileStatus::failed, std::move(log), {}};
}

}  // namespace

struct Clang::Impl {
  std::string compiler;                    // path
  fs::path installed;                      // device libraries
  std::optional<ScratchFolder> libraries;  // links to them, and what they lack

  // One run of the compiler for the request's target; its output, or what it said.
  CompileAnswer compile(const Words& words, const CompileRequest& request, const fs::path& output) {
    Words all = {fmt::format("--target={}", kTriple), "-mcpu=" + processor_of(request.isa),
                 "-mcode-object-version=5",
                 // LLVM 19 makes pow(fabs(x), y) a powr, which is NaN where both are 0.
                 "-mllvm", "-amdgpu-simplify-libcall=0"};
    all.insert(all.end(), words.begin(), words.end());
    return run_compiler(all, request, output);
  }

  CompileAnswer run_compiler(const Words& words, const CompileRequest& request,
                             const fs::path& output) {
    ProcessRequest process;
    process.command = {compiler, "-fno-crash-diagnostics", "-Wno-unused-command-line-argument"};
    const Words without_errors = remedies(kClangRelease, words);
    process.command.insert(process.command.end(), without_errors.begin(), without_errors.end());
    process.command.insert(process.command.end(), words.begin(), words.end());
    process.command.insert(process.command.end(), {"-o", output.string()});
    process.folder = request.working_directory;
    process.limit = kUnlimited;  // the driver's limit ends the worker, and this with it
    process.ends_with_parent = true;
    const auto done = run_process(process);
    if (!done) return failed("error: " + done.error().text() + "\n");
    if (done->exit_code != 0) {
      return failed(done->errors.empty() ? fmt::format("error: {} ended with exit code {}\n",
                                                       kCompiler, done->exit_code)
                                         : done->errors);
    }
    auto made = read_file(output);
    if (!made) return failed("error: " + made.error().text() + "\n");
    return {CompileStatus::success, done->errors, std::move(*made)};
  }

  // A folder with all device libraries that the compiler asks for. Error: what the compiler said.
  Result<std::string> libraries_for(const CompileRequest& request) {
    const std::string processor = processor_of(request.isa);
    const auto version = isa_version(processor);
    if (!version) {
      return fail(ErrorCode::unsupported, "the compiler has no processor '" + processor + "'");
    }
    const std::string name = "oclc_isa_version_" + processor.substr(3) + ".bc";
    if (fs::exists(installed / name)) return installed.string();
    if (!libraries) {
      WW_ASSIGN(folder, ScratchFolder::create("device-libraries"));
      for (const auto& entry : fs::directory_iterator(installed)) {
        fs::create_symlink(entry.path(), folder.path() / entry.path().filename());
      }
      libraries.emplace(std::move(folder));
    }
    const fs::path made = libraries->path() / name;
    if (!fs::exists(made)) {
      const fs::path source = libraries->path() / "isa_version.cl";
      WW_TRY(write_file_atomically(
          source, fmt::format("const __constant unsigned __oclc_ISA_version = {};\n", *version)));
      const CompileAnswer answer =
          compile({"-x", "cl", "-nogpulib", "-emit-llvm", "-c", source.string()}, request, made);
      if (answer.status != CompileStatus::success) {
        return fail(ErrorCode::unsupported, answer.log);
      }
    }
    return libraries->path().string();
  }

  // Writes the request's headers into the folder. Errors: io_error, invalid_argument (a name that
  // leaves the folder).
  static Status write_headers(const CompileRequest& request, const fs::path& folder) {
    for (const CompileHeader& header : request.headers) {
      const fs::path path = fs::path(header.name).lexically_normal();
      if (path.empty() || path.is_absolute() || *path.begin() == "..") {
        return fail(ErrorCode::invalid_argument,
                    "a header cannot have the name '" + header.name + "'");
      }
      std::error_code ignored;
      fs::create_directories((folder / path).parent_path(), ignored);
      WW_TRY(write_file_atomically(folder / path, header.text));
    }
    return {};
  }

  // Device functions that HIP's headers call and neither the compiler nor the device libraries
  // have, as bitcode; nothing where there are none. Error: what the compiler said.
  Result<Words> missing_functions(const fs::path& root, const fs::path& libraries,
                                  const CompileRequest& request, const fs::path& folder) {
    std::string text;
    for (const MissingFunctions& missing : kMissingFunctions) {
      if (!names(root / missing.header, missing.name)) continue;
      if (missing.library != nullptr && names(libraries / missing.library, missing.name)) continue;
      text += missing.text;
    }
    if (text.empty()) return Words{};
    const fs::path source = folder / "functions.ll";
    const fs::path made = folder / "functions.bc";
    WW_TRY(write_file_atomically(source, text));
    const CompileAnswer answer = compile(
        {"-x", "ir", "-Wno-override-module", "-nogpulib", "-emit-llvm", "-c", source.string()},
        request, made);
    if (answer.status != CompileStatus::success) return fail(ErrorCode::unsupported, answer.log);
    return Words{"--gpu-instrument-lib=" + made.string()};
  }

  // HIP to a code object or to bitcode, as hiprtc compiles it: the source sees HIP's headers
  // without naming them, unless the options say that it needs none (-nogpuinc).
  CompileAnswer from_hip(const CompileRequest& request, const fs::path& folder) {
    const auto found = libraries_for(request);
    if (!found) return failed("error: " + found.error().text() + "\n");
    const fs::path source = folder / "program.hip";
    const fs::path headers = folder / "include";
    Status written = write_file_atomically(source, request.source);
    if (written) written = write_headers(request, headers);
    if (!written) return failed("error: " + written.error().text() + "\n");
    const std::string target = request.isa.substr(request.isa.find("gfx"));
    Words words = {"--cuda-device-only",
                   "--no-gpu-bundle-output",
                   "--offload-arch=" + target,
                   "--rocm-device-lib-path=" + *found,
                   "-D__HIP_PLATFORM_AMD__",
                   "-D__HIPCC_RTC__",
                   "-std=c++14",
                   "-O3"};
    if (request.operation == CompileOperation::compile_hip) {
      words.insert(words.end(), {"-fgpu-rdc", "-emit-llvm", "-c"});
    }
    std::vector<std::string> made_with;
    if (std::ranges::find(request.options, "-nogpuinc") == request.options.end()) {
      const auto root = hip_root();
      if (!root) {
        return {CompileStatus::no_compiler,
                "error: HIP's headers are not there; install the package libamdhip64-dev\n",
                {}};
      }
      const fs::path types = folder / "program_types.hpp";
      if (const auto noted = write_file_atomically(types, kProgramTypes); !noted) {
        return failed("error: " + noted.error().text() + "\n");
      }
      words.insert(words.end(), {"--rocm-path=" + root->string(), "-include", types.string(),
                                 "-include", "hip/hip_runtime.h"});
      const Words version = version_of(*root);
      words.insert(words.end(), version.begin(), version.end());
      const auto functions = missing_functions(*root, *found, request, folder);
      if (!functions) return failed("error: " + functions.error().text() + "\n");
      words.insert(words.end(), functions->begin(), functions->end());
      made_with.push_back((*root / kHipHeader).string());
      for (const std::string& header : program_headers(*root)) {
        words.insert(words.end(), {"-include", header});
        made_with.push_back((*root / "include" / header).string());
      }
    }
    words.insert(words.end(), request.options.begin(), request.options.end());
    words.insert(words.end(), {"-I", headers.string(), "-x", "hip", source.string()});
    CompileAnswer answer = run_compiler(words, request, folder / "output");
    answer.made_with = std::move(made_with);
    return answer;
  }

  // The source to bitcode with the device libraries, or, with `executable`, to a code object.
  CompileAnswer from_source(const CompileRequest& request, const fs::path& folder,
                            bool executable) {
    const auto found = libraries_for(request);
    if (!found) return failed("error: " + found.error().text() + "\n");
    const std::string with_libraries = "--rocm-device-lib-path=" + *found;
    const fs::path source = folder / "program.cl";
    const fs::path headers = folder / "include";
    if (const auto written = write_file_atomically(source, request.source); !written) {
      return failed("error: " + written.error().text() + "\n");
    }
    if (const auto written = write_headers(request, headers); !written) {
      return failed("error: " + written.error().text() + "\n");
    }
    Words options = {"-cl-std=CL1.2"};
    options.insert(options.end(), request.options.begin(), request.options.end());
    // Without the driver's own choice, which declares functions as they are named: a program's own
    // overload of one would hide the others.
    Words front = {
        "-cl-no-stdinc", "-Xclang", "-finclude-default-header", "-I", headers.string(), "-x", "cl",
        source.string()};
    std::string log;
    // The library has a printf that prints nothing. The compiler puts its own in the place of calls
    // only while the library's is not there.
    if (request.source.find("printf") != std::string::npos) {
      std::ranges::replace(options, "-O0", "-O1");  // where nothing is optimised, LLVM 19 crashes
      Words first = options;
      first.insert(first.end(), {"-nogpulib", "-emit-llvm", "-c"});
      first.insert(first.end(), front.begin(), front.end());
      const fs::path part = folder / "part.bc";
      CompileAnswer answer = compile(first, request, part);
      if (answer.status != CompileStatus::success) return answer;
      log = std::move(answer.log);
      front = {"-x", "ir", part.string()};
    }
    options.push_back(with_libraries);
    if (!executable) options.insert(options.end(), {"-emit-llvm", "-c"});
    options.insert(options.end(), front.begin(), front.end());
    CompileAnswer answer = compile(options, request, folder / "output");
    answer.log.insert(0, log);
    return answer;
  }

  // Bitcodes, which have what they need of the device libraries, to one.
  CompileAnswer from_bitcodes(const CompileRequest& request, const fs::path& folder) {
    Words words = codegen_options(request.options);
    if (request.operation == CompileOperation::library) {
      words.insert(words.end(), {"-emit-llvm", "-c"});
    }
    return link_bitcodes(std::move(words), request, folder);
  }

  // Links HIP's bitcodes to a code object, with the options as they are.
  CompileAnswer link_hip(const CompileRequest& request, const fs::path& folder) {
    Words words = {"-O3"};
    words.insert(words.end(), request.options.begin(), request.options.end());
    return link_bitcodes(std::move(words), request, folder);
  }

  CompileAnswer link_bitcodes(Words words, const CompileRequest& request, const fs::path& folder) {
    words.emplace_back("-nogpulib");
    for (std::size_t i = 0; i < request.bitcodes.size(); ++i) {
      const fs::path file = folder / fmt::format("unit{}.bc", i);
      if (const auto written = write_file_atomically(file, request.bitcodes[i]); !written) {
        return failed("error: " + written.error().text() + "\n");
      }
      if (i == 0) {
        words.insert(words.end(), {"-x", "ir", file.string()});
      } else {
        words.insert(words.end(), {"-Xclang", "-mlink-bitcode-file", "-Xclang", file.string()});
      }
    }
    return compile(words, request, folder / "output");
  }
};

Clang::Clang(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Clang::~Clang() = default;
Clang::Clang(Clang&&) noexcept = default;

Result<Clang> Clang::find() {
  auto impl = std::make_unique<Impl>();
  const auto missing = [](std::string_view what, std::string_view packages) {
    return fail(ErrorCode::missing_dependency,
                fmt::format("{} is not there; install {}", what, packages));
  };
  impl->compiler = find_program(kCompiler).string();
  if (impl->compiler.empty()) return missing(kCompiler, "the package clang-19");
  if (find_program(kLinker).empty()) return missing(kLinker, "the package lld-19");
  const auto libraries = device_libraries();
  if (!libraries) return missing("AMD's device library (ockl.bc)", "the package rocm-device-libs");
  impl->installed = *libraries;
  return Clang(std::move(impl));
}

CompileAnswer Clang::run(const CompileRequest& request) {
  const auto folder = ScratchFolder::create("clang");
  CompileAnswer answer;
  if (!folder) {
    answer = failed("error: " + folder.error().text() + "\n");
  } else if (compiles_hip(request.operation)) {
    answer = impl_->from_hip(request, folder->path());
  } else if (request.operation == CompileOperation::link_hip) {
    answer = impl_->link_hip(request, folder->path());
  } else if (request.operation == CompileOperation::compile ||
             request.operation == CompileOperation::build) {
    answer =
        impl_->from_source(request, folder->path(), request.operation == CompileOperation::build);
  } else {
    answer = impl_->from_bitcodes(request, folder->path());
  }
  answer.made_with.insert(answer.made_with.begin(),
                          {impl_->compiler, (impl_->installed / kDeviceLibrary).string()});
  return answer;
}

}  // namespace ww::sim::driver
