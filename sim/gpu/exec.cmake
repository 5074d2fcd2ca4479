# The execution half: waves, caches, memory, launches.
set(WW_SIM_GPU_EXEC_SOURCES
  src/exec/atomics.cpp
  src/exec/compute_unit.cpp
  src/exec/device_memory.cpp
  src/exec/engine.cpp
  src/exec/l2_cache.cpp
  src/exec/lane_table.cpp
  src/exec/lanes_avx2.cpp
  src/exec/lanes_avx512.cpp
  src/exec/lanes_generic.cpp
  src/exec/lds.cpp
  src/exec/lower.cpp
  src/exec/memory_system.cpp
  src/exec/program.cpp
  src/exec/replay.cpp
  src/exec/scalar_alu.cpp
  src/exec/scalar_memory.cpp
  src/exec/vector_alu.cpp
  src/exec/vector_memory.cpp
  src/exec/virtual_gpu.cpp
  src/exec/workers.cpp)

# The lane loops are compiled once for each host instruction set; lane_table.cpp picks one at run
# time. No contraction: v_mad is not fused. Exceptions and errno of the host are of no interest.
set(_lane_options -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math)
set_source_files_properties(src/exec/lanes_generic.cpp PROPERTIES COMPILE_OPTIONS "${_lane_options}")
set_source_files_properties(src/exec/lanes_avx2.cpp PROPERTIES
  COMPILE_OPTIONS "${_lane_options};-mavx2;-mfma;-mbmi;-mbmi2")
set_source_files_properties(src/exec/lanes_avx512.cpp PROPERTIES
  COMPILE_OPTIONS "${_lane_options};-mavx512f;-mavx512dq;-mavx512bw;-mavx512vl;-mfma;-mbmi;-mbmi2;-mprefer-vector-width=512")
