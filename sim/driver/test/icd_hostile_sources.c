/* Sources and options that try to take the compiler, the machine or the program along. Each must
 * build or fail as the standard says, with a log where it fails; what builds is launched, and ends;
 * afterwards a plain program must still build. The environment bounds compiler and launches. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_mem buffer;
static int failures;

enum Outcome { FAILS, BUILDS, EITHER };

static double now_s(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char* what, const char* why, int code) {
  printf("FAILED %s: %s (%d)\n", what, why, code);
  ++failures;
}

/* A context in which no kernel was stopped yet. */
static void begin_anew(void) {
  if (context != NULL) {
    clReleaseMemObject(buffer);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
  }
  cl_int code = 0;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
  queue = clCreateCommandQueue(context, device, 0, &code);
  buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 1 << 16, NULL, &code);
  const int zero = 0;
  clEnqueueFillBuffer(queue, buffer, &zero, 4, 0, 1 << 16, 0, NULL, NULL);
}

/* Launches every kernel that takes one buffer or nothing. Any end is good but a crash and codes
 * that say nothing. */
static void launch_all(cl_program program, const char* what) {
  cl_kernel kernels[8];
  cl_uint count = 0;
  if (clCreateKernelsInProgram(program, 8, kernels, &count) != CL_SUCCESS) return;
  for (cl_uint i = 0; i < count; ++i) {
    cl_uint arguments = 0;
    clGetKernelInfo(kernels[i], CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, NULL);
    if (arguments == 1) clSetKernelArg(kernels[i], 0, sizeof buffer, &buffer);
    if (arguments <= 1) {
      const size_t global = 64;
      const cl_int code =
          clEnqueueNDRangeKernel(queue, kernels[i], 1, NULL, &global, NULL, 0, NULL, NULL);
      if (code != CL_SUCCESS && code != CL_OUT_OF_RESOURCES && code != CL_INVALID_WORK_GROUP_SIZE &&
          code != CL_MEM_OBJECT_ALLOCATION_FAILURE && code != CL_INVALID_KERNEL_ARGS) {
        fail(what, "its launch", code);
      }
    }
    clReleaseKernel(kernels[i]);
  }
  if (clFinish(queue) != CL_SUCCESS) begin_anew();
}

static void build(const char* what, enum Outcome wanted, const char* source, size_t length,
                  const char* options) {
  cl_int code = 0;
  const double began = now_s();
  cl_program program = clCreateProgramWithSource(context, 1, &source, &length, &code);
  if (program == NULL) {
    fail(what, "clCreateProgramWithSource", code);
    return;
  }
  code = clBuildProgram(program, 1, &device, options, NULL, NULL);
  const double built = now_s();
  if (code == CL_SUCCESS) {
    if (wanted == FAILS) fail(what, "it built", code);
    launch_all(program, what);
  } else {
    if (wanted == BUILDS) fail(what, "it did not build", code);
    if (code != CL_BUILD_PROGRAM_FAILURE && code != CL_INVALID_BUILD_OPTIONS) {
      fail(what, "clBuildProgram", code);
    }
    size_t size = 0;
    cl_build_status status = CL_BUILD_NONE;
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL);
    if (size < 8 || status != CL_BUILD_ERROR) fail(what, "no log, or a wrong status", status);
  }
  clReleaseProgram(program);
  printf("%-44s %4d  %6.2f s to build, %6.2f s to run\n", what, (int)code, built - began,
         now_s() - built);
  fflush(stdout);
}

struct Case {
  const char* what;
  enum Outcome wanted;
  const char* source;
  const char* options;
};

#define K "__kernel void k(__global int* o) "

