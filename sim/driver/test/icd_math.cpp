// OpenCL C's arithmetic against the host's in a wider format: every function of the tables below,
// over random and edge operands, within the errors that the OpenCL 1.2 specification allows (7.4).
// The chip is WIREWATT_CHIP's: each instruction set has a code generator and a device library of
// its own.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "virtual_device.hpp"

namespace {

constexpr std::size_t kItems = 4096;
int failures = 0;
bool keeps_denormals = false;  // of floats, by CL_DEVICE_SINGLE_FP_CONFIG

struct Device : VirtualDevice {
  template <class T>
  cl_mem buffer(const std::vector<T>& values) const {
    cl_int code{};
    cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                   values.size() * sizeof(T), const_cast<T*>(values.data()), &code);
    must(code, "clCreateBuffer");
    return memory;
  }

  template <class Out, class In>
  std::vector<Out> run(cl_program program, std::size_t index,
                       const std::vector<In> (&operands)[3]) const {
    cl_int code{};
    const std::string name = "f" + std::to_string(index);
    cl_kernel kernel = clCreateKernel(program, name.c_str(), &code);
    must(code, "clCreateKernel");
    std::vector<Out> out(kItems);
    cl_mem memory[4] = {buffer(operands[0]), buffer(operands[1]), buffer(operands[2]), buffer(out)};
    for (cl_uint i = 0; i < 4; ++i) {
      must(clSetKernelArg(kernel, i, sizeof(cl_mem), &memory[i]), "clSetKernelArg");
    }
    const std::size_t global = kItems;
    must(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr),
         "clEnqueueNDRangeKernel");
    must(clEnqueueReadBuffer(queue, memory[3], CL_TRUE, 0, kItems * sizeof(Out), out.data(), 0,
                             nullptr, nullptr),
         "clEnqueueReadBuffer");
    for (cl_mem each : memory) clReleaseMemObject(each);
    clReleaseKernel(kernel);
    return out;
  }
};

// One kernel for each expression of x, y and z.
std::string kernels(const std::string& in, const std::string& out,
                    const std::vector<std::string>& expressions) {
  std::ostringstream source;
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    source << "__kernel void f" << i << "(__global const " << in << "* a, __global const " << in
           << "* b, __global const " << in << "* c, __global " << out
           << "* d) {\n  const size_t i = get_global_id(0);\n  const " << in
           << " x = a[i], y = b[i], z = c[i];\n  d[i] = " << expressions[i] << ";\n}\n";
  }
  return source.str();
}

// --- floating point; references in a wider format ---

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

template <class T>
struct Function {
  const char* expression;
  double ulps;       // 0: correctly rounded
  double low, high;  // of random operands; equal: any finite ones
  std::function<Wide<T>(T, T, T)> reference;
};

template <class W>
W sine_of_pi(W x) {  // sin(pi x); the reduction is exact
  W r = std::remainder(x, W{2});
  if (std::fabs(r) > W{0.5}) r = std::copysign(W{1}, r) - r;
  return std::sin(static_cast<W>(3.14159265358979323846264338327950288L) * r);
}
template <class W>
W cosine_of_pi(W x) {
  return sine_of_pi<W>(W{0.5} - std::fabs(std::remainder(x, W{2})));
}

