#include "machine/dispatch/cu_mask.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ww::sim::gpu::exec {
namespace {

// The engines of a die as the driver visits them. RDNA: an engine is a shader array here, and those
// of a shader engine are neighbours; the driver visits the first array of each first.
std::vector<int> engines_in_turn(const Architecture& architecture) {
  std::vector<int> engines;
  const int arrays = architecture.arrays_per_engine();
  for (int array = 0; array < arrays; ++array) {
    for (int engine = array; engine < architecture.shader_engines; engine += arrays) {
      engines.push_back(engine);
    }
  }
  return engines;
}

}  // namespace

Result<std::vector<bool>> cus_of_mask(const Architecture& architecture, int device, int cus_in_use,
                                      std::span<const std::uint32_t> mask) {
  const int neighbours = architecture.arrays_per_engine() > 1 ? 2 : 1;
  const int dies = architecture.dies_per_device();
  const auto is_on = [mask](int bit) {
    const auto word = static_cast<std::size_t>(bit / 32);
    return word < mask.size() && (mask[word] >> (bit % 32) & 1U) != 0;
  };
  std::vector<bool> named(static_cast<std::size_t>(architecture.cu_places()));
  const std::vector<int> engines = engines_in_turn(architecture);
  for (int die = 0; die < dies; ++die) {
    bool any = false;
    int bit = die * neighbours;
    for (int cu = 0; cu < architecture.cus_per_engine; cu += neighbours) {
      for (const int engine : engines) {
        const int number = (device * dies + die) * architecture.shader_engines + engine;
        const int working = architecture.cus_of_engine(number);
        if (cu >= working) continue;
        const bool on = is_on(bit) || (neighbours > 1 && is_on(bit + 1));
        bit += dies * neighbours;
        if (!on) continue;
        const int last =
            std::min({cu + neighbours, working, cus_in_use > 0 ? cus_in_use : working});
        for (int each = cu; each < last; ++each) {
          named[static_cast<std::size_t>(number * architecture.cus_per_engine + each)] = true;
          any = true;
        }
      }
    }
    if (!any) {
      return fail(ErrorCode::out_of_range,
                  fmt::format("the mask of compute units leaves none on die {}, where work-groups "
                              "go to all dies in turn",
                              die));
    }
  }
  return named;
}

}  // namespace ww::sim::gpu::exec
