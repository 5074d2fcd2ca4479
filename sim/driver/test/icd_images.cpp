// Images in kernels against the host: reads and writes of every kind and format, queries, and
// samplers as arguments and as literals. OpenCL 1.2 specification, sections 6.12.14 and 8. The chip
// is WIREWATT_CHIP's: each instruction set has image instructions of its own.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "virtual_device.hpp"

namespace {

using Sides = std::array<std::size_t, 3>;
using Bytes = std::vector<unsigned char>;

int failures = 0;
std::size_t checked = 0;

std::size_t volume(const Sides& sides) {
  return sides[0] * sides[1] * sides[2];
}

struct Kind {
  const char* name;  // OpenCL C's, without _t
  cl_mem_object_type type;
  Sides sides;          // as origins and regions count them
  int axes;             // that a sampler filters
  bool layers;          // the next axis selects a layer
  const char* coord;    // of texel (x, y, z)
  const char* f_coord;  // of the float4 p
};

const Kind kKinds[] = {
    {"image1d", CL_MEM_OBJECT_IMAGE1D, {37, 1, 1}, 1, false, "x", "p.x"},
    {"image1d_array", CL_MEM_OBJECT_IMAGE1D_ARRAY, {37, 5, 1}, 1, true, "(int2)(x, y)", "p.xy"},
    {"image1d_buffer", CL_MEM_OBJECT_IMAGE1D_BUFFER, {37, 1, 1}, 0, false, "x", ""},
    {"image2d", CL_MEM_OBJECT_IMAGE2D, {13, 7, 1}, 2, false, "(int2)(x, y)", "p.xy"},
    {"image2d_array", CL_MEM_OBJECT_IMAGE2D_ARRAY, {13, 7, 3}, 2, true, "(int4)(x, y, z, 0)", "p"},
    {"image3d", CL_MEM_OBJECT_IMAGE3D, {13, 7, 5}, 3, false, "(int4)(x, y, z, 0)", "p"},
};

// --- formats: what an element holds, by arithmetic of the test's own ---

// A texel as kernels see it: floats, or whole numbers in the integers.
struct Texel {
  float real[4];
  std::int64_t whole[4];
};

// Which components an element holds, in the order of memory: 0 to 3 are R to A.
std::vector<unsigned> components(cl_channel_order order) {
  switch (order) {
    case CL_A: return {3};
    case CL_RG: return {0, 1};
    case CL_RA: return {0, 3};
    case CL_RGB: return {0, 1, 2};
    case CL_RGBA: return {0, 1, 2, 3};
    case CL_BGRA: return {2, 1, 0, 3};
    case CL_ARGB: return {3, 0, 1, 2};
    default: return {0};
  }
}

bool is_integer(cl_channel_type type) {
  return type >= CL_SIGNED_INT8 && type <= CL_UNSIGNED_INT32;
}
// f, i or ui, as in read_imagef.
const char* suffix(cl_channel_type type) {
  return !is_integer(type) ? "f" : type >= CL_UNSIGNED_INT8 ? "ui" : "i";
}

struct Width {
  unsigned bytes;
  bool sign;
};
Width width(cl_channel_type type) {
  switch (type) {
    case CL_SNORM_INT8:
    case CL_SIGNED_INT8: return {1, true};
    case CL_UNORM_INT8:
    case CL_UNSIGNED_INT8: return {1, false};
    case CL_SNORM_INT16:
    case CL_SIGNED_INT16: return {2, true};
    case CL_UNORM_INT16:
    case CL_UNSIGNED_INT16:
    case CL_HALF_FLOAT: return {2, false};
    case CL_SIGNED_INT32: return {4, true};
    default: return {4, false};
  }
}

std::vector<unsigned> packed_bits(cl_channel_type type) {
  switch (type) {
    case CL_UNORM_SHORT_565: return {5, 6, 5};
    case CL_UNORM_SHORT_555: return {5, 5, 5};
    case CL_UNORM_INT_101010: return {10, 10, 10};
    default: return {};
  }
}

std::size_t element_bytes(const cl_image_format& format) {
  const auto bits = packed_bits(format.image_channel_data_type);
  if (!bits.empty()) return bits[0] == 10 ? 4 : 2;
  return components(format.image_channel_order).size() *
         width(format.image_channel_data_type).bytes;
}

double half_value(unsigned bits) {
  const unsigned exponent = bits >> 10 & 31;
  const double mantissa = bits & 1023;
  const double size = exponent == 0 ? std::ldexp(mantissa, -24)
                                    : std::ldexp(1024 + mantissa, static_cast<int>(exponent) - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

// Returns an element as kernels read it; components that it lacks are 0, alpha 1.
Texel decode(const cl_image_format& format, const unsigned char* bytes) {
  Texel texel{{0, 0, 0, 1}, {0, 0, 0, 1}};
  const cl_channel_order order = format.image_channel_order;
  const cl_channel_type type = format.image_channel_data_type;
  if (order == CL_A || order == CL_INTENSITY) texel.real[3] = 0, texel.whole[3] = 0;
  if (const auto bits = packed_bits(type); !bits.empty()) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes, element_bytes(format));
    unsigned at = 0;
    for (unsigned c = 3; c-- > 0; at += bits[c]) {
      const std::uint32_t most = (1U << bits[c]) - 1;
      texel.real[c] = static_cast<float>(word >> at & most) / static_cast<float>(most);
    }
    return texel;
  }
  const Width size = width(type);
  for (const unsigned c : components(order)) {
    std::uint32_t raw = 0;
    std::memcpy(&raw, bytes, size.bytes);
    bytes += size.bytes;
    std::int64_t whole = raw;
    if (size.sign) {
      const std::int64_t sign = std::int64_t{1} << (8 * size.bytes - 1);
      whole = (whole ^ sign) - sign;
    }
    const auto most = static_cast<double>((std::int64_t{1} << (8 * size.bytes - size.sign)) - 1);
    float real = 0;
    if (type == CL_FLOAT) {
      std::memcpy(&real, &raw, sizeof real);
    } else if (type == CL_HALF_FLOAT) {
      real = static_cast<float>(half_value(raw));
    } else {
      real = static_cast<float>(std::max(-1.0, static_cast<double>(whole) / most));
    }
    texel.whole[c] = whole;
    texel.real[c] = real;
  }
  if (order == CL_INTENSITY || order == CL_LUMINANCE) {
    const unsigned last = order == CL_INTENSITY ? 3 : 2;
    for (unsigned c = 1; c <= last; ++c) texel.real[c] = texel.real[0];
  }
  return texel;
}

// The element of random bits; half and float without infinities and NaN, which need not survive.
Bytes random_elements(const cl_image_format& format, std::size_t count, std::mt19937& random) {
  Bytes bytes(count * element_bytes(format));
  for (auto& byte : bytes) byte = static_cast<unsigned char>(random());
  const cl_channel_type type = format.image_channel_data_type;
  if (type == CL_FLOAT) {
    for (std::size_t i = 0; i < bytes.size(); i += 4) {
      const float value = std::uniform_real_distribution<float>(-1, 1)(random);
      std::memcpy(&bytes[i], &value, sizeof value);
    }
  } else if (type == CL_HALF_FLOAT) {
    // Exponents of up to 15, which are numbers of up to 2, denormal ones among them.
    for (std::size_t i = 1; i < bytes.size(); i += 2) bytes[i] &= 0xbf;
  } else if (type == CL_UNORM_SHORT_555) {
    // The bits that no component has are written as zeros.
    for (std::size_t i = 1; i < bytes.size(); i += 2) bytes[i] &= 0x7f;
  } else if (type == CL_UNORM_INT_101010) {
    for (std::size_t i = 3; i < bytes.size(); i += 4) bytes[i] &= 0x3f;
  } else if (type == CL_SNORM_INT8 || type == CL_SNORM_INT16) {
    // The least number and the next are both -1, and -1 is written as the next.
    const std::size_t step = width(type).bytes;
    for (std::size_t i = step - 1; i < bytes.size(); i += step) {
      if (bytes[i] == 0x80) bytes[i] = 0x81;
    }
  }
  return bytes;
}

// --- the device ---

struct Device : VirtualDevice {
  cl_mem buffer(std::size_t bytes, const void* data = nullptr) const {
    cl_int code{};
    cl_mem memory =
        clCreateBuffer(context, CL_MEM_READ_WRITE | (data != nullptr ? CL_MEM_COPY_HOST_PTR : 0),
                       bytes, const_cast<void*>(data), &code);
    must(code, "clCreateBuffer");
    return memory;
  }