template <class T>
std::vector<Function<T>> functions() {
  using W = Wide<T>;
  constexpr W kPi = static_cast<W>(3.14159265358979323846264338327950288L);
  const double top = std::is_same_v<T, float> ? 80 : 700;  // exp() of it is finite
  const auto one = [](auto f) { return [f](T x, T, T) -> W { return f(W{x}); }; };
  const auto two = [](auto f) { return [f](T x, T y, T) -> W { return f(W{x}, W{y}); }; };
#define WW_ONE(f) one([](W x) { return std::f(x); })
#define WW_TWO(f) two([](W x, W y) { return std::f(x, y); })
  const auto magnitudes = [](bool larger) {
    return [larger](T x, T y, T) -> W {
      if (std::fabs(x) > std::fabs(y)) return larger ? x : y;
      if (std::fabs(y) > std::fabs(x)) return larger ? y : x;
      return larger ? std::fmax(x, y) : std::fmin(x, y);
    };
  };
  return {
      {"x + y", 0, 0, 0, [](T x, T y, T) -> W { return x + y; }},
      {"x * y", 0, 0, 0, [](T x, T y, T) -> W { return x * y; }},
      {"x / y", std::is_same_v<T, float> ? 2.5 : 0, -1e15, 1e15,
       [](T x, T y, T) -> W { return x / y; }},
      {"fma(x, y, z)", 0, -1e9, 1e9, [](T x, T y, T z) -> W { return std::fma(x, y, z); }},
      {"sqrt(x)", std::is_same_v<T, float> ? 3.0 : 0, 0, 0,
       [](T x, T, T) -> W { return std::sqrt(x); }},
      {"rsqrt(x)", 2, 0, 1e30, one([](W x) { return W{1} / std::sqrt(x); })},
      {"cbrt(x)", 2, 0, 0, WW_ONE(cbrt)},
      {"acos(x)", 4, -1, 1, WW_ONE(acos)},
      {"acosh(x)", 4, 1, 1e6, WW_ONE(acosh)},
      {"acospi(x)", 5, -1, 1, one([](W x) { return std::acos(x) / kPi; })},
      {"asin(x)", 4, -1, 1, WW_ONE(asin)},
      {"asinh(x)", 4, 0, 0, WW_ONE(asinh)},
      {"asinpi(x)", 5, -1, 1, one([](W x) { return std::asin(x) / kPi; })},
      {"atan(x)", 5, 0, 0, WW_ONE(atan)},
      {"atan2(x, y)", 6, -1e6, 1e6, WW_TWO(atan2)},
      {"atanh(x)", 5, -1, 1, WW_ONE(atanh)},
      {"atanpi(x)", 5, 0, 0, one([](W x) { return std::atan(x) / kPi; })},
      {"atan2pi(x, y)", 6, -1e6, 1e6, two([](W x, W y) { return std::atan2(x, y) / kPi; })},
      {"sin(x)", 4, 0, 0, WW_ONE(sin)},
      {"cos(x)", 4, 0, 0, WW_ONE(cos)},
      {"tan(x)", 5, 0, 0, WW_ONE(tan)},
      {"sin(x)", 4, -50, 50, WW_ONE(sin)},
      {"cos(x)", 4, -50, 50, WW_ONE(cos)},
      {"tan(x)", 5, -50, 50, WW_ONE(tan)},
      {"sinh(x)", 4, -top, top, WW_ONE(sinh)},
      {"cosh(x)", 4, -top, top, WW_ONE(cosh)},
      {"tanh(x)", 5, -20, 20, WW_ONE(tanh)},
      {"sinpi(x)", 4, -1e4, 1e4, one([](W x) { return sine_of_pi<W>(x); })},
      {"cospi(x)", 4, -1e4, 1e4, one([](W x) { return cosine_of_pi<W>(x); })},
      {"exp(x)", 3, -top, top, WW_ONE(exp)},
      {"exp2(x)", 3, -top, top, WW_ONE(exp2)},
      {"exp10(x)", 3, -30, 30, one([](W x) { return std::pow(W{10}, x); })},
      {"expm1(x)", 3, -top, top, WW_ONE(expm1)},
      {"log(x)", 3, 0, 1e30, WW_ONE(log)},
      {"log2(x)", 3, 0, 1e30, WW_ONE(log2)},
      {"log10(x)", 3, 0, 1e30, WW_ONE(log10)},
      {"log1p(x)", 2, -1, 1e6, WW_ONE(log1p)},
      {"logb(x)", 0, 0, 0, WW_ONE(logb)},
      {"erf(x)", 16, -5, 5, WW_ONE(erf)},
      {"erfc(x)", 16, -5, 9, WW_ONE(erfc)},
      {"tgamma(x)", 16, 0.01, 30, WW_ONE(tgamma)},
      {"hypot(x, y)", 4, -1e15, 1e15, WW_TWO(hypot)},
      {"pow(fabs(x), y)", 16, -40, 40, two([](W x, W y) { return std::pow(std::fabs(x), y); })},
      {"powr(fabs(x), z)", 16, 0.001, 20,
       [](T x, T, T z) -> W {  // NaN for more operands than pow
         const W base = std::fabs(W{x});
         if (std::isnan(z) || (z == 0 && (base == 0 || std::isinf(base))) ||
             (base == 1 && std::isinf(z))) {
           return std::numeric_limits<W>::quiet_NaN();
         }
         return std::isnan(base) ? base : std::pow(base, W{z});
       }},
      {"pown(x, isnan(y) ? 3 : (int)clamp(y, (T)-9, (T)9))", 16, -40, 40,
       [](T x, T y, T) -> W {
         if (std::isnan(y)) y = 3;
         return std::pow(W{x}, std::trunc(std::fmin(std::fmax(W{y}, W{-9}), W{9})));
       }},
      {"rootn(fabs(x), 5)", 16, -1e9, 1e9,
       one([](W x) { return std::pow(std::fabs(x), W{1} / W{5}); })},
      {"ldexp(x, 7)", 0, -1e9, 1e9, one([](W x) { return std::ldexp(x, 7); })},
      {"fmod(x, y)", 0, -1e6, 1e6, WW_TWO(fmod)},
      {"remainder(x, y)", 0, -1e6, 1e6, WW_TWO(remainder)},
      {"fdim(x, y)", 0, 0, 0, [](T x, T y, T) -> W { return std::fdim(x, y); }},
      {"fmax(x, y)", 0, 0, 0, WW_TWO(fmax)},
      {"fmin(x, y)", 0, 0, 0, WW_TWO(fmin)},
      {"maxmag(x, y)", 0, -1e9, 1e9, magnitudes(true)},
      {"minmag(x, y)", 0, -1e9, 1e9, magnitudes(false)},
      {"copysign(x, y)", 0, 0, 0, WW_TWO(copysign)},
      {"fabs(x)", 0, 0, 0, WW_ONE(fabs)},
      {"ceil(x)", 0, -1e6, 1e6, WW_ONE(ceil)},
      {"floor(x)", 0, -1e6, 1e6, WW_ONE(floor)},
      {"rint(x)", 0, -1e6, 1e6, WW_ONE(rint)},
      {"round(x)", 0, -1e6, 1e6, WW_ONE(round)},
      {"trunc(x)", 0, -1e6, 1e6, WW_ONE(trunc)},
      {"nextafter(x, y)", 0, -1e9, 1e9, [](T x, T y, T) -> W { return std::nextafter(x, y); }},
  };
#undef WW_ONE
#undef WW_TWO
}

