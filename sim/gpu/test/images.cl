// Kernels on images, for the emulator's tests.

// Images. Channels are bits: what an image instruction gives depends on the image, not on the type
// that the source reads it as. Kinds that need four coordinates leave the last one out.
// LLVM 15 has no samples for gfx90a where it does not optimise.
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
#if !defined(__gfx90a__) || defined(__OPTIMIZE__)
#define WW_HAS_SAMPLES
#endif
#define WW_IMAGE(kind, ints, floats, part)                                                         \
  __kernel void load_##kind(read_only image##kind##_t image, __global const int4* at,              \
                            __global uint4* out) {                                                 \
    const int i = get_global_id(0);                                                                \
    out[i] = as_uint4(read_imagef(image, (ints)(at[i] part)));                                     \
  }                                                                                                \
  __kernel void store_##kind(write_only image##kind##_t image, __global const int4* at,            \
                             __global const float4* value) {                                       \
    const int i = get_global_id(0);                                                                \
    write_imagef(image, (ints)(at[i] part), value[i]);                                             \
  }                                                                                                \
  WW_SAMPLES(kind, ints, floats, part)
#ifdef WW_HAS_SAMPLES
#define WW_SAMPLES(kind, ints, floats, part)                                                       \
  __kernel void sample_##kind(read_only image##kind##_t image, sampler_t sampler,                  \
                              __global const float4* at, __global uint4* out) {                    \
    const int i = get_global_id(0);                                                                \
    out[i] = as_uint4(read_imagef(image, sampler, (floats)(at[i] part)));                          \
  }                                                                                                \
  __kernel void sample_whole_##kind(read_only image##kind##_t image, sampler_t sampler,            \
                                    __global const int4* at, __global uint4* out) {                \
    const int i = get_global_id(0);                                                                \
    out[i] = as_uint4(read_imagef(image, sampler, (ints)(at[i] part)));                            \
  }
#else
#define WW_SAMPLES(kind, ints, floats, part)
#endif
WW_IMAGE(1d, int, float, .x)
WW_IMAGE(1d_array, int2, float2, .xy)
WW_IMAGE(2d, int2, float2, .xy)
WW_IMAGE(2d_array, int4, float4, )
WW_IMAGE(3d, int4, float4, )
#undef WW_SAMPLES
#define WW_SAMPLES(kind, ints, floats, part)
WW_IMAGE(1d_buffer, int, float, .x)

#ifdef WW_HAS_SAMPLES
// Fewer channels than the image has, and 16 bits of each where the instruction set can.
__kernel void sample_part(read_only image2d_t image, sampler_t sampler, __global const float4* at,
                          __global float* out) {
  const int i = get_global_id(0);
  out[3 * i] = read_imagef(image, sampler, at[i].xy).y;
  out[3 * i + 1] = read_imagef(image, (int2)(i % 4, i / 4 % 4)).w;
  const float4 two = read_imagef(image, sampler, at[i].yx);
  out[3 * i + 2] = two.x + two.z;
}

__kernel void sample_often(read_only image2d_t image, sampler_t sampler, __global float4* out,
                           int count) {
  float4 sum = 0;
  for (int i = 0; i < count; ++i) sum += read_imagef(image, sampler, (float2)(i % 8, 1));
  out[get_global_id(0)] = sum;
}

#if defined(__gfx900__) || defined(__gfx90a__) || defined(__gfx1030__) || defined(__gfx1100__)
#define WW_HALVES
#endif
#ifdef WW_HALVES
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
__kernel void halves_2d(read_only image2d_t image, write_only image2d_t copy, sampler_t sampler,
                        __global const float4* at, __global half4* out, __global half* one) {
  const int i = get_global_id(0);
  out[i] = read_imageh(image, sampler, at[i].xy);
  one[i] = read_imageh(image, (int2)(i % 4, i / 4 % 4)).z;
  write_imageh(copy, (int2)(i % 8, i / 8), out[i]);
}
__kernel void halves_1d_buffer(read_only image1d_buffer_t image, write_only image1d_buffer_t copy,
                               __global half4* out) {
  const int i = get_global_id(0);
  out[i] = read_imageh(image, i);
  write_imageh(copy, i, out[i]);
}
#endif

