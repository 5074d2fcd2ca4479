#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include "../test/api_fixture.hpp"

namespace ww::sim::icd {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

using Sides = std::array<std::size_t, 3>;
using Bytes = std::vector<unsigned char>;

constexpr cl_image_format kBytes4{CL_RGBA, CL_UNSIGNED_INT8};

// An image kind with the sides that its origins and regions count.
struct Kind {
  const char* name;
  cl_mem_object_type type;
  Sides sides;
  bool slices;  // has a slice pitch
};

constexpr Kind kKinds[] = {
    {"1D", CL_MEM_OBJECT_IMAGE1D, {13, 1, 1}, false},
    {"1D array", CL_MEM_OBJECT_IMAGE1D_ARRAY, {13, 5, 1}, true},
    {"1D buffer", CL_MEM_OBJECT_IMAGE1D_BUFFER, {13, 1, 1}, false},
    {"2D", CL_MEM_OBJECT_IMAGE2D, {13, 7, 1}, false},
    {"2D array", CL_MEM_OBJECT_IMAGE2D_ARRAY, {13, 7, 3}, true},
    {"3D", CL_MEM_OBJECT_IMAGE3D, {13, 7, 3}, true},
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
    EXPECT_EQ(cl.clGetImageInfo(of, name, sizeof value, &value, nullptr), CL_SUCCESS) << name;
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
  void release(cl_mem object) { EXPECT_EQ(cl.clReleaseMemObject(object), CL_SUCCESS); }
};

// Bytes that say where they are.
Bytes counting(std::size_t size, unsigned seed = 1) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<unsigned char>((i + seed) * 2654435761U >> 13);
  }
  return bytes;
}

std::size_t volume(const Sides& sides) {
  return sides[0] * sides[1] * sides[2];
}

// A picture without gaps, and the way to a part of it: what every transfer is held against.
struct Picture {
  Sides sides;
  std::size_t element;
  Bytes bytes = counting(volume(sides) * element);

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
std::pair<Sides, Sides> inner_part(const Sides& sides) {
  Sides origin{};
  Sides region{};
  for (std::size_t i = 0; i < 3; ++i) {
    origin[i] = sides[i] > 2 ? 1 : 0;
    region[i] = sides[i] - 2 * origin[i];
  }
  return {origin, region};
}

TEST_F(ImageTest, TellsWhatItIs) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    cl_mem made = image(kind);
    const cl_image_desc wanted = shape(kind);
    const bool has_height = kind.type == CL_MEM_OBJECT_IMAGE2D ||
                            kind.type == CL_MEM_OBJECT_IMAGE3D ||
                            kind.type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    const bool array =
        kind.type == CL_MEM_OBJECT_IMAGE1D_ARRAY || kind.type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    EXPECT_EQ(info<std::size_t>(made, CL_IMAGE_WIDTH), 13U);
    EXPECT_EQ(info<std::size_t>(made, CL_IMAGE_HEIGHT), has_height ? 7U : 0U);
    EXPECT_EQ(info<std::size_t>(made, CL_IMAGE_DEPTH),
              kind.type == CL_MEM_OBJECT_IMAGE3D ? 3U : 0U);
    EXPECT_EQ(info<std::size_t>(made, CL_IMAGE_ARRAY_SIZE), array ? wanted.image_array_size : 0U);
    EXPECT_EQ(info<std::size_t>(made, CL_IMAGE_ELEMENT_SIZE), 4U);
    EXPECT_EQ(info<std::size_t>(made, CL_IMAGE_ROW_PITCH), 52U);
    EXPECT_EQ(info<std::size_t>(made, CL_IMAGE_SLICE_PITCH),
              !kind.slices ? 0U : 52U * (has_height ? 7 : 1));
    EXPECT_EQ(info<cl_uint>(made, CL_IMAGE_NUM_MIP_LEVELS), 0U);
    EXPECT_EQ(info<cl_uint>(made, CL_IMAGE_NUM_SAMPLES), 0U);
    EXPECT_EQ(info<cl_mem>(made, CL_IMAGE_BUFFER) != nullptr,
              kind.type == CL_MEM_OBJECT_IMAGE1D_BUFFER);
    const auto format = info<cl_image_format>(made, CL_IMAGE_FORMAT);
    EXPECT_EQ(format.image_channel_order, kBytes4.image_channel_order);
    EXPECT_EQ(format.image_channel_data_type, kBytes4.image_channel_data_type);
    cl_mem_object_type type = 0;
    EXPECT_EQ(cl.clGetMemObjectInfo(made, CL_MEM_TYPE, sizeof type, &type, nullptr), CL_SUCCESS);
    EXPECT_EQ(type, kind.type);
    std::size_t size = 0;
    EXPECT_EQ(cl.clGetMemObjectInfo(made, CL_MEM_SIZE, sizeof size, &size, nullptr), CL_SUCCESS);
    EXPECT_GE(size, 4 * volume(kind.sides));
    release(made);
  }
}