template <class T>
bool good(T got, Wide<T> wanted, double ulps) {
  using W = Wide<T>;
  using Limits = std::numeric_limits<T>;
  if (std::isnan(wanted)) return std::isnan(got);
  const T rounded = static_cast<T>(wanted);
  if (got == rounded) return true;
  const int exponent = wanted == 0 ? Limits::min_exponent - 1
                                   : std::max(std::ilogb(wanted), Limits::min_exponent - 1);
  const W ulp = std::ldexp(W{1}, exponent - (Limits::digits - 1));
  // Float denormals may be flushed where the device does not claim them.
  const W least = std::is_same_v<T, float> && !keeps_denormals ? W{Limits::min()} : W{0};
  if (got == 0 && std::fabs(wanted) - static_cast<W>(ulps) * ulp < least) return true;
  if (ulps == 0 || std::isnan(got)) return false;
  if (std::isinf(got) || std::isinf(rounded)) {  // on either side of the largest number
    const W near = std::isinf(got) ? wanted : W{got};
    return std::signbit(got) == std::signbit(wanted) &&
           std::fabs(near) >= W{Limits::max()} * (1 - ulps * W{Limits::epsilon()});
  }
  return std::fabs(W{got} - wanted) <= ulps * ulp;
}

template <class T>
void fill(std::vector<T> (&operands)[3], double low, double high, std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  const T edges[] = {T(0),
                     T(-0.0),
                     T(1),
                     T(-1),
                     T(0.5),
                     T(-0.5),
                     T(1.5),
                     T(2.5),
                     T(-2.5),
                     T(2),
                     T(3),
                     T(1e-5),
                     Limits::min(),
                     Limits::max(),
                     -Limits::max(),
                     Limits::infinity(),
                     -Limits::infinity(),
                     Limits::quiet_NaN()};
  constexpr std::size_t kEdges = std::size(edges);
  for (std::size_t n = 0; n < 3; ++n) {
    operands[n].resize(kItems);
    for (std::size_t i = 0; i < kItems; ++i) {
      if (i < kEdges * kEdges) {
        operands[n][i] = edges[n == 0 ? i % kEdges : n == 1 ? i / kEdges : (i * 7 + 3) % kEdges];
      } else if (low != high) {
        const double part = std::generate_canonical<double, 53>(random);
        operands[n][i] = static_cast<T>(low + (high - low) * part * (i % 2 == 0 ? 1 : part * part));
      } else {
        do {
          const std::uint64_t bits = random();
          std::memcpy(&operands[n][i], &bits, sizeof(T));
        } while (!std::isnormal(operands[n][i]));
      }
    }
  }
}