  cl_mem image(const Kind& kind, const cl_image_format& format, const Bytes& bytes) const {
    cl_image_desc shape{};
    shape.image_type = kind.type;
    shape.image_width = kind.sides[0];
    const bool layered_1d = kind.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    shape.image_height = layered_1d ? 0 : kind.sides[1];
    shape.image_depth = kind.sides[2];
    shape.image_array_size = layered_1d ? kind.sides[1] : kind.sides[2];
    cl_mem memory = nullptr;
    if (kind.type == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
      memory = buffer(bytes.size());
      shape.buffer = memory;
    }
    cl_int code{};
    cl_mem made = clCreateImage(context, CL_MEM_READ_WRITE, &format, &shape, nullptr, &code);
    must(code, "clCreateImage");
    if (memory != nullptr) clReleaseMemObject(memory);
    const Sides zero{};
    must(clEnqueueWriteImage(queue, made, CL_TRUE, zero.data(), kind.sides.data(), 0, 0,
                             bytes.data(), 0, nullptr, nullptr),
         "clEnqueueWriteImage");
    return made;
  }

  Bytes read(const Kind& kind, cl_mem image, std::size_t bytes) const {
    Bytes out(bytes);
    const Sides zero{};
    must(clEnqueueReadImage(queue, image, CL_TRUE, zero.data(), kind.sides.data(), 0, 0, out.data(),
                            0, nullptr, nullptr),
         "clEnqueueReadImage");
    return out;
  }

