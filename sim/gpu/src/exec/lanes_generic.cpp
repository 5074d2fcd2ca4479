// Vector semantics for any x86-64 (or other) host.
#define WW_PACK(word) pack_mask(word)
#define WW_EXPAND(target, mask)                                       \
  do {                                                                \
    for (int i_ = 0; i_ < kLanes; ++i_) {                             \
      target[i_] = ((mask) >> i_ & 1U) != 0 ? ~std::uint32_t{0} : 0U; \
    }                                                                 \
  } while (false)

#include "exec/valu.inl"

namespace ww::sim::gpu::exec {
void build_lanes_generic(LaneTable& table) {
  build(table);
}
}  // namespace ww::sim::gpu::exec