TEST_F(ImageTest, GivesAllMemoryBack) {
  const auto before = fake::state().live_allocations;
  for (const Kind& kind : kKinds) {
    cl_mem made = image(kind);
    EXPECT_GT(fake::state().live_allocations, before) << kind.name;
    release(made);
    EXPECT_EQ(fake::state().live_allocations, before) << kind.name;
    EXPECT_EQ(cl.clReleaseMemObject(made), CL_INVALID_MEM_OBJECT);
  }
}

TEST_F(ImageTest, WhatIsWrittenCanBeReadInPartsAndWithPitches) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    cl_mem made = image(kind);
    Picture want{kind.sides, 4};
    write(made, {}, kind.sides, want.bytes);
    EXPECT_EQ(read(made, {}, kind.sides), want.bytes);
    const auto [origin, region] = inner_part(kind.sides);
    EXPECT_EQ(read(made, origin, region), want.part(origin, region));

    const Bytes fresh = counting(4 * volume(region), 99);
    write(made, origin, region, fresh);
    want.put(origin, region, fresh);
    EXPECT_EQ(read(made, {}, kind.sides), want.bytes);

    // The application's rows are 100 bytes apart, its slices or layers 1,000.
    const std::size_t slice = kind.slices ? 1000 : 0;
    Bytes loose(4000, 0xee);
    ASSERT_EQ(cl.clEnqueueReadImage(queue, made, CL_TRUE, origin.data(), region.data(), 100, slice,
                                    loose.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    const Bytes part = want.part(origin, region);
    const bool layered_1d = kind.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    Bytes expected(4000, 0xee);
    for (std::size_t z = 0; z < region[2]; ++z) {
      for (std::size_t y = 0; y < region[1]; ++y) {
        std::copy_n(part.begin() + static_cast<std::ptrdiff_t>((z * region[1] + y) * region[0] * 4),
                    region[0] * 4,
                    expected.begin() +
                        static_cast<std::ptrdiff_t>(layered_1d ? y * 1000 : z * 1000 + y * 100));
      }
    }
    EXPECT_EQ(loose, expected);
    const Bytes none(4 * volume(kind.sides), 0);
    write(made, {}, kind.sides, none);
    ASSERT_EQ(cl.clEnqueueWriteImage(queue, made, CL_TRUE, origin.data(), region.data(), 100, slice,
                                     loose.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(read(made, origin, region), part);
    release(made);
  }
}

TEST_F(ImageTest, TakesTheHostsMemoryWithItsPitches) {
  for (const Kind& kind : kKinds) {
    if (kind.type == CL_MEM_OBJECT_IMAGE1D_BUFFER) continue;
    SCOPED_TRACE(kind.name);
    const bool layered_1d = kind.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const std::size_t row = 64;
    const std::size_t slice = kind.slices ? 512 : 0;
    Bytes host = counting(2560);
    cl_mem made =
        image(kind, kBytes4, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, host.data(), row, slice);
    EXPECT_EQ(info<std::size_t>(made, CL_IMAGE_ROW_PITCH), row);
    EXPECT_EQ(info<std::size_t>(made, CL_IMAGE_SLICE_PITCH), slice);
    const Bytes all = read(made, {}, kind.sides);
    for (std::size_t z = 0; z < kind.sides[2]; ++z) {
      for (std::size_t y = 0; y < kind.sides[1]; ++y) {
        const std::size_t from = layered_1d ? y * slice : z * slice + y * row;
        const std::size_t at = (z * kind.sides[1] + y) * 52;
        EXPECT_EQ(std::memcmp(all.data() + at, host.data() + from, 52), 0) << z << ' ' << y;
      }
    }
    release(made);
  }
}

TEST_F(ImageTest, MapsShowAndTakeWhatTheyCover) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    cl_mem made = image(kind);
    Picture want{kind.sides, 4};
    write(made, {}, kind.sides, want.bytes);
    const auto [origin, region] = inner_part(kind.sides);
    std::size_t row = 1;
    std::size_t slice = 1;
    cl_int code = -1;
    auto* view = static_cast<unsigned char*>(
        cl.clEnqueueMapImage(queue, made, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, origin.data(),
                             region.data(), &row, &slice, 0, nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    EXPECT_EQ(slice != 0, kind.slices);
    const std::size_t rows = kind.type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? slice : row;
    const Bytes part = want.part(origin, region);
    Bytes fresh = counting(part.size(), 7);
    for (std::size_t z = 0; z < region[2]; ++z) {
      for (std::size_t y = 0; y < region[1]; ++y) {
        auto* place = view + z * slice + y * rows;
        const std::size_t at = (z * region[1] + y) * region[0] * 4;
        EXPECT_EQ(std::memcmp(place, part.data() + at, region[0] * 4), 0);
        std::memcpy(place, fresh.data() + at, region[0] * 4);
      }
    }
    cl_uint maps = 0;
    EXPECT_EQ(cl.clGetMemObjectInfo(made, CL_MEM_MAP_COUNT, sizeof maps, &maps, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(maps, 1U);
    ASSERT_EQ(cl.clEnqueueUnmapMemObject(queue, made, view, 0, nullptr, nullptr), CL_SUCCESS);
    want.put(origin, region, fresh);
    EXPECT_EQ(read(made, {}, kind.sides), want.bytes);
    release(made);
  }
}

TEST_F(ImageTest, LentMemoryIsMappedWhereItLies) {
  for (const Kind& kind : kKinds) {
    if (kind.type == CL_MEM_OBJECT_IMAGE1D_BUFFER) continue;
    SCOPED_TRACE(kind.name);
    const bool layered_1d = kind.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const std::size_t slice = kind.slices ? 512 : 0;
    Bytes host(2560, 3);
    cl_mem made =
        image(kind, kBytes4, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, host.data(), 64, slice);
    void* given = nullptr;
    EXPECT_EQ(cl.clGetMemObjectInfo(made, CL_MEM_HOST_PTR, sizeof given, &given, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(given, host.data());
    Picture want{kind.sides, 4};
    write(made, {}, kind.sides, want.bytes);
    const auto [origin, region] = inner_part(kind.sides);
    std::size_t row = 1;
    std::size_t got_slice = 1;
    cl_int code = -1;
    auto* view = static_cast<unsigned char*>(
        cl.clEnqueueMapImage(queue, made, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, origin.data(),
                             region.data(), &row, &got_slice, 0, nullptr, nullptr, &code));
    ASSERT_EQ(code, CL_SUCCESS);
    EXPECT_EQ(row, 64U);
    EXPECT_EQ(got_slice, slice);
    const std::size_t rows = layered_1d ? slice : 64;
    EXPECT_EQ(view, host.data() + origin[2] * slice + origin[1] * rows + origin[0] * 4);
    const Bytes part = want.part(origin, region);
    EXPECT_EQ(std::memcmp(view, part.data(), region[0] * 4), 0);
    // Bytes between the rows stay the application's.
    EXPECT_EQ(host[63], 3);
    view[0] = static_cast<unsigned char>(view[0] + 1);
    ASSERT_EQ(cl.clEnqueueUnmapMemObject(queue, made, view, 0, nullptr, nullptr), CL_SUCCESS);
    EXPECT_EQ(read(made, origin, {1, 1, 1})[0], static_cast<unsigned char>(part[0] + 1));
    release(made);
  }
}

TEST_F(ImageTest, CopiesGoBetweenAllKinds) {
  for (const Kind& from : kKinds) {
    for (const Kind& to : kKinds) {
      SCOPED_TRACE(std::string(from.name) + " to " + to.name);
      cl_mem source = image(from);
      cl_mem target = image(to);
      const Picture picture{from.sides, 4};
      Picture want{to.sides, 4};
      std::reverse(want.bytes.begin(), want.bytes.end());
      write(source, {}, from.sides, picture.bytes);
      write(target, {}, to.sides, want.bytes);
      // What both have room for, from one corner to the other.
      Sides region{};
      Sides origin{};
      for (std::size_t i = 0; i < 3; ++i) {
        region[i] = std::max<std::size_t>(1, std::min(from.sides[i], to.sides[i]) - 1);
        if (std::min(from.sides[i], to.sides[i]) == 1) region[i] = 1;
        origin[i] = to.sides[i] - region[i];
      }
      const Sides zero{};
      ASSERT_EQ(cl.clEnqueueCopyImage(queue, source, target, zero.data(), origin.data(),
                                      region.data(), 0, nullptr, nullptr),
                CL_SUCCESS);
      want.put(origin, region, picture.part(zero, region));
      EXPECT_EQ(read(target, {}, to.sides), want.bytes);
      release(source);
      release(target);
    }
  }
}

TEST_F(ImageTest, CopyWithinAnImageMayNotOverlap) {
  const Kind& kind = kKinds[3];
  cl_mem made = image(kind);
  Picture want{kind.sides, 4};
  write(made, {}, kind.sides, want.bytes);
  const auto copy = [&](Sides from, Sides to, Sides region) {
    return cl.clEnqueueCopyImage(queue, made, made, from.data(), to.data(), region.data(), 0,
                                 nullptr, nullptr);
  };
  EXPECT_EQ(copy({0, 0, 0}, {5, 3, 0}, {6, 4, 1}), CL_MEM_COPY_OVERLAP);
  EXPECT_EQ(copy({5, 3, 0}, {0, 0, 0}, {6, 4, 1}), CL_MEM_COPY_OVERLAP);
  EXPECT_EQ(copy({2, 2, 0}, {2, 2, 0}, {1, 1, 1}), CL_MEM_COPY_OVERLAP);
  // Side by side, though their addresses interleave.
  EXPECT_EQ(copy({0, 0, 0}, {6, 0, 0}, {6, 7, 1}), CL_SUCCESS);
  want.put({6, 0, 0}, {6, 7, 1}, want.part({0, 0, 0}, {6, 7, 1}));
  EXPECT_EQ(read(made, {}, kind.sides), want.bytes);
  release(made);
}

TEST_F(ImageTest, BuffersHoldElementsWithoutGaps) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    cl_mem made = image(kind);
    cl_mem linear = buffer(2048);
    Picture want{kind.sides, 4};
    write(made, {}, kind.sides, want.bytes);
    const auto [origin, region] = inner_part(kind.sides);
    const std::size_t bytes = 4 * volume(region);
    ASSERT_EQ(cl.clEnqueueCopyImageToBuffer(queue, made, linear, origin.data(), region.data(), 20,
                                            0, nullptr, nullptr),
              CL_SUCCESS);
    Bytes back(bytes);
    ASSERT_EQ(
        cl.clEnqueueReadBuffer(queue, linear, CL_TRUE, 20, bytes, back.data(), 0, nullptr, nullptr),
        CL_SUCCESS);
    EXPECT_EQ(back, want.part(origin, region));
    const Bytes fresh = counting(bytes, 5);
    ASSERT_EQ(cl.clEnqueueWriteBuffer(queue, linear, CL_TRUE, 36, bytes, fresh.data(), 0, nullptr,
                                      nullptr),
              CL_SUCCESS);
    ASSERT_EQ(cl.clEnqueueCopyBufferToImage(queue, linear, made, 36, origin.data(), region.data(),
                                            0, nullptr, nullptr),
              CL_SUCCESS);
    want.put(origin, region, fresh);
    EXPECT_EQ(read(made, {}, kind.sides), want.bytes);
    release(linear);
    release(made);
  }
}

TEST_F(ImageTest, ImageInABufferIsTheBuffersMemory) {
  Bytes bytes = counting(256);
  cl_mem memory = buffer(256, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes.data());
  const cl_buffer_region region{128, 64};
  cl_int code = -1;
  cl_mem window =
      cl.clCreateSubBuffer(memory, CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  cl_image_desc wanted{};
  wanted.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
  wanted.image_width = 16;
  wanted.buffer = window;
  cl_mem made = cl.clCreateImage(context, 0, &kBytes4, &wanted, nullptr, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  cl_mem_flags flags = 0;
  EXPECT_EQ(cl.clGetMemObjectInfo(made, CL_MEM_FLAGS, sizeof flags, &flags, nullptr), CL_SUCCESS);
  EXPECT_EQ(flags, cl_mem_flags{CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR});
  EXPECT_EQ(read(made, {3, 0, 0}, {2, 1, 1}), Bytes(bytes.begin() + 140, bytes.begin() + 148));
  write(made, {0, 0, 0}, {1, 1, 1}, {9, 8, 7, 6});
  EXPECT_EQ(cl.clReleaseMemObject(window), CL_SUCCESS);
  Bytes back(4);
  ASSERT_EQ(
      cl.clEnqueueReadBuffer(queue, memory, CL_TRUE, 128, 4, back.data(), 0, nullptr, nullptr),
      CL_SUCCESS);
  EXPECT_THAT(back, ElementsAre(9, 8, 7, 6));
  release(memory);
  EXPECT_EQ(read(made, {0, 0, 0}, {1, 1, 1}), back);
  release(made);
}

TEST_F(ImageTest, MapsForWritingMayLieSideBySide) {
  const Kind& kind = kKinds[3];
  cl_mem made = image(kind);
  std::size_t row = 0;
  cl_int code = -1;
  const auto map = [&](Sides origin, Sides region) {
    void* view = cl.clEnqueueMapImage(queue, made, CL_TRUE, CL_MAP_WRITE, origin.data(),
                                      region.data(), &row, nullptr, 0, nullptr, nullptr, &code);
    return view;
  };
  void* left = map({0, 0, 0}, {6, 7, 1});
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(map({5, 6, 0}, {8, 1, 1}), nullptr);
  EXPECT_EQ(code, CL_INVALID_OPERATION);
  void* right = map({6, 0, 0}, {7, 7, 1});
  ASSERT_EQ(code, CL_SUCCESS);
  for (void* view : {left, right}) {
    EXPECT_EQ(cl.clEnqueueUnmapMemObject(queue, made, view, 0, nullptr, nullptr), CL_SUCCESS);
  }
  release(made);
}

TEST_F(ImageTest, TheStandardsFormatsAreThereForEveryKind) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    cl_uint count = 0;
    ASSERT_EQ(
        cl.clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, kind.type, 0, nullptr, &count),
        CL_SUCCESS);
    std::vector<cl_image_format> formats(count);
    ASSERT_EQ(cl.clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, kind.type, count,
                                            formats.data(), nullptr),
              CL_SUCCESS);
    const auto has = [&](cl_channel_order order, cl_channel_type type) {
      return std::any_of(formats.begin(), formats.end(), [&](const cl_image_format& format) {
        return format.image_channel_order == order && format.image_channel_data_type == type;
      });
    };
    // OpenCL 1.2, table 5.8.
    for (const int type :
         {CL_UNORM_INT8, CL_UNORM_INT16, CL_SIGNED_INT8, CL_SIGNED_INT16, CL_SIGNED_INT32,
          CL_UNSIGNED_INT8, CL_UNSIGNED_INT16, CL_UNSIGNED_INT32, CL_HALF_FLOAT, CL_FLOAT}) {
      EXPECT_TRUE(has(CL_RGBA, static_cast<cl_channel_type>(type))) << std::hex << type;
    }
    EXPECT_TRUE(has(CL_BGRA, CL_UNORM_INT8));
    for (const cl_image_format& format : formats) release(image(kind, format));
    cl_image_format first{};
    EXPECT_EQ(
        cl.clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, kind.type, 1, &first, nullptr),
        CL_SUCCESS);
    EXPECT_EQ(first.image_channel_order, formats[0].image_channel_order);
  }
}

// --- fills: what a colour becomes, by arithmetic of the test's own -----------------------------

// Nearest even, as the conversion functions _sat_rte do.
double to_steps(double value, double most, double least) {
  return std::isnan(value) ? 0 : std::nearbyint(std::clamp(value * most, least, most));
}

double half_value(unsigned bits) {
  const unsigned exponent = bits >> 10 & 31;
  const double mantissa = bits & 1023;
  const double size = exponent == 31 ? (mantissa == 0 ? INFINITY : NAN)
                      : exponent == 0
                          ? std::ldexp(mantissa, -24)
                          : std::ldexp(1024 + mantissa, static_cast<int>(exponent) - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

// The half that is nearest, even where two are: found by trying all.
unsigned nearest_half(float value) {
  if (std::isnan(value)) return 0x7e00;
  unsigned best = 0;
  for (unsigned bits = 0; bits <= 0x7c00; ++bits) {
    // Infinity takes the place of 65536 in rounding.
    const auto at = [](unsigned h) { return h == 0x7c00 ? 65536.0 : half_value(h); };
    const double size = std::min(65536.0, static_cast<double>(std::fabs(value)));
    const double distance = std::fabs(at(bits) - size);
    const double so_far = std::fabs(at(best) - size);
    if (distance < so_far || (distance == so_far && bits % 2 == 0)) best = bits;
  }
  return best | (std::signbit(value) ? 0x8000U : 0U);
}

struct Colour {
  float real[4];
  cl_int whole[4];
};

const std::vector<unsigned>& components(cl_channel_order order) {
  static const std::map<cl_channel_order, std::vector<unsigned>> all{{CL_R, {0}},
                                                                     {CL_A, {3}},
                                                                     {CL_INTENSITY, {0}},
                                                                     {CL_LUMINANCE, {0}},
                                                                     {CL_RG, {0, 1}},
                                                                     {CL_RA, {0, 3}},
                                                                     {CL_RGB, {0, 1, 2}},
                                                                     {CL_RGBA, {0, 1, 2, 3}},
                                                                     {CL_BGRA, {2, 1, 0, 3}},
                                                                     {CL_ARGB, {3, 0, 1, 2}}};
  return all.at(order);
}

Bytes element(const cl_image_format& format, const Colour& colour) {
  Bytes bytes;
  const auto put = [&](auto value) {
    unsigned char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    bytes.insert(bytes.end(), raw, raw + sizeof value);
  };
  const auto steps = [&](unsigned c, double most, double least) {
    return static_cast<std::int64_t>(to_steps(colour.real[c], most, least));
  };
  const cl_channel_type type = format.image_channel_data_type;
  switch (type) {
    case CL_UNORM_SHORT_565:
      put(static_cast<cl_ushort>(steps(0, 31, 0) << 11 | steps(1, 63, 0) << 5 | steps(2, 31, 0)));
      return bytes;
    case CL_UNORM_SHORT_555:
      put(static_cast<cl_ushort>(steps(0, 31, 0) << 10 | steps(1, 31, 0) << 5 | steps(2, 31, 0)));
      return bytes;
    case CL_UNORM_INT_101010:
      put(static_cast<cl_uint>(steps(0, 1023, 0) << 20 | steps(1, 1023, 0) << 10 |
                               steps(2, 1023, 0)));
      return bytes;
    default: break;
  }
  for (const unsigned c : components(format.image_channel_order)) {
    const std::int64_t whole = colour.whole[c];
    const std::int64_t natural = static_cast<cl_uint>(colour.whole[c]);
    const auto within = [](std::int64_t value, std::int64_t least, std::int64_t most) {
      return std::clamp(value, least, most);
    };
    switch (type) {
      case CL_UNORM_INT8: put(static_cast<cl_uchar>(steps(c, 255, 0))); break;
      case CL_UNORM_INT16: put(static_cast<cl_ushort>(steps(c, 65535, 0))); break;
      case CL_SNORM_INT8: put(static_cast<cl_char>(steps(c, 127, -127))); break;
      case CL_SNORM_INT16: put(static_cast<cl_short>(steps(c, 32767, -32767))); break;
      case CL_SIGNED_INT8: put(static_cast<cl_char>(within(whole, -128, 127))); break;
      case CL_SIGNED_INT16: put(static_cast<cl_short>(within(whole, -32768, 32767))); break;
      case CL_SIGNED_INT32: put(colour.whole[c]); break;
      case CL_UNSIGNED_INT8: put(static_cast<cl_uchar>(within(natural, 0, 255))); break;
      case CL_UNSIGNED_INT16: put(static_cast<cl_ushort>(within(natural, 0, 65535))); break;
      case CL_UNSIGNED_INT32: put(colour.whole[c]); break;
      case CL_HALF_FLOAT: put(static_cast<cl_half>(nearest_half(colour.real[c]))); break;
      default: put(colour.real[c]);
    }
  }
  return bytes;
}

bool takes_integers(cl_channel_type type) {
  return type >= CL_SIGNED_INT8 && type <= CL_UNSIGNED_INT32;
}

TEST_F(ImageTest, FillsBecomeElementsOfEveryFormat) {
  const Colour colours[] = {
      {{0, 0.25F, 0.5F, 1}, {0, 1, 127, 255}},
      {{0.1F, 0.7F, 0.00196F, 0.99999F}, {-1, 128, -129, 256}},
      {{-0.3F, 1.5F, -2, 70000}, {INT32_MAX, INT32_MIN, 65536, -32769}},
      {{0.501961F, 1.0F / 3, 6e-5F, 65519}, {3, 200, 40000, 32768}},
  };
  const Kind& kind = kKinds[3];
  cl_uint count = 0;
  ASSERT_EQ(
      cl.clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, kind.type, 0, nullptr, &count),
      CL_SUCCESS);
  std::vector<cl_image_format> formats(count);
  ASSERT_EQ(cl.clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, kind.type, count,
                                          formats.data(), nullptr),
            CL_SUCCESS);
  for (const cl_image_format& format : formats) {
    cl_mem made = image(kind, format);
    for (const Colour& colour : colours) {
      SCOPED_TRACE(::testing::Message() << std::hex << format.image_channel_order << ' '
                                        << format.image_channel_data_type << ' ' << colour.real[0]);
      const Bytes one = element(format, colour);
      ASSERT_EQ(info<std::size_t>(made, CL_IMAGE_ELEMENT_SIZE), one.size());
      Picture want{kind.sides, one.size()};
      write(made, {}, kind.sides, want.bytes);
      const auto [origin, region] = inner_part(kind.sides);
      const bool integers = takes_integers(format.image_channel_data_type);
      ASSERT_EQ(cl.clEnqueueFillImage(queue, made,
                                      integers ? static_cast<const void*>(colour.whole)
                                               : static_cast<const void*>(colour.real),
                                      origin.data(), region.data(), 0, nullptr, nullptr),
                CL_SUCCESS);
      Bytes many;
      for (std::size_t i = 0; i < volume(region); ++i) {
        many.insert(many.end(), one.begin(), one.end());
      }
      want.put(origin, region, many);
      EXPECT_EQ(read(made, {}, kind.sides, one.size()), want.bytes);
    }
    release(made);
  }
}

// --- samplers, kernels, events ------------------------------------------------------------------

using SamplerTest = ImageTest;

TEST_F(SamplerTest, TellsWhatItIsAndIsGivenBack) {
  const auto before = fake::state().live_allocations;
  cl_int code = -1;
  cl_sampler made =
      cl.clCreateSampler(context, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  const auto ask = [&](cl_sampler_info name) {
    cl_uint value = 0;
    EXPECT_EQ(cl.clGetSamplerInfo(made, name, sizeof value, &value, nullptr), CL_SUCCESS);
    return value;
  };
  EXPECT_EQ(ask(CL_SAMPLER_NORMALIZED_COORDS), static_cast<cl_uint>(CL_TRUE));
  EXPECT_EQ(ask(CL_SAMPLER_ADDRESSING_MODE), static_cast<cl_uint>(CL_ADDRESS_REPEAT));
  EXPECT_EQ(ask(CL_SAMPLER_FILTER_MODE), static_cast<cl_uint>(CL_FILTER_LINEAR));
  EXPECT_EQ(ask(CL_SAMPLER_REFERENCE_COUNT), 1U);
  EXPECT_EQ(cl.clRetainSampler(made), CL_SUCCESS);
  EXPECT_EQ(ask(CL_SAMPLER_REFERENCE_COUNT), 2U);
  cl_context in{};
  EXPECT_EQ(cl.clGetSamplerInfo(made, CL_SAMPLER_CONTEXT, sizeof in, &in, nullptr), CL_SUCCESS);
  EXPECT_EQ(in, context);
  EXPECT_EQ(cl.clReleaseSampler(made), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseSampler(made), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseSampler(made), CL_INVALID_SAMPLER);
  EXPECT_EQ(fake::state().live_allocations, before);
}

TEST_F(SamplerTest, KernelsGetTheAddressesOfDescriptors) {
  cl_program program = build(
      "kernel void k(read_only image2d_t i, sampler_t s, write_only image3d_t o, int n) {\n"
      "  write_imagef(o, (int4)(0, 0, n, 0), read_imagef(i, s, (float2)(0.5f, 0.5f)));\n}\n");
  cl_int code = -1;
  cl_kernel kernel = cl.clCreateKernel(program, "k", &code);
  ASSERT_EQ(code, CL_SUCCESS);
  cl_kernel_arg_access_qualifier access[4]{};
  for (cl_uint i = 0; i < 4; ++i) {
    EXPECT_EQ(cl.clGetKernelArgInfo(kernel, i, CL_KERNEL_ARG_ACCESS_QUALIFIER, sizeof access[i],
                                    &access[i], nullptr),
              CL_SUCCESS);
  }
  EXPECT_THAT(access, ElementsAre(CL_KERNEL_ARG_ACCESS_READ_ONLY, CL_KERNEL_ARG_ACCESS_NONE,
                                  CL_KERNEL_ARG_ACCESS_WRITE_ONLY, CL_KERNEL_ARG_ACCESS_NONE));
  char type[32] = "";
  EXPECT_EQ(cl.clGetKernelArgInfo(kernel, 2, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, nullptr),
            CL_SUCCESS);
  EXPECT_STREQ(type, "image3d_t");

  cl_mem flat = image(kKinds[3], {CL_RGBA, CL_UNORM_INT8});
  cl_mem deep = image(kKinds[5], {CL_RGBA, CL_UNORM_INT8});
  cl_sampler sampler =
      cl.clCreateSampler(context, CL_TRUE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR, &code);
  const cl_int n = 2;
  EXPECT_EQ(cl.clSetKernelArg(kernel, 0, sizeof flat, &flat), CL_SUCCESS);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 1, sizeof sampler, &sampler), CL_SUCCESS);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 2, sizeof deep, &deep), CL_SUCCESS);
  EXPECT_EQ(cl.clSetKernelArg(kernel, 3, sizeof n, &n), CL_SUCCESS);

  // Launched once the gate opens; image and sampler live on until then.
  cl_event gate = cl.clCreateUserEvent(context, &code);
  const std::size_t one = 1;
  EXPECT_EQ(cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, 1, &gate, nullptr),
            CL_SUCCESS);
  release(flat);
  release(deep);
  EXPECT_EQ(cl.clReleaseSampler(sampler), CL_SUCCESS);
  std::uint64_t sampler_word = 0;
  fake::state().on_launch = [&](gpu::VirtualGpu& gpu, const fake::Launch& launch) -> Status {
    std::uint64_t addresses[3];
    std::memcpy(addresses, launch.kernarg.data(), sizeof addresses);
    for (const std::uint64_t address : addresses) {
      std::uint32_t words[4]{};
      WW_TRY(gpu.read(address, std::as_writable_bytes(std::span(words))));
      EXPECT_THAT(words, ::testing::Contains(::testing::Ne(0U)));
    }
    sampler_word = addresses[1];
    return {};
  };
  EXPECT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_NE(sampler_word, 0U);
  EXPECT_EQ(cl.clReleaseEvent(gate), CL_SUCCESS);
  // All that the launch kept is gone with it.
  EXPECT_EQ(cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr),
            CL_INVALID_KERNEL_ARGS);
  EXPECT_EQ(cl.clReleaseKernel(kernel), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseProgram(program), CL_SUCCESS);
}