  // Runs a kernel whose arguments are given by pointer and size.
  struct Argument {
    std::size_t size;
    const void* value;
  };
  void run(cl_program program, const std::string& name, const Sides& global,
           const std::vector<Argument>& arguments) const {
    cl_int code{};
    cl_kernel kernel = clCreateKernel(program, name.c_str(), &code);
    must(code, name.c_str());
    for (cl_uint i = 0; i < arguments.size(); ++i) {
      must(clSetKernelArg(kernel, i, arguments[i].size, arguments[i].value), "clSetKernelArg");
    }
    must(clEnqueueNDRangeKernel(queue, kernel, 3, nullptr, global.data(), nullptr, 0, nullptr,
                                nullptr),
         "clEnqueueNDRangeKernel");
    clReleaseKernel(kernel);
  }

  template <class T>
  std::vector<T> download(cl_mem memory, std::size_t count) const {
    std::vector<T> out(count);
    must(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, count * sizeof(T), out.data(), 0, nullptr,
                             nullptr),
         "clEnqueueReadBuffer");
    return out;
  }

  std::vector<cl_image_format> formats(cl_mem_object_type type) const {
    cl_uint count = 0;
    must(clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, type, 0, nullptr, &count),
         "clGetSupportedImageFormats");
    std::vector<cl_image_format> all(count);
    must(clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, type, count, all.data(), nullptr),
         "clGetSupportedImageFormats");
    // Orders and types of later versions or extensions (PoCL lists some) are not this test's.
    std::erase_if(all, [](const auto& format) {
      return format.image_channel_order > CL_LUMINANCE || format.image_channel_data_type > CL_FLOAT;
    });
    return all;
  }
};

void fail(const std::string& where, const char* what, const std::string& got,
          const std::string& want) {
  if (++failures <= 40) {
    std::printf("%s: %s is %s, not %s\n", where.c_str(), what, got.c_str(), want.c_str());
  }
}

std::string name_of(const Kind& kind, const cl_image_format& format) {
  char text[80];
  std::snprintf(text, sizeof text, "%s of order %#x, type %#x", kind.name,
                format.image_channel_order, format.image_channel_data_type);
  return text;
}

// Reads, writes and queries of one kind.
std::string texel_kernels(const Kind& kind) {
  const std::string image = std::string(kind.name) + "_t i";
  const std::string place =
      "  const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
      "  const size_t at = (z * get_global_size(1) + y) * get_global_size(0) + x;\n";
  std::string source;
  for (const auto& [suffix, type] :
       {std::pair{"f", "float4"}, std::pair{"i", "int4"}, std::pair{"ui", "uint4"}}) {
    source += std::string("kernel void read_") + suffix + "(read_only " + image + ", global " +
              type + "* o) {\n" + place + "  o[at] = read_image" + suffix + "(i, " + kind.coord +
              ");\n}\n" + "kernel void write_" + suffix + "(write_only " + image +
              ", global const " + type + "* v) {\n" + place + "  write_image" + suffix + "(i, " +
              kind.coord + ", v[at]);\n}\n";
  }
  source += "kernel void ask(read_only " + image +
            ", global int* o) {\n"
            "  o[0] = get_image_width(i);\n";
  const bool flat = kind.sides[1] > 1 && kind.type != CL_MEM_OBJECT_IMAGE1D_ARRAY;
  if (flat) source += "  o[1] = get_image_height(i);\n";
  if (kind.type == CL_MEM_OBJECT_IMAGE3D) source += "  o[2] = get_image_depth(i);\n";
  if (kind.layers) source += "  o[3] = get_image_array_size(i);\n";
  return source +
         "  o[4] = get_image_channel_data_type(i);\n"
         "  o[5] = get_image_channel_order(i);\n}\n";
}

