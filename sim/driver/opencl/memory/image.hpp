// Images: what their commands share.
#pragma once

#include <optional>

#include "opencl/object/objects.hpp"

namespace ww::sim::driver {

// The largest images [elements, layers]: what AMD's drivers say of these chips.
inline constexpr std::size_t kMaxImageSide = 16384;
inline constexpr std::size_t kMaxImageDepth = 2048;  // and the sides of 3D images
inline constexpr std::size_t kMaxImageLayers = 2048;
inline constexpr std::size_t kMaxImageBuffer = std::size_t{1} << 27;

// Kinds whose elements lie in slices or layers, so that a slice pitch means something.
[[nodiscard]] bool has_slices(cl_mem_object_type type);

// A part of an image, in bytes, rows and slices.
struct ImagePart {
  Region origin{};
  Region region{};
};

// Takes origin and region from a call; false where there is none, the region is empty or the part
// leaves the image.
[[nodiscard]] bool read_part(const ImageState& image, const std::size_t* origin,
                             const std::size_t* region, ImagePart& part);

// The pitches of the application's memory for a region [bytes, rows, slices] as rows and slices are
// counted here; 0 says that there are no gaps. Nothing where they are too small, or where there is
// a slice pitch without slices.
[[nodiscard]] std::optional<Pitches> counted_pitches(cl_mem_object_type type, const Region& region,
                                                     std::size_t row_pitch,
                                                     std::size_t slice_pitch);

// The pitches that a map of device memory shows the application.
[[nodiscard]] Pitches device_pitches(const ImageState& image);

}  // namespace ww::sim::driver