static const struct Case kCases[] = {
    /* Files that are none. */
    {"an include of /etc/passwd", FAILS, "#include \"/etc/passwd\"\n" K "{}", ""},
    {"an include of /dev/zero", EITHER, "#include \"/dev/zero\"\n" K "{}", ""},
    {"an include of /dev/stdin", FAILS, "#include \"/dev/stdin\"\n" K "{ nothing(); }", ""},
    {"an include of the worker's socket", FAILS, "#include \"/proc/self/fd/0\"\n" K "{ no(); }",
     ""},
    {"an include of a folder", FAILS, "#include \"/\"\n" K "{}", ""},
    {"an include that waits for ever", FAILS, "#include \"icd_hostile_fifo\"\n" K "{}", ""},
    {"an include of /dev/zero by option", EITHER, K "{}", "-include /dev/zero"},
    {"a file in the assembly", EITHER, K "{ __asm__ volatile(\".incbin \\\"/etc/passwd\\\"\"); }",
     ""},
    {"a device in the assembly", FAILS, K "{ __asm__ volatile(\".incbin \\\"/dev/zero\\\"\"); }",
     ""},

    /* Expansion without end. */
    {"a macro that names itself", FAILS, "#define A A A\n" K "{ A }", ""},
    {"an assembly that repeats for ever", FAILS,
     K "{ __asm__ volatile(\".rept 2000000000\\n s_nop 0\\n .endr\"); }", ""},
    {"an assembly that fills memory", EITHER, K "{ __asm__ volatile(\".fill 0x7fffffff, 8, 1\"); }",
     ""},
    {"an assembly in another section", EITHER,
     K "{ __asm__ volatile(\".section .note\\n .long 1, 2, 3\\n .text\"); }", ""},
    {"an assembly that ends the program", EITHER, K "{ __asm__ volatile(\"s_endpgm\"); o[0] = 1; }",
     ""},
    {"an assembly that goes nowhere", EITHER, K "{ __asm__ volatile(\"s_branch 0x7fff\"); }", ""},
    {"an assembly that goes round", EITHER, K "{ __asm__ volatile(\"1: s_branch 1b\"); o[0] = 1; }",
     ""},
    {"an assembly of traps and messages", EITHER,
     K "{ __asm__ volatile(\"s_trap 2\\n s_sendmsg sendmsg(MSG_INTERRUPT)\\n s_sethalt 1\"); }",
     ""},
    {"unrolling without end", EITHER,
     K "{ int x = o[0];\n#pragma unroll 100000\nfor (int i = 0; i < 100000; ++i) x = x * x + i;\n"
       "o[0] = x; }",
     ""},
    {"a loop without end", BUILDS, K "{ while (o[0] == o[0]) o[1] += 1; }", ""},
    {"a barrier that half of them reach", BUILDS,
     K "{ if (get_local_id(0) < 32) barrier(CLK_LOCAL_MEM_FENCE); o[get_local_id(0)] = 1; }", ""},
    {"a loop of barriers", BUILDS, K "{ for (;;) { barrier(CLK_GLOBAL_MEM_FENCE); o[0] += 1; } }",
     ""},

    /* Sizes. */
    {"256 GiB of private memory", EITHER,
     K "{ volatile int a[1ul << 36]; a[o[0]] = 1; o[1] = a[o[2]]; }", ""},
    {"a GiB of private memory", EITHER,
     K "{ volatile int a[1 << 28]; a[o[0]] = 1; o[1] = a[o[2]]; }", ""},
    {"a MiB of private memory", EITHER,
     K "{ volatile int a[1 << 18]; a[o[0] & 255] = 1; o[1] = a[o[2] & 255]; }", ""},
    {"more local memory than there is", FAILS,
     K "{ volatile __local int t[20000]; t[o[0]] = 1; o[1] = t[o[2]]; }", ""},
    {"a GiB of local memory", FAILS,
     K "{ volatile __local int t[1 << 28]; t[o[0]] = 1; o[1] = t[o[2]]; }", ""},
    {"an array of no size", EITHER, K "{ int a[0]; o[0] = sizeof a; }", ""},
    {"an array of a negative size", FAILS, K "{ int a[-1]; o[0] = sizeof a; }", ""},
    {"a constant array larger than all memory", EITHER,
     "__constant char c[1ul << 42] = {1};\n" K "{ o[0] = c[o[1]]; }", ""},
    {"a quarter GiB of constants", EITHER,
     "__constant int c[1 << 26] = {1, [67108863] = 2};\n" K "{ o[0] = c[o[1]]; }", ""},
    {"every register and more", BUILDS,
     K
     "{ int16 a = o[0], b = o[1], c = o[2], d = o[3], e = o[4], f = o[5], g = o[6], h = o[7];\n"
     "int16 p = o[8], q = o[9], r = o[10], s = o[11], t = o[12], u = o[13], v = o[14], w = o[15];\n"
     "for (int i = 0; i < o[16]; ++i) { a += p * b; b ^= q + c; c -= r * d; d ^= s + e; e += t * f;"
     "f ^= u + g; g -= v * h; h ^= w + a; p += a; q ^= b; r -= c; s += d; t ^= e; u -= f; v += g;"
     "w ^= h; }\no[0] = (a^b^c^d^e^f^g^h^p^q^r^s^t^u^v^w).s3; }",
     ""},

    /* What OpenCL C does not have. */
    {"recursion", EITHER,
     "int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n" K "{ o[0] = f(o[1]); }", ""},
    {"recursion without end", EITHER,
     "int f(int n) { volatile int a[64]; a[n & 63] = n; return f(n + 1) + a[n & 31]; }\n" K
     "{ o[0] = f(o[1]); }",
     ""},
    {"function pointers", FAILS,
     "int f(int n) { return n; }\n" K "{ int (*p)(int) = f; o[0] = p(o[1]); }", ""},
    {"goto into itself", EITHER, K "{ again: o[0] += 1; if (o[0] < 100) goto again; }", ""},
    {"a kernel that calls itself", EITHER, "__kernel void k(__global int* o);\n" K "{ k(o); }", ""},
    {"two kernels of one name", FAILS, K "{}\n" K "{ o[0] = 1; }", ""},
    {"a kernel called main", EITHER, "__kernel void main(__global int* o) { o[0] = 1; }", ""},
    {"a kernel with a pointer to a pointer", FAILS, "__kernel void k(__global int** o) {}", ""},
    {"variable arguments", FAILS, "__kernel void k(int n, ...) {}", ""},

    /* Attributes. */
    {"groups of no work-item", FAILS, "__attribute__((reqd_work_group_size(0, 0, 0))) " K "{}", ""},
    {"groups of a negative size", FAILS, "__attribute__((reqd_work_group_size(-1, 1, 1))) " K "{}",
     ""},
    {"groups of a million", EITHER,
     "__attribute__((reqd_work_group_size(1000000, 1, 1))) " K "{ o[get_local_id(0)] = 1; }", ""},
    {"groups whose size wraps", EITHER,
     "__attribute__((reqd_work_group_size(65536, 65536, 1))) " K "{ o[get_local_id(0)] = 1; }", ""},
    {"two required sizes", EITHER,
     "__attribute__((reqd_work_group_size(64, 1, 1), reqd_work_group_size(32, 1, 1))) " K "{}", ""},
    {"a target's group size", EITHER,
     "__attribute__((amdgpu_flat_work_group_size(1, 100000))) " K "{ o[0] = 1; }", ""},
    {"one register", EITHER,
     "__attribute__((amdgpu_num_vgpr(1))) " K "{ o[get_global_id(0)] = 1; }", ""},
    {"two hundred waves", EITHER,
     "__attribute__((amdgpu_waves_per_eu(200, 200))) " K "{ o[0] = 1; }", ""},
    {"an alignment of a GiB", EITHER,
     K "{ volatile int a __attribute__((aligned(1 << 30))) = 1; o[0] = a; }", ""},
    {"an address space that is not there", EITHER,
     K "{ __attribute__((address_space(77))) int* p = 0; o[0] = *p; }", ""},
    {"a section of its own", EITHER, "__attribute__((section(\".note\"))) " K "{ o[0] = 1; }", ""},
    {"an alias of nothing", FAILS,
     "__attribute__((alias(\"nothing\"))) void f(void);\n" K "{ f(); }", ""},
    {"naked", EITHER, "__attribute__((naked)) " K "{ __asm__ volatile(\"s_nop 0\"); }", ""},
    {"attributes that are none", EITHER,
     "__attribute__((no_such_thing, another(1, \"two\", three))) " K "{ o[0] = 1; }", ""},
    {"an attribute left open", FAILS, "__attribute__((reqd_work_group_size(64, 1 " K "{}", ""},

    /* Options. */
    {"another chip's code", FAILS, K "{ o[0] = 1; }", "-mcpu=gfx1100"},
    {"an old form of code object", EITHER, K "{ o[0] = 1; }", "-mcode-object-version=2"},
    {"a plugin", FAILS, K "{}", "-fplugin=/no/such/plugin.so"},
    {"help", EITHER, K "{}", "-mllvm -help"},
    {"the compiler's version", EITHER, K "{}", "-mllvm -version"},
    {"no code at all", EITHER, K "{}", "-fsyntax-only"},
    {"an option of LLVM that is none", FAILS, K "{}", "-mllvm -no-such-option"},
    {"an option of clang that is none", FAILS, K "{}", "-Xclang -no-such-option"},
    {"a definition that opens a comment", EITHER, "A " K "{}", "-DA=/*"},
    {"an option of a mebibyte", FAILS, K "{ int x = A }", NULL},
};