// Kernels get the arguments of clCreateImage.
void check_answers(const Device& device, cl_program program, const Kind& kind,
                   const cl_image_format& format, cl_mem image) {
  std::vector<cl_int> none(6, -1);
  cl_mem out = device.buffer(6 * sizeof(cl_int), none.data());
  device.run(program, "ask", {1, 1, 1}, {{sizeof image, &image}, {sizeof out, &out}});
  const auto got = device.download<cl_int>(out, 6);
  const bool flat = kind.sides[1] > 1 && kind.type != CL_MEM_OBJECT_IMAGE1D_ARRAY;
  const auto side = [&](std::size_t axis) { return static_cast<cl_int>(kind.sides[axis]); };
  const std::vector<cl_int> want{side(0),
                                 flat ? side(1) : -1,
                                 kind.type == CL_MEM_OBJECT_IMAGE3D ? side(2) : -1,
                                 kind.layers ? side(kind.axes == 1 ? 1 : 2) : -1,
                                 static_cast<cl_int>(format.image_channel_data_type),
                                 static_cast<cl_int>(format.image_channel_order)};
  for (std::size_t i = 0; i < want.size(); ++i) {
    ++checked;
    if (got[i] == want[i]) continue;
    const char* const what[] = {"width", "height", "depth", "layers", "channel type", "order"};
    fail(name_of(kind, format), what[i], std::to_string(got[i]), std::to_string(want[i]));
  }
  clReleaseMemObject(out);
}

// Whether a component that a kernel read is what it should be; normalised values may be off by 1.5
// units in the last place (8.3.1.1).
bool same(float got, float want) {
  return std::fabs(got - want) <= 1.5F * std::numeric_limits<float>::epsilon() * std::fabs(want);
}

void check_format(const Device& device, cl_program program, const Kind& kind,
                  const cl_image_format& format, std::mt19937& random) {
  const std::size_t count = volume(kind.sides);
  const std::size_t size = element_bytes(format);
  const Bytes bytes = random_elements(format, count, random);
  const std::string name = suffix(format.image_channel_data_type);
  cl_mem image = device.image(kind, format, bytes);
  cl_mem out = device.buffer(16 * count);
  device.run(program, "read_" + name, kind.sides, {{sizeof image, &image}, {sizeof out, &out}});
  const auto words = device.download<std::uint32_t>(out, 4 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const Texel want = decode(format, &bytes[i * size]);
    for (std::size_t c = 0; c < 4; ++c) {
      ++checked;
      const std::uint32_t word = words[4 * i + c];
      if (name == "f") {
        float got = 0;
        std::memcpy(&got, &word, sizeof got);
        if (!same(got, want.real[c])) {
          fail(name_of(kind, format), ("component " + std::to_string(c) + " read").c_str(),
               std::to_string(got), std::to_string(want.real[c]));
        }
      } else if (word != static_cast<std::uint32_t>(want.whole[c])) {
        fail(name_of(kind, format), ("component " + std::to_string(c) + " read").c_str(),
             std::to_string(word), std::to_string(want.whole[c]));
      }
    }
  }
  // Writes the elements to another image, which then has the same bytes.
  cl_mem copy = device.image(kind, format, random_elements(format, count, random));
  device.run(program, "write_" + name, kind.sides, {{sizeof copy, &copy}, {sizeof out, &out}});
  const Bytes back = device.read(kind, copy, bytes.size());
  for (std::size_t i = 0; i < count; ++i) {
    ++checked;
    if (std::memcmp(&back[i * size], &bytes[i * size], size) == 0) continue;
    std::string texts[2];
    for (std::size_t b = 0; b < size; ++b) {
      char digits[2][4];
      std::snprintf(digits[0], sizeof digits[0], "%02x", back[i * size + b]);
      std::snprintf(digits[1], sizeof digits[1], "%02x", bytes[i * size + b]);
      texts[0] += digits[0];
      texts[1] += digits[1];
    }
    fail(name_of(kind, format), "an element written", texts[0], texts[1]);
  }
  check_answers(device, program, kind, format, image);
  for (cl_mem each : {image, copy, out}) clReleaseMemObject(each);
}