TEST_F(ImageTest, CommandsHaveTypesAndTimes) {
  const Kind& kind = kKinds[3];
  cl_mem made = image(kind);
  cl_mem other = image(kind);
  cl_mem linear = buffer(1024);
  const Sides origin{};
  Bytes bytes = counting(4 * volume(kind.sides));
  const float colour[4] = {};
  std::size_t pitch = 0;
  cl_event events[8]{};
  cl_int code = -1;
  const auto* o = origin.data();
  const auto* r = kind.sides.data();
  EXPECT_EQ(cl.clEnqueueWriteImage(queue, made, CL_FALSE, o, r, 0, 0, bytes.data(), 0, nullptr,
                                   &events[0]),
            CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueReadImage(queue, made, CL_FALSE, o, r, 0, 0, bytes.data(), 0, nullptr,
                                  &events[1]),
            CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueCopyImage(queue, made, other, o, o, r, 0, nullptr, &events[2]), CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueCopyImageToBuffer(queue, made, linear, o, r, 0, 0, nullptr, &events[3]),
            CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueCopyBufferToImage(queue, linear, made, 0, o, r, 0, nullptr, &events[4]),
            CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueFillImage(queue, made, colour, o, r, 0, nullptr, &events[5]), CL_SUCCESS);
  void* view = cl.clEnqueueMapImage(queue, made, CL_TRUE, CL_MAP_READ, o, r, &pitch, nullptr, 0,
                                    nullptr, &events[6], &code);
  EXPECT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueUnmapMemObject(queue, made, view, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(cl.clEnqueueMigrateMemObjects(queue, 1, &made, 0, 0, nullptr, &events[7]), CL_SUCCESS);
  const cl_command_type types[] = {CL_COMMAND_WRITE_IMAGE,
                                   CL_COMMAND_READ_IMAGE,
                                   CL_COMMAND_COPY_IMAGE,
                                   CL_COMMAND_COPY_IMAGE_TO_BUFFER,
                                   CL_COMMAND_COPY_BUFFER_TO_IMAGE,
                                   CL_COMMAND_FILL_IMAGE,
                                   CL_COMMAND_MAP_IMAGE,
                                   CL_COMMAND_MIGRATE_MEM_OBJECTS};
  for (std::size_t i = 0; i < 8; ++i) {
    cl_command_type type = 0;
    EXPECT_EQ(cl.clGetEventInfo(events[i], CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(type, types[i]);
    cl_ulong start = 0;
    cl_ulong end = 0;
    EXPECT_EQ(cl.clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_START, sizeof start,
                                         &start, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(
        cl.clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr),
        CL_SUCCESS);
    EXPECT_EQ(end > start, types[i] != CL_COMMAND_MIGRATE_MEM_OBJECTS) << i;
    EXPECT_EQ(cl.clReleaseEvent(events[i]), CL_SUCCESS);
  }
  release(linear);
  release(other);
  release(made);
}

TEST_F(ImageTest, WaitingCommandsRunInTheirOrder) {
  const Kind& kind = kKinds[4];
  cl_mem made = image(kind);
  const Picture picture{kind.sides, 4};
  Bytes first(picture.bytes.size(), 0xaa);
  write(made, {}, kind.sides, first);
  cl_int code = -1;
  cl_event gate = cl.clCreateUserEvent(context, &code);
  const Sides zero{};
  EXPECT_EQ(cl.clEnqueueWriteImage(queue, made, CL_FALSE, zero.data(), kind.sides.data(), 0, 0,
                                   picture.bytes.data(), 1, &gate, nullptr),
            CL_SUCCESS);
  Bytes back(picture.bytes.size());
  EXPECT_EQ(cl.clEnqueueReadImage(queue, made, CL_FALSE, zero.data(), kind.sides.data(), 0, 0,
                                  back.data(), 0, nullptr, nullptr),
            CL_SUCCESS);
  // The queue keeps the image.
  release(made);
  EXPECT_THAT(back, Each(0));
  EXPECT_EQ(cl.clSetUserEventStatus(gate, CL_COMPLETE), CL_SUCCESS);
  EXPECT_EQ(back, picture.bytes);
  EXPECT_EQ(cl.clReleaseEvent(gate), CL_SUCCESS);
}

TEST_F(ImageTest, TheOldCallsMakeTheSameImages) {
  Bytes host = counting(4096);
  cl_int code = -1;
  cl_mem flat = cl.clCreateImage2D(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &kBytes4, 5, 3,
                                   40, host.data(), &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(read(flat, {1, 2, 0}, {1, 1, 1}), Bytes(host.begin() + 84, host.begin() + 88));
  cl_mem deep = cl.clCreateImage3D(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &kBytes4, 5, 3,
                                   2, 40, 160, host.data(), &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(read(deep, {1, 2, 1}, {1, 1, 1}), Bytes(host.begin() + 244, host.begin() + 248));
  release(flat);
  release(deep);
}

}  // namespace
}  // namespace ww::sim::icd