template <class T>
void check_floats(const Device& device, const std::string& name) {
  const auto table = functions<T>();
  std::vector<std::string> expressions;
  expressions.reserve(table.size());
  for (const auto& function : table) expressions.emplace_back(function.expression);
  std::string source = "#define T " + name + "\n";
  if (name == "double") source = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" + source;
  cl_program program = device.build(source + kernels(name, name, expressions));
  std::mt19937_64 random(1);
  for (std::size_t f = 0; f < table.size(); ++f) {
    std::vector<T> operands[3];
    fill(operands, table[f].low, table[f].high, random);
    const auto got = device.run<T>(program, f, operands);
    int shown = 0;
    for (std::size_t i = 0; i < kItems; ++i) {
      const T x = operands[0][i], y = operands[1][i], z = operands[2][i];
      const Wide<T> wanted = table[f].reference(x, y, z);
      if (good<T>(got[i], wanted, table[f].ulps)) continue;
      ++failures;
      if (shown++ == 0) {
        std::printf("%s %s of %.17g, %.17g, %.17g is %.17g, wanted %.20Lg within %g ulp\n",
                    name.c_str(), table[f].expression, double(x), double(y), double(z),
                    double(got[i]), static_cast<long double>(wanted), table[f].ulps);
      }
    }
  }
  clReleaseProgram(program);
  std::printf("%s: %zu functions\n", name.c_str(), table.size());
}

// --- integers; references in 128 bits ---

using Big = __int128;

template <class T>
struct IntegerFunction {
  const char* expression;
  std::function<Big(Big, Big, Big)> reference;  // reduced to T
};