// --- samplers ---

struct Mode {
  bool normalized;
  cl_addressing_mode addressing;
  cl_filter_mode filter;
};

std::vector<Mode> modes() {
  std::vector<Mode> all;
  for (const bool normalized : {false, true}) {
    for (const cl_addressing_mode addressing :
         {CL_ADDRESS_NONE, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP, CL_ADDRESS_REPEAT,
          CL_ADDRESS_MIRRORED_REPEAT}) {
      if (!normalized && addressing >= CL_ADDRESS_REPEAT) continue;
      for (const cl_filter_mode filter : {CL_FILTER_NEAREST, CL_FILTER_LINEAR}) {
        all.push_back({normalized, addressing, filter});
      }
    }
  }
  return all;
}

std::string literal(const Mode& mode) {
  static const char* const addressings[] = {"CLK_ADDRESS_NONE", "CLK_ADDRESS_CLAMP_TO_EDGE",
                                            "CLK_ADDRESS_CLAMP", "CLK_ADDRESS_REPEAT",
                                            "CLK_ADDRESS_MIRRORED_REPEAT"};
  return std::string(mode.normalized ? "CLK_NORMALIZED_COORDS_TRUE"
                                     : "CLK_NORMALIZED_COORDS_FALSE") +
         " | " + addressings[mode.addressing - CL_ADDRESS_NONE] + " | " +
         (mode.filter == CL_FILTER_LINEAR ? "CLK_FILTER_LINEAR" : "CLK_FILTER_NEAREST");
}

// A kernel with its sampler as an argument, and one for each literal.
std::string sampling_kernels(const Kind& kind) {
  const std::string head =
      "(read_only " + std::string(kind.name) + "_t i, global const float4* at, global ";
  std::string source;
  for (const auto& [suffix, type] :
       {std::pair{"f", "float4"}, std::pair{"i", "int4"}, std::pair{"ui", "uint4"}}) {
    source += std::string("kernel void with_") + suffix + head + type +
              "* o, sampler_t s) {\n  const size_t n = get_global_id(0);\n"
              "  const float4 p = at[n];\n  o[n] = read_image" +
              suffix + "(i, s, " + kind.f_coord + ");\n}\n";
  }
  const auto all = modes();
  for (std::size_t m = 0; m < all.size(); ++m) {
    const std::string n = std::to_string(m);
    source += "constant sampler_t s" + n + " = " + literal(all[m]) + ";\nkernel void literal_" + n +
              head +
              "float4* o) {\n  const size_t n = get_global_id(0);\n"
              "  const float4 p = at[n];\n  o[n] = read_imagef(i, s" +
              n + ", " + kind.f_coord + ");\n}\n";
  }
  return source;
}

// The one or two texels of an axis that a coordinate meets, and the second one's share; -1 is the
// border. OpenCL 1.2, section 8.2.
struct Axis {
  std::int64_t first, second;
  double share;
};
Axis axis(const Mode& mode, double s, std::int64_t size) {
  const auto real = static_cast<double>(size);
  double u = mode.normalized ? s * real : s;
  if (mode.addressing == CL_ADDRESS_REPEAT) {
    u = (s - std::floor(s)) * real;
  } else if (mode.addressing == CL_ADDRESS_MIRRORED_REPEAT) {
    u = std::fabs(s - 2 * std::rint(0.5 * s)) * real;
  }
  const bool linear = mode.filter == CL_FILTER_LINEAR;
  const double base = linear ? u - 0.5 : u;
  const auto first = static_cast<std::int64_t>(std::floor(base));
  const auto inside = [&](std::int64_t i) -> std::int64_t {
    if (mode.addressing == CL_ADDRESS_REPEAT) return (i + size) % size;
    if (mode.addressing == CL_ADDRESS_CLAMP) return i < 0 || i >= size ? -1 : i;
    return std::clamp<std::int64_t>(i, 0, size - 1);
  };
  return {inside(first), inside(first + 1), linear ? base - static_cast<double>(first) : 0.0};
}

