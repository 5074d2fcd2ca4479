# The sealed truth: chips, energy accounting, power timeline, sensor, reveal.
pkg_check_modules(TOMLPP REQUIRED IMPORTED_TARGET tomlplusplus)
add_subdirectory(chips)

set(WW_SIM_GPU_TRUTH_SOURCES
  ${WW_BUILTIN_CHIPS_SOURCE}
  src/truth/chip.cpp
  src/truth/chip_file.cpp
  src/truth/energy_ledger.cpp
  src/truth/geometry.cpp
  src/truth/interaction.cpp
  src/truth/power_timeline.cpp
  src/truth/random_chip.cpp
  src/truth/random_geometry.cpp
  src/truth/reveal.cpp
  src/truth/sensor.cpp
  src/truth/stream.cpp
  src/truth/thermal.cpp
  src/truth/toml_reader.cpp
  src/truth/transitions.cpp
  src/truth/transitions_avx2.cpp
  src/truth/transitions_avx512.cpp
  src/truth/transitions_portable.cpp)
set_source_files_properties(${WW_BUILTIN_CHIPS_SOURCE} PROPERTIES
  INCLUDE_DIRECTORIES ${CMAKE_CURRENT_SOURCE_DIR}/src/truth)
# The inner loops are plain loops over lanes; let the compiler widen them.
set_source_files_properties(src/truth/transitions.cpp src/truth/thermal.cpp PROPERTIES
  COMPILE_OPTIONS "-O3")
# Compiled once for each host instruction set. Vectors of 64 bytes go by value between functions of
# one file alone, so that what the ABI makes of them does not matter.
set(_transition_options -O3 -Wno-psabi)
set_source_files_properties(src/truth/transitions_portable.cpp PROPERTIES
  COMPILE_OPTIONS "${_transition_options}")
set_source_files_properties(src/truth/transitions_avx2.cpp PROPERTIES
  COMPILE_OPTIONS "${_transition_options};-mavx2;-mpopcnt;-mbmi;-mbmi2")
set_source_files_properties(src/truth/transitions_avx512.cpp PROPERTIES
  COMPILE_OPTIONS "${_transition_options};-mpopcnt;-mbmi;-mbmi2;-mavx512f;-mavx512bw;-mavx512vl;-mavx512vpopcntdq")

# Called once ww_sim_gpu exists.
function(ww_sim_gpu_truth_tests)
  if(NOT WW_BUILD_TESTS)
    return()
  endif()
  find_package(rapidcheck REQUIRED)
  foreach(name chip energy_ledger power_timeline random_chip reveal)
    ww_add_test(truth_${name}_test LABEL unit SOURCES src/truth/${name}_test.cpp
      LIBS ww_sim_gpu)
  endforeach()
  ww_add_test(truth_transitions_test LABEL property SOURCES src/truth/transitions_test.cpp
    LIBS ww_sim_gpu rapidcheck)
  ww_add_test(truth_floorplan_test LABEL unit SOURCES src/truth/floorplan_test.cpp
    LIBS ww_sim_gpu ww_model)
  ww_add_fuzz_target(fuzz_chip_file SOURCES src/truth/chip_fuzz.cpp LIBS ww_sim_gpu)
  ww_add_benchmark(bench_ledger SOURCES src/truth/ledger_bench.cpp LIBS ww_sim_gpu)
  foreach(name truth_chip_test truth_energy_ledger_test truth_power_timeline_test
               truth_random_chip_test truth_reveal_test truth_transitions_test truth_floorplan_test fuzz_chip_file
               bench_ledger)
    target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src/truth)
  endforeach()
endfunction()
