# The execution half: waves, caches, memory, launches.
set(WW_SIM_GPU_EXEC_SOURCES
  src/exec/access_log.cpp
  src/exec/atomics.cpp
  src/exec/compute_unit.cpp
  src/exec/deferred_observer.cpp
  src/exec/device_memory.cpp
  src/exec/engine.cpp
  src/exec/finding_log.cpp
  src/exec/host_arena.cpp
  src/exec/image_descriptor.cpp
  src/exec/image_format.cpp
  src/exec/image_memory.cpp
  src/exec/image_resource.cpp
  src/exec/image_sample.cpp
  src/exec/l2_cache.cpp
  src/exec/lane_forms.cpp
  src/exec/lane_table.cpp
  src/exec/lanes_avx2.cpp
  src/exec/lanes_avx512.cpp
  src/exec/lanes_generic.cpp
  src/exec/launch_setup.cpp
  src/exec/look_ahead.cpp
  src/exec/lds.cpp
  src/exec/line_update.cpp
  src/exec/lower.cpp
  src/exec/matrix.cpp
  src/exec/memory_guard.cpp
  src/exec/memory_system.cpp
  src/exec/private_memory.cpp
  src/exec/program.cpp
  src/exec/replay.cpp
  src/exec/scalar_alu.cpp
  src/exec/scalar_gfx9.cpp
  src/exec/scalar_memory.cpp
  src/exec/straight_line.cpp
  src/exec/load_addresses.cpp
  src/exec/first_writes.cpp
  src/exec/vector_alu.cpp
  src/exec/vector_forms.cpp
  src/exec/vector_memory.cpp
  src/exec/virtual_gpu.cpp
  src/exec/work_groups.cpp
  src/exec/workers.cpp)

# The lane loops are compiled once for each host instruction set; lane_table.cpp picks one at run
# time. No contraction: v_mad is not fused. Exceptions and errno of the host are of no interest.
set(_lane_options -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math)
set(_wide_lane_options ${_lane_options})
if(CMAKE_CXX_FLAGS MATCHES "fsanitize")
  # One copy of these many loops is enough to watch, and takes minutes to build as it is.
  set(_lane_options -O1 -ffp-contract=off -fno-math-errno)
  list(APPEND _wide_lane_options -fno-sanitize=all)