template <class T>
std::vector<IntegerFunction<T>> integer_functions() {
  constexpr int kBits = 8 * sizeof(T);
  // NOLINTNEXTLINE(bugprone-signed-char-misuse): a number, not a character
  static constexpr Big kLow = std::numeric_limits<T>::min();
  static constexpr Big kHigh = std::numeric_limits<T>::max();
  const auto saturate = [](Big v) { return std::clamp(v, kLow, kHigh); };
  const auto bits = [](Big v) {
    return static_cast<unsigned __int128>(std::make_unsigned_t<T>(v));
  };
  std::vector<IntegerFunction<T>> table = {
      {"x / (y == 0 || (x == LOW && y == (T)-1) ? (T)3 : y)",
       [](Big x, Big y, Big) {
         const bool bad = y == 0 || (x == kLow && y == Big{static_cast<T>(-1)});
         return x / (bad ? 3 : y);
       }},
      {"x % (y == 0 || (x == LOW && y == (T)-1) ? (T)3 : y)",
       [](Big x, Big y, Big) {
         const bool bad = y == 0 || (x == kLow && y == Big{static_cast<T>(-1)});
         return x % (bad ? 3 : y);
       }},
      {"(T)abs(x)", [](Big x, Big, Big) { return x < 0 ? -x : x; }},
      {"(T)abs_diff(x, y)", [](Big x, Big y, Big) { return x < y ? y - x : x - y; }},
      {"add_sat(x, y)", [=](Big x, Big y, Big) { return saturate(x + y); }},
      {"sub_sat(x, y)", [=](Big x, Big y, Big) { return saturate(x - y); }},
      {"hadd(x, y)", [](Big x, Big y, Big) { return (x + y) >> 1; }},
      {"rhadd(x, y)", [](Big x, Big y, Big) { return (x + y + 1) >> 1; }},
      {"clz(x)",
       [=](Big x, Big, Big) {
         int n = 0;
         while (n < kBits && (bits(x) >> (kBits - 1 - n) & 1) == 0) ++n;
         return Big{n};
       }},
      {"popcount(x)",
       [=](Big x, Big, Big) {
         int n = 0;
         for (int i = 0; i < kBits; ++i) n += static_cast<int>(bits(x) >> i & 1);
         return Big{n};
       }},
      {"max(x, y)", [](Big x, Big y, Big) { return std::max(x, y); }},
      {"min(x, y)", [](Big x, Big y, Big) { return std::min(x, y); }},
      {"clamp(x, min(y, z), max(y, z))",
       [](Big x, Big y, Big z) { return std::clamp(x, std::min(y, z), std::max(y, z)); }},
      {"rotate(x, y)",
       [=](Big x, Big y, Big) {
         const auto by = static_cast<int>(bits(y) % kBits);
         return static_cast<Big>(bits(x) << by | (by == 0 ? 0 : bits(x) >> (kBits - by)));
       }},
      {"mul_hi(x, y)",
       [](Big x, Big y, Big) {
         if constexpr (std::is_signed_v<T>) return x * y >> kBits;
         return static_cast<Big>(
             static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y) >> kBits);
       }},
      {"mad_hi(x, y, z)",
       [](Big x, Big y, Big z) {
         if constexpr (std::is_signed_v<T>) return (x * y >> kBits) + z;
         return static_cast<Big>(static_cast<unsigned __int128>(x) *
                                     static_cast<unsigned __int128>(y) >>
                                 kBits) +
                z;
       }},
  };
  if constexpr (sizeof(T) < 8) {  // the product fits
    table.push_back({"mad_sat(x, y, z)", [=](Big x, Big y, Big z) { return saturate(x * y + z); }});
  }
  if constexpr (sizeof(T) == 4) {
    const auto low24 = [](Big v) {
      return std::is_signed_v<T> ? Big{static_cast<std::int32_t>(v) << 8 >> 8} : v & 0xFFFFFF;
    };
    table.push_back(
        {"mul24(LOW24(x), LOW24(y))", [=](Big x, Big y, Big) { return low24(x) * low24(y); }});
    table.push_back({"mad24(LOW24(x), LOW24(y), z)",
                     [=](Big x, Big y, Big z) { return low24(x) * low24(y) + z; }});
  }
  return table;
}

template <class T>
void check_integers(const Device& device, const std::string& name) {
  const auto table = integer_functions<T>();
  std::vector<std::string> expressions;
  expressions.reserve(table.size());
  for (const auto& function : table) expressions.emplace_back(function.expression);
  const std::string low24 = std::is_signed_v<T> ? "((v) << 8 >> 8)" : "((v) & 0xFFFFFF)";
  const std::string low =
      std::is_signed_v<T> ? "((T)((T)1 << " + std::to_string(8 * sizeof(T) - 1) + "))" : "((T)0)";
  cl_program program =
      device.build("#define T " + name + "\n#define LOW " + low + "\n#define LOW24(v) " + low24 +
                   "\n" + kernels(name, name, expressions));
  std::mt19937_64 random(2);
  std::vector<T> operands[3];
  for (auto& operand : operands) {
    operand.resize(kItems);
    for (T& value : operand) {
      const std::uint64_t bits = random();
      value = static_cast<T>(bits >> (bits & 1 ? 0 : bits >> 58));  // small ones too
      if ((bits & 0x1C) == 0)
        value = static_cast<T>(std::numeric_limits<T>::max() + (bits >> 8 & 1));
    }
  }
  for (std::size_t f = 0; f < table.size(); ++f) {
    const auto got = device.run<T>(program, f, operands);
    int shown = 0;
    for (std::size_t i = 0; i < kItems; ++i) {
      const T x = operands[0][i], y = operands[1][i], z = operands[2][i];
      const auto wanted = static_cast<T>(table[f].reference(x, y, z));
      if (got[i] == wanted) continue;
      ++failures;
      if (shown++ == 0) {
        std::printf("%s %s of %lld, %lld, %lld is %lld, wanted %lld\n", name.c_str(),
                    table[f].expression, (long long)x, (long long)y, (long long)z,
                    (long long)got[i], (long long)wanted);
      }
    }
  }
  clReleaseProgram(program);
  std::printf("%s: %zu functions\n", name.c_str(), table.size());
}

