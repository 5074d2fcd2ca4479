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
      {{"srad", "gpuopt, iiswc16", "Rodinia", "stencil with wide streams; divisions"}, run_srad},
      {{"sc", "gpuopt, iiswc16", "Rodinia", "streamcluster: strided streams, broadcast loads"},
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
      {{"crc", "iiswc16", "OpenDwarfs", "a page a lane: strided lines; LDS look-ups"}, run_crc},
      {{"kmeans", "iiswc16", "Rodinia", "one stream re-read for each cluster; scalar loads"},
       run_kmeans},
      {{"gem", "iiswc16", "OpenDwarfs", "all pairs over LDS tiles; square roots"}, run_gem},
      {{"comd", "iiswc16", "CoMD (ExMatEx)",
        "link cells, table look-ups; divergence at the cutoff"},
       run_comd},
      {{"comd-lj", "iiswc16", "CoMD (ExMatEx)", "link cells; divergence at the cutoff"},
       run_comd_lj},
      {{"xsbench", "iiswc16", "XSBench (CESAR)",
        "binary searches and random rows, f64; uneven loops"},
       run_xsbench},
      {{"graph500", "iiswc16", "Graph500",
        "queues, compare-and-swap on a power law; strong divergence"},
       run_graph500},
      {{"swat", "iiswc16", "OpenDwarfs", "anti-diagonals: a line a cell; ramps of idle lanes"},
       run_swat},
      {{"color", "none", "Pannotia", "gathers over a power law; lanes retire round by round"},
       run_color},
      {{"mandelbulb", "iiswc16", "ray marching",
        "sin, cos, acos, log; spills to private memory; strong divergence"},
       run_mandelbulb},
      {{"minife", "iiswc16", "Mantevo", "sparse matrix stream, gathers, reductions; f64"},
       run_minife},
      {{"lulesh", "iiswc16", "LULESH", "corner gathers on a mesh, wide private arrays; f64"},
       run_lulesh},
      {{"smallpt", "iiswc16", "path tracing", "divergent paths, roulette, scalar loads"},
       run_smallpt},
      {{"sdk-eigen", "iiswc16", "AMD APP SDK", "uniform loads, divisions; walks of uneven length"},
       run_sdk_eigen},
      {{"sdk-fwt", "iiswc16", "AMD APP SDK",
        "power-of-two strides, all in memory; integer division"},
       run_sdk_fwt},
      {{"sdk-histo", "iiswc16", "AMD APP SDK", "one stream, byte counters in LDS; no atomics"},
       run_sdk_histo},
      {{"sdk-montecarlo", "iiswc16", "AMD APP SDK",
        "arithmetic in registers; LDS exchange, log, exp, sin, cos"},
       run_sdk_montecarlo},
      {{"sdk-nbody", "iiswc16", "AMD APP SDK", "arithmetic over uniform loads; no divergence"},
       run_sdk_nbody},
      {{"sdk-scan", "iiswc16", "AMD APP SDK", "doubling strides in LDS between two streams"},
       run_sdk_scan},
      {{"shoc-stencil", "iiswc16", "SHOC", "2-D stencil of nine points through LDS"},
       run_shoc_stencil},
      {{"shoc-spmv", "iiswc16", "SHOC",
        "a row a lane, a row a wave, and ELLPACK-R; gathered vector"},
       run_shoc_spmv},
      {{"pannotia-color", "iiswc16", "Pannotia",
        "a grid's gathers; lanes retire round by round; one flag"},
       run_pannotia_color},
  };
  return entries;
}

}  // namespace ww::workloads