/* Text that a table cannot hold. */
static void generated(void) {
  const size_t room = (size_t)80 << 20;
  char* text = malloc(room);
  size_t at = 0;

  /* Macros that double forty times, as statements and as one expression. */
  for (int form = 0; form < 2; ++form) {
    at = (size_t)sprintf(text, "#define A0 %s\n", form == 0 ? "x += x * 3;" : "+ x");
    for (int i = 1; i <= 40; ++i) {
      at += (size_t)sprintf(text + at, "#define A%d A%d A%d\n", i, i - 1, i - 1);
    }
    at += (size_t)sprintf(text + at, form == 0 ? K "{ int x = o[0]; A40 o[0] = x; }"
                                               : K "{ int x = o[0]; o[0] = x A40; }");
    build(form == 0 ? "2^40 statements" : "2^40 terms", FAILS, text, at, "");
  }

  at = (size_t)sprintf(text, K "{ int x = o[0];\n");
  for (int i = 0; i < 20000; ++i) at += (size_t)sprintf(text + at, "if (x > %d) {\n", i);
  at += (size_t)sprintf(text + at, "o[0] = 1;\n");
  for (int i = 0; i < 20000; ++i) at += (size_t)sprintf(text + at, "}");
  at += (size_t)sprintf(text + at, "}\n");
  build("20,000 nested blocks", FAILS, text, at, "");

  at = (size_t)sprintf(text, K "{ o[0] = o[1]");
  for (int i = 0; i < 20000; ++i) at += (size_t)sprintf(text + at, " + %d * o[%d]", i, i & 7);
  at += (size_t)sprintf(text + at, "; }\n");
  build("an expression of 20,000 terms", EITHER, text, at, "");

  at = (size_t)sprintf(text, K "{ o[0] = 1; }\n/*");
  memset(text + at, ' ', (size_t)64 << 20);
  at += (size_t)64 << 20;
  at += (size_t)sprintf(text + at, "*/");
  build("64 MiB of comment", BUILDS, text, at, "");

  memset(text, 'a', (size_t)8 << 20);
  at = (size_t)8 << 20;
  build("a name of 8 MiB", FAILS, text, at, "");

  at = (size_t)sprintf(text, "#if 1\n");
  for (int i = 0; i < 100000; ++i) at += (size_t)sprintf(text + at, "#if 1\n");
  build("100,000 open conditions", FAILS, text, at, "");

  unsigned random = 7;
  for (at = 0; at < 65536; ++at) {
    random = random * 1664525u + 1013904223u;
    text[at] = (char)(random >> 24);
  }
  build("64 KiB of noise", FAILS, text, at, "");
  free(text);

  /* Bytes that are no text, where they mean something and where not. */
  static const char nul[] = K "{ o[0] = 1; }\0 garbage after a NUL";
  build("a NUL and garbage", EITHER, nul, sizeof nul - 1, "");
  static const char inside[] = K "{ o[0] = \0 1; }";
  build("a NUL within", EITHER, inside, sizeof inside - 1, "");
  static const char only[] = "\0\0\0\0";
  build("nothing but NULs", EITHER, only, 4, "");
  static const char utf[] = K "{ int \xff\xfe = 1; o[0] = \xff\xfe; }";
  build("a name that is no UTF-8", FAILS, utf, sizeof utf - 1, "");
  static const char comment[] = "/* \xff\xfe\xc3( */ " K "{ o[0] = 1; }";
  build("a comment that is no UTF-8", BUILDS, comment, sizeof comment - 1, "");
  static const char bom[] = "\xef\xbb\xbf" K "{ o[0] = 1; }";
  build("a byte order mark", EITHER, bom, sizeof bom - 1, "");
  static const char string[] = K "{ printf(\"\xff\xfe %d\\n\", o[0]); }";
  build("a format that is no UTF-8", EITHER, string, sizeof string - 1, "");
}