// --- saturating conversions, in every rounding mode ---

template <class T>
void check_conversions(const Device& device, const std::string& name) {
  struct Target {
    const char* name;
    long double low, high;
  };
  const Target targets[] = {{"char", -128, 127},
                            {"uchar", 0, 255},
                            {"short", -32768, 32767},
                            {"ushort", 0, 65535},
                            {"int", -0x1p31L, 0x1p31L - 1},
                            {"uint", 0, 0x1p32L - 1},
                            {"long", -0x1p63L, 0x1p63L - 1},
                            {"ulong", 0, 0x1p64L - 1}};
  const std::pair<const char*, long double (*)(long double)> modes[] = {
      {"", [](long double v) { return std::trunc(v); }},
      {"_rtz", [](long double v) { return std::trunc(v); }},
      {"_rte", [](long double v) { return std::nearbyint(v); }},
      {"_rtp", [](long double v) { return std::ceil(v); }},
      {"_rtn", [](long double v) { return std::floor(v); }}};
  std::vector<std::string> expressions;
  for (const auto& target : targets) {
    for (const auto& mode : modes) {
      expressions.push_back(std::string("(ulong)convert_") + target.name + "_sat" + mode.first +
                            "(x)");
    }
  }
  std::string source = kernels(name, "ulong", expressions);
  if (name == "double") source = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" + source;
  cl_program program = device.build(source);
  std::mt19937_64 random(3);
  std::size_t f = 0;
  for (const auto& target : targets) {
    for (const auto& mode : modes) {
      std::vector<T> operands[3];
      fill(operands, double(target.low) * 1.2 - 3, double(target.high) * 1.2, random);
      const auto got = device.run<std::uint64_t>(program, f++, operands);
      for (std::size_t i = 0; i < kItems; ++i) {
        const T x = operands[0][i];
        // NaN should become 0; AMD's library makes the least char or short of it.
        if (std::isnan(x)) continue;
        const long double whole = std::clamp(mode.second(x), target.low, target.high);
        const std::uint64_t wanted =
            whole < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole))
                      : static_cast<std::uint64_t>(whole);
        if (got[i] == wanted) continue;
        if (failures++ < 50) {
          std::printf("%s of %.17g is %llx, wanted %llx\n", expressions[f - 1].c_str(), double(x),
                      (unsigned long long)got[i], (unsigned long long)wanted);
        }
      }
    }
  }
  clReleaseProgram(program);
  std::printf("%s: %zu conversions\n", name.c_str(), expressions.size());
}

}  // namespace

int main() {
  const Device device;
  char name[256] = {};
  clGetDeviceInfo(device.device, CL_DEVICE_NAME, sizeof name, name, nullptr);
  std::printf("%s\n", name);
  cl_device_fp_config config = 0;
  must(clGetDeviceInfo(device.device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, nullptr),
       "clGetDeviceInfo");
  keeps_denormals = (config & CL_FP_DENORM) != 0;
  check_floats<float>(device, "float");
  check_floats<double>(device, "double");
  check_integers<std::int8_t>(device, "char");
  check_integers<std::uint8_t>(device, "uchar");
  check_integers<std::int16_t>(device, "short");
  check_integers<std::uint16_t>(device, "ushort");
  check_integers<std::int32_t>(device, "int");
  check_integers<std::uint32_t>(device, "uint");
  check_integers<std::int64_t>(device, "long");
  check_integers<std::uint64_t>(device, "ulong");
  check_conversions<float>(device, "float");
  check_conversions<double>(device, "double");
  std::printf("%d differ\n", failures);
  return failures == 0 ? 0 : 1;
}
