# Timing mode: the cores in the time of a network of sim/net.
set(WW_SIM_GPU_TIMING_SOURCES
  src/timing/address_use.cpp
  src/timing/dram.cpp
  src/timing/memory_node.cpp
  src/timing/system.cpp
  src/timing/timed_memory.cpp
  src/timing/timed_stats.cpp
  src/timing/timing_file.cpp
  src/timing/timing_keys.cpp
  src/timing/timing_report.cpp)

function(ww_sim_gpu_timing_tests)
  if(NOT TARGET emulator_kernels)
    return()
  endif()
  ww_add_test(timing_test LABEL unit
    SOURCES src/timing/dram_test.cpp src/timing/timing_test.cpp LIBS ww_sim_gpu)
  ww_add_benchmark(bench_timing SOURCES src/timing/timing_bench.cpp LIBS ww_sim_gpu)
  foreach(name timing_test bench_timing)
    add_dependencies(${name} emulator_kernels)
    target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
    target_compile_definitions(${name} PRIVATE
      WW_EMULATOR_KERNELS="${CMAKE_CURRENT_BINARY_DIR}/emulator_kernels_O2.co")
  endforeach()
endfunction()
