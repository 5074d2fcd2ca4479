#include "registry.hpp"

namespace ww::workloads {

// Each in the file of its name.
void run_dct(Session&);
void run_hist(Session&);
void run_convtex(Session&);
void run_dxtc(Session&);
void run_blackscholes(Session&);
void run_fwt(Session&);
void run_bp(Session&);
void run_bfs(Session&);
void run_gs(Session&);
void run_hs(Session&);
void run_hs3(Session&);
void run_hys(Session&);
void run_nn(Session&);
void run_pf(Session&);
void run_srad(Session&);
void run_sc(Session&);
void run_eigen(Session&);
void run_histo(Session&);
void run_montecarlo(Session&);
void run_nbody(Session&);
void run_scan(Session&);
void run_stencil(Session&);
void run_spmv(Session&);
void run_crc(Session&);
void run_kmeans(Session&);
void run_gem(Session&);
void run_comd(Session&);
void run_comd_lj(Session&);
void run_xsbench(Session&);
void run_graph500(Session&);
void run_swat(Session&);
void run_color(Session&);
void run_mandelbulb(Session&);
void run_minife(Session&);
void run_lulesh(Session&);
void run_smallpt(Session&);
void run_sdk_eigen(Session&);
void run_sdk_fwt(Session&);
void run_sdk_histo(Session&);
void run_sdk_montecarlo(Session&);
void run_sdk_nbody(Session&);
void run_sdk_scan(Session&);
void run_shoc_stencil(Session&);
void run_shoc_spmv(Session&);
void run_pannotia_color(Session&);

namespace {

Extents sizes(std::string_view of, std::size_t small, std::size_t medium, std::size_t paper,
              std::size_t suite) {
  return {of, {small, medium, paper, suite}};
}

}  // namespace

std::span<const Entry> registry() {
  static const Entry entries[] = {
      {{"dct", "dapper", "CUDA SDK", "streams tiles through LDS; no divergence"}, run_dct},
      {{"hist", "dapper", "CUDA SDK", "LDS atomics with contention, one merge; no divergence"},
       run_hist},
      {{"convtex", "dapper", "CUDA SDK", "17-fold reuse in L1, rows and columns; edge clamp"},
       run_convtex},
      {{"dxtc", "dapper", "CUDA SDK", "arithmetic on one line a wave; a tree of divergence"},
       run_dxtc},
      {{"blackscholes", "dapper", "CUDA SDK", "five coalesced streams; exp, log, sqrt"},
       run_blackscholes},
      {{"fwt", "dapper", "CUDA SDK", "power-of-two strides, in place; no divergence"}, run_fwt},
      {{"bp", "gpuopt", "Rodinia", "matrix stream, LDS reduction tree"}, run_bp},
      {{"bfs", "gpuopt", "Rodinia", "scattered reads and writes; strong divergence"}, run_bfs},
      {{"gs", "gpuopt", "Rodinia", "many short launches, columns at a stride; edge divergence"},
       run_gs},
      {{"hs", "gpuopt", "Rodinia", "2-D stencil, L1 reuse; edge divergence"}, run_hs},
      {{"hs3", "gpuopt", "Rodinia", "3-D stencil, layers kept in registers"}, run_hs3},
      {{"hys", "gpuopt", "Rodinia", "scattered writes, global atomics, bitonic sort in LDS"},
       run_hys},
      {{"nn", "gpuopt", "Rodinia", "coalesced stream, little arithmetic; no divergence"}, run_nn},
      {{"pf", "gpuopt", "Rodinia", "row stream with ghost zones, LDS, barriers"}, run_pf},
      {{"srad", "gpuopt, iiswc16", "Rodinia", "stencil with wide streams; divisions",
        sizes("pixels a side", 256, 512, 1024, 2048)},
       run_srad},
      {{"sc", "gpuopt, iiswc16", "Rodinia", "streamcluster: strided streams, broadcast loads",
        sizes("points", 8192, 65536, 65536, 65536)},
       run_sc},
      {{"eigen", "none", "CUDA SDK", "LDS broadcasts, divisions; no divergence"}, run_eigen},
      {{"histo", "none", "Parboil", "scattered global atomics with contention"}, run_histo},
      {{"montecarlo", "none", "CUDA SDK", "one stream read by every group; exp; reduction tree"},
       run_montecarlo},
      {{"nbody", "none", "CUDA SDK", "arithmetic over LDS tiles; no divergence"}, run_nbody},
      {{"scan", "none", "CUDA SDK", "LDS trees with bank conflicts; halving divergence"}, run_scan},
      {{"stencil", "none", "Parboil", "3-D stencil at three strides; edge divergence"},
       run_stencil},
      {{"spmv", "none", "Parboil", "coalesced matrix, gathered vector; sorted row lengths"},
       run_spmv},
      {{"crc", "iiswc16", "OpenDwarfs", "a page a lane: strided lines; LDS look-ups",
        sizes("pages", 2048, 16384, 65536, 65536)},
       run_crc},
      {{"kmeans", "iiswc16", "Rodinia", "one stream re-read for each cluster; scalar loads",
        sizes("points", 8192, 65536, 65536, 819200)},
       run_kmeans},
      {{"gem", "iiswc16", "OpenDwarfs", "all pairs over LDS tiles; square roots",
        sizes("vertices", 2048, 8192, 65536, 131072)},
       run_gem},
      {{"comd", "iiswc16", "CoMD (ExMatEx)", "link cells, table look-ups; divergence at the cutoff",
        sizes("unit cells a side", 8, 14, 32, 32)},
       run_comd},
      {{"comd-lj", "iiswc16", "CoMD (ExMatEx)", "link cells; divergence at the cutoff",
        sizes("unit cells a side", 8, 14, 32, 32)},
       run_comd_lj},
      {{"xsbench", "iiswc16", "XSBench (CESAR)",
        "binary searches and random rows, f64; uneven loops",
        sizes("look-ups", 8192, 131072, 131072, 1048576)},
       run_xsbench},
      {{"graph500", "iiswc16", "Graph500",
        "queues, compare-and-swap on a power law; strong divergence",
        sizes("vertices", 4096, 32768, 1048576, 1048576)},
       run_graph500},
      {{"swat", "iiswc16", "OpenDwarfs", "anti-diagonals: a line a cell; ramps of idle lanes",
        sizes("letters", 512, 2048, 4096, 8192)},
       run_swat},
      {{"color", "none", "Pannotia", "gathers over a power law; lanes retire round by round"},
       run_color},
      {{"mandelbulb", "iiswc16", "ray marching",
        "sin, cos, acos, log; spills to private memory; strong divergence",
        sizes("pixels a side", 64, 256, 1024, 1024)},
       run_mandelbulb},
      {{"minife", "iiswc16", "Mantevo", "sparse matrix stream, gathers, reductions; f64",
        sizes("nodes a side", 16, 40, 64, 100)},
       run_minife},
      {{"lulesh", "iiswc16", "LULESH", "corner gathers on a mesh, wide private arrays; f64",
        sizes("elements a side", 16, 30, 32, 64)},
       run_lulesh},
      {{"smallpt", "iiswc16", "path tracing", "divergent paths, roulette, scalar loads",
        sizes("pixels a side", 64, 128, 512, 512)},
       run_smallpt},
      {{"sdk-eigen", "iiswc16", "AMD APP SDK", "uniform loads, divisions; walks of uneven length",
        sizes("rows", 1024, 2048, 8192, 8192)},
       run_sdk_eigen},
      {{"sdk-fwt", "iiswc16", "AMD APP SDK",
        "power-of-two strides, all in memory; integer division",
        sizes("values", 65536, 1048576, 2097152, 33554432)},
       run_sdk_fwt},
      {{"sdk-histo", "iiswc16", "AMD APP SDK", "one stream, byte counters in LDS; no atomics",
        sizes("values", 1048576, 4194304, 4194304, 4194304)},
       run_sdk_histo},
      {{"sdk-montecarlo", "iiswc16", "AMD APP SDK",
        "arithmetic in registers; LDS exchange, log, exp, sin, cos",
        sizes("work-items a row", 256, 512, 1024, 1024)},
       run_sdk_montecarlo},
      {{"sdk-nbody", "iiswc16", "AMD APP SDK", "arithmetic over uniform loads; no divergence",
        sizes("bodies", 4096, 8192, 32768, 32768)},
       run_sdk_nbody},
      {{"sdk-scan", "iiswc16", "AMD APP SDK", "doubling strides in LDS between two streams",
        sizes("values", 1048576, 4194304, 4194304, 16777216)},
       run_sdk_scan},
      {{"shoc-stencil", "iiswc16", "SHOC", "2-D stencil of nine points through LDS",
        sizes("points a side", 512, 2048, 1024, 4096)},
       run_shoc_stencil},
      {{"shoc-spmv", "iiswc16", "SHOC",
        "a row a lane, a row a wave, and ELLPACK-R; gathered vector",
        sizes("rows", 4096, 8192, 16384, 16384)},
       run_shoc_spmv},
      {{"pannotia-color", "iiswc16", "Pannotia",
        "a grid's gathers; lanes retire round by round; one flag",
        sizes("vertices a side", 128, 400, 1000, 1000)},
       run_pannotia_color},
  };
  return entries;
}

}  // namespace ww::workloads
