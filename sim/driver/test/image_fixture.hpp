// Sets up the tests of images: kinds, a fixture, and a picture to compare transfers with.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api_fixture.hpp"

namespace ww::sim::driver {

using Sides = std::array<std::size_t, 3>;
using Bytes = std::vector<unsigned char>;

inline constexpr cl_image_format kBytes4{CL_RGBA, CL_UNSIGNED_INT8};

// An image kind with the sides that its origins and regions count.
struct Kind {
  const char* name;
  cl_mem_object_type type;
  Sides sides;
  bool slices;  // has a slice pitch
};

inline constexpr Kind kKinds[] = {
    {"1D", CL_MEM_OBJECT_IMAGE1D, {13, 1, 1}, false},
    {"1D array", CL_MEM_OBJECT_IMAGE1D_ARRAY, {13, 5, 1}, true},
    {"1D buffer", CL_MEM_OBJECT_IMAGE1D_BUFFER, {13, 1, 1}, false},
    {"2D", CL_MEM_OBJECT_IMAGE2D, {13, 7, 1}, false},
    {"2D array", CL_MEM_OBJECT_IMAGE2D_ARRAY, {13, 7, 3}, true},
    {"3D", CL_MEM_OBJECT_IMAGE3D, {13, 7, 3}, true},
};

// Where a map shows a region, and how far apart its rows and slices lie.
struct View {
  unsigned char* bytes{};
  std::size_t row{1};
  std::size_t slice{1};
  cl_int code{-1};
};

class ImageTest : public ApiTest {
 protected:
  static cl_image_desc shape(const Kind& kind) {
    cl_image_desc shape{};
    shape.image_type = kind.type;
    shape.image_width = kind.sides[0];
    const bool layered_1d = kind.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    if (!layered_1d) shape.image_height = kind.sides[1];
    shape.image_depth = kind.type == CL_MEM_OBJECT_IMAGE3D ? kind.sides[2] : 0;
    shape.image_array_size = layered_1d ? kind.sides[1] : kind.sides[2];
    return shape;
  }

  cl_mem image(const Kind& kind, cl_image_format format = kBytes4,
               cl_mem_flags flags = CL_MEM_READ_WRITE, void* host = nullptr, std::size_t row = 0,
               std::size_t slice = 0) {
    cl_image_desc wanted = shape(kind);
    wanted.image_row_pitch = row;
    wanted.image_slice_pitch = slice;
    if (kind.type == CL_MEM_OBJECT_IMAGE1D_BUFFER) wanted.buffer = buffer(16 * kind.sides[0]);
    cl_int code = -1;
    cl_mem made = cl.clCreateImage(context, flags, &format, &wanted, host, &code);
    EXPECT_EQ(code, CL_SUCCESS) << kind.name;
    // The image keeps its buffer.
    if (wanted.buffer != nullptr) release(wanted.buffer);
    return made;
  }

  template <class T>
  T info(cl_mem of, cl_image_info name) {
    T value{};
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a handle is a pointer, and its size is meant
    EXPECT_EQ(cl.clGetImageInfo(of, name, sizeof(T), &value, nullptr), CL_SUCCESS) << name;
    return value;
  }

  Bytes read(cl_mem from, const Sides& origin, const Sides& region, std::size_t element = 4) {
    Bytes bytes(region[0] * region[1] * region[2] * element, 0xee);
    EXPECT_EQ(cl.clEnqueueReadImage(queue, from, CL_TRUE, origin.data(), region.data(), 0, 0,
                                    bytes.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    return bytes;
  }
  void write(cl_mem to, const Sides& origin, const Sides& region, const Bytes& bytes) {
    EXPECT_EQ(cl.clEnqueueWriteImage(queue, to, CL_TRUE, origin.data(), region.data(), 0, 0,
                                     bytes.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
  }
  View map(cl_mem of, const Sides& origin, const Sides& region) {
    View view;
    view.bytes = static_cast<unsigned char*>(cl.clEnqueueMapImage(
        queue, of, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, origin.data(), region.data(), &view.row,
        &view.slice, 0, nullptr, nullptr, &view.code));
    return view;
  }
  std::vector<cl_image_format> supported_formats(cl_mem_object_type type) {
    const auto ask = [&](cl_uint room, cl_image_format* formats, cl_uint* count) {
      EXPECT_EQ(
          cl.clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, type, room, formats, count),
          CL_SUCCESS);
    };
    cl_uint count = 0;
    ask(0, nullptr, &count);
    std::vector<cl_image_format> formats(count);
    ask(count, formats.data(), nullptr);
    return formats;
  }
  void release(cl_mem object) { EXPECT_EQ(cl.clReleaseMemObject(object), CL_SUCCESS); }
};

// Bytes that say where they are.
inline Bytes counting(std::size_t size, unsigned seed = 1) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<unsigned char>((i + seed) * 2654435761U >> 13);
  }
  return bytes;
}

inline std::size_t volume_of(const Sides& sides) {
  return sides[0] * sides[1] * sides[2];
}

// A picture without gaps, and the way to a part of it: what every transfer is held against.
struct Picture {
  Sides sides;
  std::size_t element;
  Bytes bytes = counting(volume_of(sides) * element);

  Bytes part(const Sides& origin, const Sides& region) const {
    Bytes out;
    each(origin, region, [&](std::size_t at) {
      out.insert(out.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + element));
    });
    return out;
  }
  void put(const Sides& origin, const Sides& region, const Bytes& in) {
    auto next = in.begin();
    each(origin, region, [&](std::size_t at) {
      std::copy_n(next, element, bytes.begin() + static_cast<std::ptrdiff_t>(at));
      next += static_cast<std::ptrdiff_t>(element);
    });
  }

 private:
  template <class Visit>
  void each(const Sides& origin, const Sides& region, Visit visit) const {
    for (std::size_t z = origin[2]; z < origin[2] + region[2]; ++z) {
      for (std::size_t y = origin[1]; y < origin[1] + region[1]; ++y) {
        for (std::size_t x = origin[0]; x < origin[0] + region[0]; ++x) {
          visit(((z * sides[1] + y) * sides[0] + x) * element);
        }
      }
    }
  }
};

// A part of an image that leaves a border on every side where there is room for one.
inline std::pair<Sides, Sides> inner_part(const Sides& sides) {
  Sides origin{};
  Sides region{};
  for (std::size_t i = 0; i < 3; ++i) {
    origin[i] = sides[i] > 2 ? 1 : 0;
    region[i] = sides[i] - 2 * origin[i];
  }
  return {origin, region};
}

}  // namespace ww::sim::driver