#define WW_LITERAL(number, coordinates, address, filter)                                           \
  __constant sampler_t literal_##number = coordinates | address | filter;                          \
  __kernel void sample_literal_##number(read_only image2d_t image, __global const float4* at,      \
                                        __global uint4* out) {                                     \
    const int i = get_global_id(0);                                                                \
    out[i] = as_uint4(read_imagef(image, literal_##number, at[i].xy));                             \
  }
WW_LITERAL(0, CLK_NORMALIZED_COORDS_FALSE, CLK_ADDRESS_CLAMP, CLK_FILTER_NEAREST)
WW_LITERAL(1, CLK_NORMALIZED_COORDS_FALSE, CLK_ADDRESS_CLAMP_TO_EDGE, CLK_FILTER_LINEAR)
WW_LITERAL(2, CLK_NORMALIZED_COORDS_TRUE, CLK_ADDRESS_REPEAT, CLK_FILTER_NEAREST)
WW_LITERAL(3, CLK_NORMALIZED_COORDS_TRUE, CLK_ADDRESS_MIRRORED_REPEAT, CLK_FILTER_LINEAR)
#endif

// Coordinates that 16 bits hold: where it optimises, a compiler puts two of them in a register from
// gfx9 on. Those of a sample have to be constants.
#ifdef __OPTIMIZE__
#define WW_SHORT(kind, ints, part)                                                                 \
  __kernel void short_load_##kind(read_only image##kind##_t image, __global const ushort4* at,     \
                                  __global uint4* out) {                                           \
    const int i = get_global_id(0);                                                                \
    out[i] = as_uint4(read_imagef(image, convert_##ints(at[i] part)));                             \
  }                                                                                                \
  __kernel void short_store_##kind(write_only image##kind##_t image, __global const ushort4* at,   \
                                   __global const float4* value) {                                 \
    const int i = get_global_id(0);                                                                \
    write_imagef(image, convert_##ints(at[i] part), value[i]);                                     \
  }
WW_SHORT(1d, int, .x)
WW_SHORT(1d_array, int2, .xy)
WW_SHORT(2d, int2, .xy)
WW_SHORT(2d_array, int4, )
WW_SHORT(3d, int4, )
#define WW_SHORT_SAMPLES(kind, floats)                                                             \
  __kernel void short_sample_##kind(read_only image##kind##_t image, __global uint4* out) {        \
    out[0] = as_uint4(read_imagef(image, literal_1, (floats)(0.5f)));                              \
    out[1] = as_uint4(read_imagef(image, literal_1, (floats)(1.25f)));                             \
    out[2] = as_uint4(read_imagef(image, literal_1, (floats)(2.75f)));                             \
    out[3] = as_uint4(read_imagef(image, literal_1, (floats)(-300.0f)));                           \
  }
WW_SHORT_SAMPLES(1d, float)
WW_SHORT_SAMPLES(1d_array, float2)
WW_SHORT_SAMPLES(2d, float2)
WW_SHORT_SAMPLES(2d_array, float4)
WW_SHORT_SAMPLES(3d, float4)
#endif

#define WW_QUERY(kind, height, depth, layers)                                                      \
  __kernel void query_##kind(read_only image##kind##_t image, __global int* out) {                 \
    out[0] = get_image_width(image);                                                               \
    out[1] = height;                                                                               \
    out[2] = depth;                                                                                \
    out[3] = layers;                                                                               \
    out[4] = get_image_channel_order(image);                                                       \
    out[5] = get_image_channel_data_type(image);                                                   \
  }
WW_QUERY(1d, 1, 1, 1)
WW_QUERY(1d_array, 1, 1, (int)get_image_array_size(image))
WW_QUERY(1d_buffer, 1, 1, 1)
WW_QUERY(2d, get_image_height(image), 1, 1)
WW_QUERY(2d_array, get_image_height(image), 1, (int)get_image_array_size(image))
WW_QUERY(3d, get_image_height(image), get_image_depth(image), 1)
