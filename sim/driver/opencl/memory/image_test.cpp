#include "image_fixture.hpp"

#include <cstring>

namespace ww::sim::driver::image_test {
namespace {

using ::testing::ElementsAre;

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
    EXPECT_GE(size, 4 * volume_of(kind.sides));
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

    const Bytes fresh = counting(4 * volume_of(region), 99);
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
    const Bytes none(4 * volume_of(kind.sides), 0);
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
    const View view = map(made, origin, region);
    ASSERT_EQ(view.code, CL_SUCCESS);
    EXPECT_EQ(view.slice != 0, kind.slices);
    const std::size_t rows = kind.type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? view.slice : view.row;
    const Bytes part = want.part(origin, region);
    Bytes fresh = counting(part.size(), 7);
    for (std::size_t z = 0; z < region[2]; ++z) {
      for (std::size_t y = 0; y < region[1]; ++y) {
        auto* place = view.bytes + z * view.slice + y * rows;
        const std::size_t at = (z * region[1] + y) * region[0] * 4;
        EXPECT_EQ(std::memcmp(place, part.data() + at, region[0] * 4), 0);
        std::memcpy(place, fresh.data() + at, region[0] * 4);
      }
    }
    cl_uint maps = 0;
    EXPECT_EQ(cl.clGetMemObjectInfo(made, CL_MEM_MAP_COUNT, sizeof maps, &maps, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(maps, 1U);
    ASSERT_EQ(cl.clEnqueueUnmapMemObject(queue, made, view.bytes, 0, nullptr, nullptr), CL_SUCCESS);
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
    const View view = map(made, origin, region);
    ASSERT_EQ(view.code, CL_SUCCESS);
    EXPECT_EQ(view.row, 64U);
    EXPECT_EQ(view.slice, slice);
    const std::size_t rows = layered_1d ? slice : 64;
    EXPECT_EQ(view.bytes, host.data() + origin[2] * slice + origin[1] * rows + origin[0] * 4);
    const Bytes part = want.part(origin, region);
    EXPECT_EQ(std::memcmp(view.bytes, part.data(), region[0] * 4), 0);
    // Bytes between the rows stay the application's.
    EXPECT_EQ(host[63], 3);
    view.bytes[0] = static_cast<unsigned char>(view.bytes[0] + 1);
    ASSERT_EQ(cl.clEnqueueUnmapMemObject(queue, made, view.bytes, 0, nullptr, nullptr), CL_SUCCESS);
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
      // Copies what both have room for, from one corner to the other.
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
    const std::size_t bytes = 4 * volume_of(region);
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
    const auto formats = supported_formats(kind.type);
    ASSERT_FALSE(formats.empty());
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

TEST_F(ImageTest, FieldsOfOtherKindsMeanNothing) {
  cl_image_desc wanted{};
  wanted.image_type = CL_MEM_OBJECT_IMAGE2D;
  wanted.image_width = 5;
  wanted.image_height = 3;
  wanted.image_depth = 1 << 20;
  wanted.image_array_size = 1 << 20;
  wanted.image_slice_pitch = 3;
  cl_int code = -1;
  cl_mem made = cl.clCreateImage(context, 0, &kBytes4, &wanted, nullptr, &code);
  ASSERT_EQ(code, CL_SUCCESS);
  EXPECT_EQ(info<std::size_t>(made, CL_IMAGE_SLICE_PITCH), 0U);
  EXPECT_EQ(info<std::size_t>(made, CL_IMAGE_DEPTH), 0U);
  EXPECT_EQ(info<std::size_t>(made, CL_IMAGE_ARRAY_SIZE), 0U);
  release(made);
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
}  // namespace ww::sim::driver::image_test