endif()
# What every access and every turn of a wave goes through.
set_source_files_properties(
  src/exec/compute_unit.cpp src/exec/l2_cache.cpp src/exec/lane_forms.cpp
  src/exec/line_update.cpp src/exec/load_addresses.cpp src/exec/look_ahead.cpp
  src/exec/memory_system.cpp src/exec/straight_line.cpp src/exec/vector_alu.cpp
  src/exec/vector_memory.cpp src/exec/work_groups.cpp src/truth/energy_ledger.cpp
  PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O3>")
# Tables of handlers that are named like the instructions, and images, which the driver's tests link without
# the rest of the emulator: each is compiled by itself.
set_source_files_properties(
  src/exec/image_descriptor.cpp src/exec/image_format.cpp src/exec/image_resource.cpp
  src/exec/image_sample.cpp src/exec/lds.cpp src/exec/lower.cpp src/exec/matrix.cpp src/exec/scalar_alu.cpp
  src/exec/scalar_gfx9.cpp src/exec/scalar_memory.cpp src/exec/vector_forms.cpp
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
set_source_files_properties(src/exec/lanes_generic.cpp PROPERTIES COMPILE_OPTIONS "${_lane_options}")
set_source_files_properties(src/exec/lanes_avx2.cpp PROPERTIES
  COMPILE_OPTIONS "${_wide_lane_options};-mavx2;-mfma;-mbmi;-mbmi2")
set_source_files_properties(src/exec/lanes_avx512.cpp PROPERTIES
  COMPILE_OPTIONS "${_wide_lane_options};-mavx512f;-mavx512dq;-mavx512bw;-mavx512vl;-mfma;-mbmi;-mbmi2;-mprefer-vector-width=512")

# Called once ww_sim_gpu exists. The test kernels are real machine code, built by clang.
function(ww_sim_gpu_exec_tests)
  if(NOT WW_BUILD_TESTS)
    return()
  endif()
  find_program(WW_CLANG NAMES clang-15)
  if(NOT WW_CLANG)
    message(STATUS "clang-15 is missing: the emulator's tests and benchmark are not built")
    return()
  endif()
  set(objects)
  foreach(source kernels images)
    foreach(cpu gfx701 gfx900 gfx90a)
      foreach(level 0 1 2)
        string(REPLACE "_gfx701" "" object
          ${CMAKE_CURRENT_BINARY_DIR}/emulator_${source}_${cpu}_O${level}.co)
        add_custom_command(OUTPUT ${object}
          COMMAND ${WW_CLANG} -x cl -cl-std=CL1.2 -target amdgcn-amd-amdhsa -mcpu=${cpu} -O${level}
                  -mcode-object-version=4 -Xclang -finclude-default-header
                  --rocm-device-lib-path=/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/amdgcn/bitcode
                  ${CMAKE_CURRENT_SOURCE_DIR}/test/${source}.cl -o ${object}
          DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/test/${source}.cl VERBATIM
          COMMENT "Building the emulator's test ${source} for ${cpu}, -O${level}")
        list(APPEND objects ${object})
      endforeach()
    endforeach()
  endforeach()
  add_custom_target(emulator_kernels DEPENDS ${objects})

  ww_add_test(exec_cache_test LABEL unit
    SOURCES src/exec/l1_cache_test.cpp src/exec/l2_cache_test.cpp LIBS ww_sim_gpu)
  ww_add_test(exec_image_test LABEL unit SOURCES src/exec/image_test.cpp LIBS ww_sim_gpu)
  ww_add_test(exec_virtual_gpu_test LABEL unit ALONE
    SOURCES src/exec/virtual_gpu_test.cpp src/exec/kernel_semantics_test.cpp
            src/exec/narrow_semantics_test.cpp
            src/exec/matrix_semantics_test.cpp
            src/exec/memory_timing_test.cpp src/exec/chip_time_test.cpp
            src/exec/random_code_test.cpp src/exec/straight_line_test.cpp
            src/exec/first_writes_test.cpp src/exec/lane_forms_test.cpp
            src/exec/load_addresses_test.cpp src/exec/host_arena_test.cpp
            src/exec/trace_test.cpp src/exec/memory_check_test.cpp
            src/exec/image_kernels_test.cpp src/exec/image_memory_test.cpp
    LIBS ww_sim_gpu)
  ww_add_test(exec_lanes_test LABEL property SOURCES src/exec/lanes_test.cpp LIBS ww_sim_gpu)
  add_executable(isa_coverage src/exec/isa_coverage.cpp)
  target_link_libraries(isa_coverage PRIVATE ww_options ww_sim_gpu)
  target_include_directories(isa_coverage PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  ww_add_benchmark(bench_emulator SOURCES src/exec/emulator_bench.cpp LIBS ww_sim_gpu)
  ww_add_fuzz_target(exec_launch_fuzz SOURCES src/exec/launch_fuzz.cpp LIBS ww_sim_gpu)
  if(NOT WW_BUILD_FUZZERS)
    set_tests_properties(exec_launch_fuzz PROPERTIES ENVIRONMENT WW_FUZZ_INPUTS=500)
  endif()
  foreach(name exec_virtual_gpu_test bench_emulator exec_launch_fuzz)
    add_dependencies(${name} emulator_kernels)
    target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
    target_compile_definitions(${name} PRIVATE WW_EMULATOR_KERNELS="${CMAKE_CURRENT_BINARY_DIR}/emulator_kernels_O2.co")
  endforeach()
  target_compile_definitions(exec_launch_fuzz PRIVATE
    WW_EMULATOR_IMAGES="${CMAKE_CURRENT_BINARY_DIR}/emulator_images_O2.co"
    WW_EMULATOR_IMAGES_GFX900="${CMAKE_CURRENT_BINARY_DIR}/emulator_images_gfx900_O2.co"
    WW_EMULATOR_IMAGES_GFX90A="${CMAKE_CURRENT_BINARY_DIR}/emulator_images_gfx90a_O2.co"
    WW_EMULATOR_KERNELS_GFX900="${CMAKE_CURRENT_BINARY_DIR}/emulator_kernels_gfx900_O2.co"
    WW_EMULATOR_KERNELS_GFX90A="${CMAKE_CURRENT_BINARY_DIR}/emulator_kernels_gfx90a_O2.co")
  foreach(level 0 1)
    add_test(NAME exec_kernels_O${level}
      COMMAND exec_virtual_gpu_test --gtest_filter=Semantics*:Launch.R*:Launch.G*:Launch.A*:Launch.K*)
    set_tests_properties(exec_kernels_O${level} PROPERTIES LABELS unit TIMEOUT 300
      ENVIRONMENT "WW_EMULATOR_OTHER_KERNELS=${CMAKE_CURRENT_BINARY_DIR}/emulator_kernels_O${level}.co")
  endforeach()
  # The same kernels as code of other instruction sets, on chips that execute it.
  foreach(cpu gfx900 gfx90a)
    foreach(level 0 1 2)
      add_test(NAME exec_kernels_${cpu}_O${level}
        COMMAND exec_virtual_gpu_test --gtest_filter=Semantics*:Launch.R*:Launch.G*:Launch.A*:Launch.K*:RandomCode.*)
      set_tests_properties(exec_kernels_${cpu}_O${level} PROPERTIES LABELS unit TIMEOUT 300 ENVIRONMENT
        "WW_EMULATOR_OTHER_KERNELS=${CMAKE_CURRENT_BINARY_DIR}/emulator_kernels_${cpu}_O${level}.co")
    endforeach()
  endforeach()
  target_include_directories(bench_emulator PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
endfunction()