struct Sample {
  double real[4];
};

Sample sample(const Mode& mode, const Kind& kind, const cl_image_format& format, const Bytes& bytes,
              const float* p) {
  const auto side = [&](std::size_t a) { return static_cast<std::int64_t>(kind.sides[a]); };
  Axis axes[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  for (std::size_t a = 0; a < static_cast<std::size_t>(kind.axes); ++a) {
    axes[a] = axis(mode, p[a], side(a));
  }
  if (kind.layers) {
    const auto a = static_cast<std::size_t>(kind.axes);
    const auto layer = std::clamp<std::int64_t>(std::llrint(p[a]), 0, side(a) - 1);
    axes[a] = {layer, layer, 0};
  }
  // Outside, formats without alpha are opaque black.
  Texel border = decode(format, Bytes(16, 0).data());
  Sample sum{};
  for (unsigned corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::int64_t at[3];
    for (unsigned a = 0; a < 3; ++a) {
      const bool second = (corner >> a & 1) != 0;
      at[a] = second ? axes[a].second : axes[a].first;
      weight *= second ? axes[a].share : 1 - axes[a].share;
    }
    if (weight == 0) continue;
    const bool outside = std::any_of(at, at + 3, [](std::int64_t i) { return i < 0; });
    const std::size_t index =
        outside ? 0 : static_cast<std::size_t>((at[2] * side(1) + at[1]) * side(0) + at[0]);
    const Texel texel = outside ? border : decode(format, &bytes[index * element_bytes(format)]);
    for (unsigned c = 0; c < 4; ++c) {
      const bool whole = is_integer(format.image_channel_data_type);
      sum.real[c] += weight * (whole ? static_cast<double>(texel.whole[c]) : texel.real[c]);
    }
  }
  return sum;
}

// Coordinates about an image, and beyond it where the addressing says what comes there; none so
// near to where the texel changes that rounding decides.
std::vector<float> coordinates(const Mode& mode, const Kind& kind, std::mt19937& random) {
  constexpr std::size_t kSamples = 192;
  std::vector<float> out(4 * kSamples);
  const bool beyond = mode.addressing != CL_ADDRESS_NONE;
  for (std::size_t n = 0; n < kSamples; ++n) {
    for (std::size_t a = 0; a < static_cast<std::size_t>(kind.axes); ++a) {
      const auto size = static_cast<double>(kind.sides[a]);
      const double margin = mode.filter == CL_FILTER_LINEAR ? 1 : 0;
      std::uniform_real_distribution<double> place(beyond ? -2.5 * size : margin,
                                                   beyond ? 3.5 * size : size - margin);
      double u = place(random);
      if (mode.filter == CL_FILTER_NEAREST) {
        const double part = std::uniform_real_distribution<double>(0.1, 0.9)(random);
        u = std::floor(u) + part;
      }
      out[4 * n + a] = static_cast<float>(mode.normalized ? u / size : u);
    }
    if (kind.layers) {
      const auto a = static_cast<std::size_t>(kind.axes);
      const auto size = static_cast<double>(kind.sides[a]);
      std::uniform_real_distribution<double> layer(-1.4, size + 0.4);
      double l = layer(random);
      // Halves round to even or away, as the device likes.
      if (std::fabs(l - std::floor(l) - 0.5) < 0.1) l += 0.2;
      out[4 * n + a] = static_cast<float>(l);
    }
  }
  return out;
}

void check_samples(const Kind& kind, const cl_image_format& format, const Mode& mode,
                   const Bytes& bytes, const std::vector<float>& places,
                   const std::vector<std::uint32_t>& words, const char* how) {
  // Filters weigh with fractions of 8 bits, so that each axis may be off by 1/512 of what two
  // texels differ by, 2 at most. Coordinates are floats of up to 8 bits before the point, which is
  // less.
  const bool linear = mode.filter == CL_FILTER_LINEAR;
  const double slack = linear ? kind.axes * 2.0 / 512 + 1e-4 : 0;
  const std::string name = suffix(format.image_channel_data_type);
  for (std::size_t n = 0; n < places.size() / 4; ++n) {
    const Sample want = sample(mode, kind, format, bytes, &places[4 * n]);
    for (std::size_t c = 0; c < 4; ++c) {
      ++checked;
      double got = 0;
      const std::uint32_t word = words[4 * n + c];
      if (name == "f") {
        float real = 0;
        std::memcpy(&real, &word, sizeof real);
        got = real;
      } else {
        got = name == "i" ? static_cast<double>(static_cast<std::int32_t>(word)) : word;
      }
      const double error = std::fabs(got - want.real[c]);
      if (error <= slack + 2e-7 * std::fabs(want.real[c])) continue;
      char place[160];
      std::snprintf(place, sizeof place, "%s, sampler %s (%s), component %zu at %g %g %g",
                    name_of(kind, format).c_str(), literal(mode).c_str(), how, c,
                    static_cast<double>(places[4 * n]), static_cast<double>(places[4 * n + 1]),
                    static_cast<double>(places[4 * n + 2]));
      fail(place, "the value", std::to_string(got), std::to_string(want.real[c]));
    }
  }
}

void check_sampling(const Device& device, const Kind& kind, std::mt19937& random) {
  cl_program program = device.build(sampling_kernels(kind));
  const cl_image_format formats[] = {
      {CL_RGBA, CL_FLOAT},       {CL_RGBA, CL_UNORM_INT8},     {CL_BGRA, CL_UNORM_INT8},
      {CL_R, CL_HALF_FLOAT},     {CL_RG, CL_SNORM_INT16},      {CL_A, CL_UNORM_INT8},
      {CL_RGBA, CL_SIGNED_INT8}, {CL_RGBA, CL_UNSIGNED_INT16},
  };
  const auto there = device.formats(kind.type);
  const auto all = modes();
  for (const cl_image_format& format : formats) {
    const bool has = std::any_of(there.begin(), there.end(), [&](const cl_image_format& f) {
      return f.image_channel_order == format.image_channel_order &&
             f.image_channel_data_type == format.image_channel_data_type;
    });
    if (!has) continue;
    const std::size_t count = volume(kind.sides);
    const Bytes bytes = random_elements(format, count, random);
    cl_mem image = device.image(kind, format, bytes);
    const bool whole = is_integer(format.image_channel_data_type);
    for (std::size_t m = 0; m < all.size(); ++m) {
      const Mode& mode = all[m];
      if (whole && mode.filter == CL_FILTER_LINEAR) continue;  // undefined
      const auto places = coordinates(mode, kind, random);
      const std::size_t samples = places.size() / 4;
      cl_mem at = device.buffer(places.size() * sizeof(float), places.data());
      cl_mem out = device.buffer(16 * samples);
      cl_int code{};
      cl_sampler sampler = clCreateSampler(device.context, mode.normalized ? CL_TRUE : CL_FALSE,
                                           mode.addressing, mode.filter, &code);
      must(code, "clCreateSampler");
      device.run(program, std::string("with_") + suffix(format.image_channel_data_type),
                 {samples, 1, 1},
                 {{sizeof image, &image},
                  {sizeof at, &at},
                  {sizeof out, &out},
                  {sizeof sampler, &sampler}});
      clReleaseSampler(sampler);
      check_samples(kind, format, mode, bytes, places,
                    device.download<std::uint32_t>(out, 4 * samples), "argument");
      if (!whole) {
        device.run(program, "literal_" + std::to_string(m), {samples, 1, 1},
                   {{sizeof image, &image}, {sizeof at, &at}, {sizeof out, &out}});
        check_samples(kind, format, mode, bytes, places,
                      device.download<std::uint32_t>(out, 4 * samples), "literal");
      }
      clReleaseMemObject(at);
      clReleaseMemObject(out);
    }
    clReleaseMemObject(image);
  }
  clReleaseProgram(program);
}

}  // namespace

int main() {
  const Device device;
  std::mt19937 random(20120);
  std::size_t formats = 0;
  for (const Kind& kind : kKinds) {
    cl_program program = device.build(texel_kernels(kind));
    for (const cl_image_format& format : device.formats(kind.type)) {
      check_format(device, program, kind, format, random);
      ++formats;
    }
    clReleaseProgram(program);
    if (kind.axes > 0) check_sampling(device, kind, random);
  }
  std::printf("%zu kinds and formats, %zu values compared: %d wrong\n", formats, checked, failures);
  return failures == 0 && formats >= 6 * 11 ? 0 : 1;
}
