#include "opencl/program/build_options.hpp"

#include <algorithm>
#include <array>

namespace ww::sim::driver {
namespace {

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

template <std::size_t N>
bool one_of(std::string_view word, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// OpenCL 1.2, section 5.6.4, without those that need a word of their own below.
constexpr std::array<std::string_view, 10> kPassed{"-cl-single-precision-constant",
                                                   "-cl-denorms-are-zero",
                                                   "-cl-fp32-correctly-rounded-divide-sqrt",
                                                   "-cl-mad-enable",
                                                   "-cl-no-signed-zeros",
                                                   "-cl-unsafe-math-optimizations",
                                                   "-cl-finite-math-only",
                                                   "-cl-fast-relaxed-math",
                                                   "-w",
                                                   "-Werror"};
constexpr std::array<std::string_view, 2> kRelaxed{"-cl-fast-relaxed-math",
                                                   "-cl-unsafe-math-optimizations"};
// Accepted without an effect: on by default, or promises that the compiler makes no use of. So are
// -cl-nv-*, which programs for another vendor's compiler pass without asking (-cl-nv-verbose).
constexpr std::array<std::string_view, 5> kIgnored{"-cl-kernel-arg-info", "-cl-strict-aliasing",
                                                   "-cl-uniform-work-group-size",
                                                   "-cl-no-subgroup-ifp", "-save-temps"};
// clang's own options that take the next word.
constexpr std::array<std::string_view, 5> kPairs{"-Xclang", "-mllvm", "-include", "-isystem",
                                                 "-idirafter"};
constexpr std::array<std::string_view, 5> kLanguages{"CL1.0", "CL1.1", "CL1.2", "cl1.2", "cl1.1"};
// Math options of the linker, OpenCL 1.2, section 5.6.5.2. They were applied by the compilation.
constexpr std::array<std::string_view, 6> kLinkMath{
    "-enable-link-options",          "-cl-denorms-are-zero", "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations", "-cl-finite-math-only", "-cl-fast-relaxed-math"};

tl::unexpected<Error> unknown(const std::string& word) {
  return fail(ErrorCode::invalid_argument, "unknown build option '" + word + "'");
}

bool is_optimisation(std::string_view word) {
  return word.size() == 3 && starts_with(word, "-O") && word[2] >= '0' && word[2] <= '3';
}

// AMD's device libraries compute these as if no product of ints passed 32 bits and the least number
// had no absolute value of its own, nor two ints a difference of 2^31 and more, and the optimiser
// believes them. The definitions here go before
// theirs where they are inlined, which is always, and leave nothing behind in programs without
// them.
constexpr const char* kBuiltins =
    "#define __ww_inline extern __inline__ __attribute__((gnu_inline, always_inline, "
    "overloadable))\n"
    "#define __ww_for(n) \\\n"
    "  __ww_inline int##n mad_sat(int##n __ww_a, int##n __ww_b, int##n __ww_c) { \\\n"
    "    return convert_int##n##_sat(convert_long##n(__ww_a) * convert_long##n(__ww_b) + \\\n"
    "                                convert_long##n(__ww_c)); } \\\n"
    "  __ww_inline uint##n abs(int##n __ww_a) { \\\n"
    "    return as_uint##n(max(__ww_a, as_int##n(0u - as_uint##n(__ww_a)))); } \\\n"
    "  __ww_inline ulong##n abs(long##n __ww_a) { \\\n"
    "    return as_ulong##n(max(__ww_a, as_long##n(0ul - as_ulong##n(__ww_a)))); } \\\n"
    "  __ww_inline uint##n abs_diff(int##n __ww_a, int##n __ww_b) { \\\n"
    "    return as_uint##n(max(__ww_a, __ww_b)) - as_uint##n(min(__ww_a, __ww_b)); } \\\n"
    "  __ww_inline ulong##n abs_diff(long##n __ww_a, long##n __ww_b) { \\\n"
    "    return as_ulong##n(max(__ww_a, __ww_b)) - as_ulong##n(min(__ww_a, __ww_b)); }\n"
    "__ww_for() __ww_for(2) __ww_for(3) __ww_for(4) __ww_for(8) __ww_for(16)\n"
    "#undef __ww_for\n#undef __ww_inline\n"
    // Theirs read and write a fourth half, which need not be there.
    "#define vloada_half3(o, p) vload_half3(0, (p) + 4 * (size_t)(o))\n"
    "#define vstorea_half3(x, o, p) vstore_half3(x, 0, (p) + 4 * (size_t)(o))\n"
    "#define vstorea_half3_rte(x, o, p) vstore_half3_rte(x, 0, (p) + 4 * (size_t)(o))\n"
    "#define vstorea_half3_rtz(x, o, p) vstore_half3_rtz(x, 0, (p) + 4 * (size_t)(o))\n"
    "#define vstorea_half3_rtp(x, o, p) vstore_half3_rtp(x, 0, (p) + 4 * (size_t)(o))\n"
    "#define vstorea_half3_rtn(x, o, p) vstore_half3_rtn(x, 0, (p) + 4 * (size_t)(o))\n";

// AMD's library gives NaN for the sine of every finite half; that of sincos is right.
constexpr const char* kHalfBuiltins =
    "#define cl_khr_fp16 1\n"
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "#define __ww_for(n) \\\n"
    "  extern __inline__ __attribute__((gnu_inline, always_inline, overloadable)) \\\n"
    "  half##n sin(half##n __ww_a) { half##n __ww_b; return sincos(__ww_a, &__ww_b); }\n"
    "__ww_for() __ww_for(2) __ww_for(3) __ww_for(4) __ww_for(8) __ww_for(16)\n"
    "#undef __ww_for\n"
    "#pragma OPENCL EXTENSION cl_khr_fp16 : disable\n";

// The precompiled OpenCL C header brings the macros of the compiler that made it, for a newer
// device and without the user's options; these lines put them right for this one.
std::string make_prelude(std::string_view language, bool fast_relaxed_math,
                         const DeviceLanguage& device) {
  std::string text;
  for (const char* name : {"cl_khr_fp16", "cl_amd_media_ops", "cl_amd_media_ops2"}) {
    text += std::string("#undef ") + name + "\n";
  }
  for (const char* name : {"cl_khr_3d_image_writes", "__IMAGE_SUPPORT__"}) {
    text += std::string("#undef ") + name + "\n";
    if (device.images) text += std::string("#define ") + name + " 1\n";
  }
  text += "#undef __OPENCL_VERSION__\n#define __OPENCL_VERSION__ 120\n";
  if (!language.empty()) {
    text += "#undef __OPENCL_C_VERSION__\n#define __OPENCL_C_VERSION__ 1" +
            std::string(1, language[4]) + "0\n";
  }
  // A compiler makes words of image functions that are no instructions of the device.
  if (!device.images) {
    for (const char* name : {"read_imagef", "read_imagei", "read_imageui", "write_imagef",
                             "write_imagei", "write_imageui"}) {
      text += std::string("#define ") + name + "(...) the_device_has_no_images()\n";
    }
  }
  if (fast_relaxed_math) text += "#define __FAST_RELAXED_MATH__ 1\n";
  return text + kBuiltins + (device.halves ? kHalfBuiltins : "");
}

// Arguments of a printf that may be strings; further ones do not compile.
constexpr int kPrintfArguments = 64;

// LLVM drops strings that it does not find as constants, and LLVM 15 crashes on a %s whose argument
// is a pointer to constant memory: pointers to constant characters go as the numbers that they are.
// LLVM 15 finds a format only where it is an expression of an array, so that the format goes as the
// address of its second character; later ones would leave the first out.
std::string printf_macros() {
  std::string text =
      "#define __ww_as(t, x) t: (ulong)_Generic((x), t: (x), default: (t)0)\n"
      "#define __ww_a(x) _Generic((x), __ww_as(__constant char*, x), "
      "__ww_as(const __constant char*, x), default: (x))\n"
      "#define __ww_a1(x) __ww_a(x)\n";
  std::string names;
  std::string counts = "0";
  for (int i = 1; i <= kPrintfArguments; ++i) {
    const std::string n = std::to_string(i);
    if (i > 1) {
      text += "#define __ww_a" + n + "(x, ...) __ww_a(x), __ww_a" + std::to_string(i - 1) +
              "(__VA_ARGS__)\n";
    }
    names += "a" + n + ", ";
    counts.insert(0, n + ", ");
  }
  text += "#define __ww_pick(" + names + "n, ...) __ww_a##n\n";
  const std::string values =
      " __VA_OPT__(, __ww_pick(__VA_ARGS__, " + counts + ")(__VA_ARGS__)))\n";
  return text + "#if __clang_major__ < 16\n#define printf(format, ...) printf(&(format)[1]" +
         values + "#else\n#define printf(format, ...) printf(format" + values + "#endif\n";
}

}  // namespace

std::string end_of_prelude(bool prints) {
  return (prints ? printf_macros() : std::string()) + "#line 1 \"program.cl\"\n";
}

Result<std::vector<std::string>> split_options(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (quote == '\0' && space) {
      if (in_word) words.push_back(std::exchange(word, {}));
      in_word = false;
      continue;
    }
    in_word = true;
    if (quote != '\0' && c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
    } else {
      word += c;
    }
  }
  if (quote != '\0') {
    return fail(ErrorCode::invalid_argument, "build options end within a quotation");
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

Result<CompileOptions> compile_options(std::string_view text, const DeviceLanguage& device) {
  WW_ASSIGN(words, split_options(text));
  CompileOptions options;
  std::string optimisation = "-O3";
  std::string language;
  bool fast_relaxed_math = false;
  bool relaxed = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool has_next = i + 1 < words.size();
    if (word == "-D" || word == "-I" || word == "-U") {
      if (!has_next) {
        return fail(ErrorCode::invalid_argument, "build option '" + word + "' lacks its value");
      }
      options.words.push_back(word + words[++i]);
    } else if (one_of(word, kPairs)) {
      if (!has_next) {
        return fail(ErrorCode::invalid_argument, "build option '" + word + "' lacks its value");
      }
      options.words.push_back(word);
      options.words.push_back(words[++i]);
    } else if (starts_with(word, "-cl-std=")) {
      const std::string name = word.substr(8);
      if (!one_of(name, kLanguages)) {
        return fail(ErrorCode::invalid_argument,
                    "'" + word +
                        "' asks for a language that the device does not have; it has "
                        "OpenCL C 1.2");
      }
      language = name;
    } else if (word == "-cl-opt-disable") {
      optimisation = "-O0";
    } else if (is_optimisation(word)) {
      optimisation = word;
    } else if (starts_with(word, "-mcpu=") || starts_with(word, "-march=")) {
      return fail(ErrorCode::invalid_argument,
                  "'" + word + "': the device decides the instruction set; leave the option out");
    } else if (one_of(word, kIgnored) || starts_with(word, "-cl-nv-")) {
      continue;
    } else if (one_of(word, kPassed) || starts_with(word, "-D") || starts_with(word, "-I") ||
               starts_with(word, "-U") || starts_with(word, "-W") || starts_with(word, "-f") ||
               starts_with(word, "-m") || starts_with(word, "-g") || starts_with(word, "-R")) {
      fast_relaxed_math = fast_relaxed_math || word == "-cl-fast-relaxed-math";
      relaxed = relaxed || one_of(word, kRelaxed);
      options.words.push_back(word);
    } else {
      return unknown(word);
    }
  }
  options.words.push_back(optimisation);
  // Divisions and square roots to the last bit, as the processors give them that programs compare
  // with; the standard leaves 2.5 and 3 units unless asked. Programs that ask for less get it.
  if (!relaxed) options.words.push_back("-cl-fp32-correctly-rounded-divide-sqrt");
  options.words.push_back("-cl-kernel-arg-info");  // clGetKernelArgInfo always has an answer
  options.words.push_back("-Wno-format");          // the compiler sees them off by one
  options.words.push_back("-I.");                  // last: the program's own folders come first
  options.prelude = make_prelude(language, fast_relaxed_math, device);
  return options;
}

Result<LinkOptions> link_options(std::string_view text) {
  WW_ASSIGN(words, split_options(text));
  LinkOptions options;
  std::string optimisation = "-O3";
  for (const std::string& word : words) {
    if (word == "-create-library") {
      options.create_library = true;
    } else if (word == "-cl-opt-disable") {
      optimisation = "-O0";
    } else if (is_optimisation(word)) {
      optimisation = word;
    } else if (!one_of(word, kLinkMath)) {
      return unknown(word);
    }
  }
  options.words.push_back(optimisation);
  return options;
}

}  // namespace ww::sim::driver
