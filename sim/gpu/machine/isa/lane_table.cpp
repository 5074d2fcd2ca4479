#include "machine/isa/lane_table.hpp"

#include <array>
#include <cstring>
#include <memory>

#include "ww/core/vector_limit.hpp"

namespace ww::sim::gpu::exec {

void build_lanes_generic(LaneTable& table);
void build_lanes_avx2(LaneTable& table);
void build_lanes_avx512(LaneTable& table);

namespace {

struct Tables {
  std::array<std::unique_ptr<LaneTable>, 3> table;  // widest first

  Tables() {
#if defined(__x86_64__)
    const VectorLimit limit = vector_limit();
    const bool avx2 = limit >= VectorLimit::avx2 && __builtin_cpu_supports("avx2") &&
                      __builtin_cpu_supports("fma");
    const bool avx512 = avx2 && limit == VectorLimit::avx512 && __builtin_cpu_supports("avx512f") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512vl");
    if (avx512) make(0, "avx512", build_lanes_avx512);
    if (avx2) make(1, "avx2", build_lanes_avx2);
#endif
    make(2, "generic", build_lanes_generic);
  }
  void make(std::size_t place, const char* name, void (*build)(LaneTable&)) {
    table[place] = std::make_unique<LaneTable>();
    table[place]->name = name;
    build(*table[place]);
  }
};

const Tables& tables() {
  static const Tables& all = *new Tables;  // launches go on while the process ends
  return all;
}

}  // namespace

const LaneTable& best_lanes() {
  static const LaneTable& best = []() -> const LaneTable& {
    for (const auto& table : tables().table) {
      if (table) return *table;
    }
    return *tables().table.back();
  }();
  detail::lanes_once_made.store(&best, std::memory_order_release);
  return best;
}

const LaneTable* lanes_named(const char* name) {
  for (const auto& table : tables().table) {
    if (table && std::strcmp(table->name, name) == 0) return table.get();
  }
  return nullptr;
}

}  // namespace ww::sim::gpu::exec