int main(int argc, char** argv) {
  const char* only = argc > 1 ? argv[1] : NULL;
  cl_platform_id platform;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL) != CL_SUCCESS) {
    return 1;
  }
  begin_anew();
  if (buffer == NULL) return 1;

  remove("icd_hostile_fifo");
  if (mkfifo("icd_hostile_fifo", 0600) != 0) fail("mkfifo", "it could not be made", 0);
  char* long_option = malloc((1 << 20) + 8);
  strcpy(long_option, "-DA=");
  memset(long_option + 4, '(', 1 << 20);
  long_option[(1 << 20) + 4] = '\0';
  const double began = now_s();
  for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; ++i) {
    const struct Case* c = &kCases[i];
    if (only != NULL && strstr(c->what, only) == NULL) continue;
    build(c->what, c->wanted, c->source, strlen(c->source),
          c->options != NULL ? c->options : long_option);
  }
  if (only == NULL) generated();
  free(long_option);
  remove("icd_hostile_fifo");

  static const char plain[] = K "{ o[get_global_id(0)] = get_global_id(0) + 41; }";
  build("a plain program after all that", BUILDS, plain, sizeof plain - 1, "");
  int result[64] = {0};
  clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof result, result, 0, NULL, NULL);
  for (int i = 0; i < 64; ++i) {
    if (result[i] != 41 + i) fail("the plain program", "a wrong result", result[i]);
  }
  clReleaseMemObject(buffer);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  printf("%d failures, %.1f s\n", failures, now_s() - began);
  return failures == 0 ? 0 : 1;
}
