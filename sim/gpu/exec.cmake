# The execution half, room by room (README.md): waves, caches, memory, launches.
set(WW_SIM_GPU_EXEC_SOURCES
  src/compute_unit/access_log.cpp
  src/compute_unit/atomics.cpp
  src/compute_unit/compute_unit.cpp
  src/memory/deferred_observer.cpp
  src/compute_unit/device_memory.cpp
  src/launch/engine.cpp
  src/compute_unit/finding_log.cpp
  src/host/host_arena.cpp
  src/image/image_descriptor.cpp
  src/image/image_format.cpp
  src/memory/image_memory.cpp
  src/image/image_resource.cpp
  src/image/image_sample.cpp
  src/memory/l2_cache.cpp
  src/isa/half_float.cpp
  src/isa/lane_forms.cpp
  src/isa/operands.cpp
  src/isa/lane_table.cpp
  src/isa/lanes_avx2.cpp
  src/isa/lanes_avx512.cpp
  src/isa/lanes_generic.cpp
  src/launch/launch_setup.cpp
  src/compute_unit/look_ahead.cpp
  src/memory/lds.cpp
  src/compute_unit/line_update.cpp
  src/launch/lower.cpp
  src/alu/matrix.cpp
  src/compute_unit/memory_guard.cpp
  src/memory/memory_system.cpp
  src/memory/private_memory.cpp
  src/launch/program.cpp
  src/launch/replay.cpp
  src/alu/scalar_alu.cpp
  src/alu/scalar_gfx9.cpp
  src/memory/scalar_memory.cpp
  src/isa/straight_line.cpp
  src/isa/load_addresses.cpp
  src/isa/first_writes.cpp
  src/alu/vector_alu.cpp
  src/alu/vector_forms.cpp
  src/memory/vector_memory.cpp
  src/launch/virtual_gpu.cpp
  src/compute_unit/work_groups.cpp
  src/host/workers.cpp)

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
  src/compute_unit/compute_unit.cpp src/memory/l2_cache.cpp src/isa/lane_forms.cpp
  src/compute_unit/line_update.cpp src/isa/load_addresses.cpp src/compute_unit/look_ahead.cpp
  src/memory/memory_system.cpp src/isa/straight_line.cpp src/alu/vector_alu.cpp
  src/memory/vector_memory.cpp src/compute_unit/work_groups.cpp src/truth/energy_ledger.cpp
  PROPERTIES COMPILE_OPTIONS "$<$<CONFIG:Release>:-O3>")
# Tables of handlers that are named like the instructions, and images, which the driver's tests link without
# the rest of the emulator: each is compiled by itself.
set_source_files_properties(
  src/image/image_descriptor.cpp src/image/image_format.cpp src/image/image_resource.cpp
  src/image/image_sample.cpp src/memory/lds.cpp src/launch/lower.cpp src/alu/matrix.cpp src/alu/scalar_alu.cpp
  src/alu/scalar_gfx9.cpp src/memory/scalar_memory.cpp src/alu/vector_forms.cpp
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
set_source_files_properties(src/isa/lanes_generic.cpp PROPERTIES COMPILE_OPTIONS "${_lane_options}")
set_source_files_properties(src/isa/lanes_avx2.cpp PROPERTIES
  COMPILE_OPTIONS "${_wide_lane_options};-mavx2;-mfma;-mbmi;-mbmi2")
set_source_files_properties(src/isa/lanes_avx512.cpp PROPERTIES
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
    SOURCES src/compute_unit/l1_cache_test.cpp src/memory/l2_cache_test.cpp LIBS ww_sim_gpu)
  ww_add_test(exec_image_test LABEL unit SOURCES src/image/image_test.cpp LIBS ww_sim_gpu)
  ww_add_test(exec_virtual_gpu_test LABEL unit ALONE
    SOURCES src/launch/virtual_gpu_test.cpp src/alu/kernel_semantics_test.cpp
            src/alu/narrow_semantics_test.cpp
            src/alu/matrix_semantics_test.cpp
            src/memory/memory_timing_test.cpp src/launch/chip_time_test.cpp
            src/launch/random_code_test.cpp src/isa/straight_line_test.cpp
            src/isa/first_writes_test.cpp src/alu/lane_forms_test.cpp
            src/isa/load_addresses_test.cpp src/host/host_arena_test.cpp
            src/launch/trace_test.cpp src/memory/memory_check_test.cpp
            src/memory/image_kernels_test.cpp src/memory/image_memory_test.cpp
    LIBS ww_sim_gpu)
  ww_add_test(exec_lanes_test LABEL property SOURCES src/isa/lanes_test.cpp LIBS ww_sim_gpu)
  add_executable(isa_coverage src/launch/isa_coverage.cpp)
  target_link_libraries(isa_coverage PRIVATE ww_options ww_sim_gpu)
  target_include_directories(isa_coverage PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  ww_add_benchmark(bench_emulator SOURCES src/launch/emulator_bench.cpp LIBS ww_sim_gpu)
  ww_add_fuzz_target(exec_launch_fuzz SOURCES src/launch/launch_fuzz.cpp LIBS ww_sim_gpu)
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
