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
      {{"fwt", "dapper, iiswc16", "CUDA SDK", "power-of-two strides, in place; no divergence"},
       run_fwt},
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
      {{"eigen", "iiswc16", "CUDA SDK", "LDS broadcasts, divisions; no divergence"}, run_eigen},
      {{"histo", "iiswc16", "Parboil", "scattered global atomics with contention"}, run_histo},
      {{"montecarlo", "iiswc16", "CUDA SDK", "one stream read by every group; exp; reduction tree"},
       run_montecarlo},
      {{"nbody", "iiswc16", "CUDA SDK", "arithmetic over LDS tiles; no divergence"}, run_nbody},
      {{"scan", "iiswc16", "CUDA SDK", "LDS trees with bank conflicts; halving divergence"},
       run_scan},
      {{"stencil", "iiswc16", "Parboil", "3-D stencil at three strides; edge divergence"},
       run_stencil},
      {{"spmv", "iiswc16", "Parboil", "coalesced matrix, gathered vector; sorted row lengths"},
       run_spmv},
      {{"crc", "iiswc16", "OpenDwarfs", "a page a lane: strided lines; LDS look-ups"}, run_crc},
      {{"kmeans", "iiswc16", "Rodinia", "one stream re-read for each cluster; scalar loads"},
       run_kmeans},
      {{"gem", "iiswc16", "OpenDwarfs", "all pairs over LDS tiles; square roots"}, run_gem},
  };
  return entries;
}

}  // namespace ww::workloads
