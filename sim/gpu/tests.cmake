# Tests of the emulator and of timing mode. The test kernels are real machine code, built by clang.
if(NOT WW_BUILD_TESTS)
  return()
endif()
# Not LLVM 17: at -O0 it loads spilled registers before it enables their lanes again.
find_program(WW_EMULATOR_CLANG NAMES clang-15 clang-19)
# Debian 13 has the device libraries in the folder of the LLVM that they are for.
find_path(WW_DEVICE_LIBRARIES opencl.bc NO_DEFAULT_PATH
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/amdgcn/bitcode /usr/lib/llvm-17/lib/clang/17/amdgcn/bitcode)
if(NOT WW_EMULATOR_CLANG OR NOT WW_DEVICE_LIBRARIES)
  message(STATUS "clang or AMD's device libraries are missing: the emulator's tests and benchmark are not built")
  return()
endif()
set(objects)
foreach(source kernels images)
  foreach(cpu gfx701 gfx900 gfx90a)
    foreach(level 0 1 2)
      string(REPLACE "_gfx701" "" object
        ${CMAKE_CURRENT_BINARY_DIR}/emulator_${source}_${cpu}_O${level}.co)
      add_custom_command(OUTPUT ${object}
        COMMAND ${WW_EMULATOR_CLANG} -x cl -cl-std=CL1.2 -target amdgcn-amd-amdhsa -mcpu=${cpu} -O${level}
                -mcode-object-version=4 -Xclang -finclude-default-header
                --rocm-device-lib-path=${WW_DEVICE_LIBRARIES}
                ${CMAKE_CURRENT_SOURCE_DIR}/test/${source}.cl -o ${object}
        DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/test/${source}.cl VERBATIM
        COMMENT "Building the emulator's test ${source} for ${cpu}, -O${level}")
      list(APPEND objects ${object})
    endforeach()
  endforeach()
endforeach()
# gfx942 is beyond LLVM 15. clang-19 takes the device libraries of LLVM 15 file by file; the constant
# that says which instruction set they are for is not among them.
find_program(WW_EMULATOR_CLANG_19 NAMES clang-19)
find_program(WW_EMULATOR_LLD_19 NAMES ld.lld-19)
set(other_cpus gfx900 gfx90a)
if(WW_EMULATOR_CLANG_19 AND WW_EMULATOR_LLD_19)
  list(APPEND other_cpus gfx942)
  set(libraries)
  foreach(library opencl ocml ockl oclc_correctly_rounded_sqrt_on oclc_daz_opt_off
      oclc_finite_only_off oclc_unsafe_math_off oclc_wavefrontsize64_on oclc_abi_version_400)
    list(APPEND libraries -Xclang -mlink-builtin-bitcode
      -Xclang ${WW_DEVICE_LIBRARIES}/${library}.bc)
  endforeach()
  set(constant ${CMAKE_CURRENT_BINARY_DIR}/isa_version_gfx942.h)
  file(CONFIGURE OUTPUT ${constant}
    CONTENT "const __constant unsigned __oclc_ISA_version = 9402;\n" @ONLY)
  foreach(level 0 1 2)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/emulator_kernels_gfx942_O${level}.co)
    add_custom_command(OUTPUT ${object}
      COMMAND ${WW_EMULATOR_CLANG_19} -x cl -cl-std=CL1.2 -target amdgcn-amd-amdhsa -mcpu=gfx942
              -O${level} -mcode-object-version=4 -nogpulib -Xclang -finclude-default-header
              ${libraries} -include ${constant} ${CMAKE_CURRENT_SOURCE_DIR}/test/kernels.cl
              -o ${object}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/test/kernels.cl ${constant} VERBATIM
      COMMENT "Building the emulator's test kernels for gfx942, -O${level}")
    list(APPEND objects ${object})
  endforeach()
endif()
# gfx1030, in waves of 32 and of 64. Kernels on images differ little between levels.
set(with_images "_O2$|^gfx1030_O0$")
list(APPEND other_cpus gfx1030 gfx1030_wave64)
foreach(cpu gfx1030 gfx1030_wave64)
  set(wave "")
  if(cpu STREQUAL gfx1030_wave64)
    set(wave -mwavefrontsize64)
  endif()
  foreach(source kernels images)
    foreach(level 0 1 2)
      if(source STREQUAL images AND NOT ${cpu}_O${level} MATCHES ${with_images})
        continue()
      endif()
      set(object ${CMAKE_CURRENT_BINARY_DIR}/emulator_${source}_${cpu}_O${level}.co)
      add_custom_command(OUTPUT ${object}
        COMMAND ${WW_EMULATOR_CLANG} -x cl -cl-std=CL1.2 -target amdgcn-amd-amdhsa -mcpu=gfx1030 ${wave} -O${level}
                -mcode-object-version=4 -Xclang -finclude-default-header
                --rocm-device-lib-path=${WW_DEVICE_LIBRARIES}
                ${CMAKE_CURRENT_SOURCE_DIR}/test/${source}.cl -o ${object}
        DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/test/${source}.cl VERBATIM
        COMMENT "Building the emulator's test ${source} for ${cpu}, -O${level}")
      list(APPEND objects ${object})
    endforeach()
  endforeach()
endforeach()
# gfx1100 likewise, by clang-19: the device libraries of LLVM 15 have no constant for it either.
if(WW_EMULATOR_CLANG_19 AND WW_EMULATOR_LLD_19)
  list(APPEND other_cpus gfx1100 gfx1100_wave64)
  set(rdna_constant ${CMAKE_CURRENT_BINARY_DIR}/isa_version_gfx1100.h)
  file(CONFIGURE OUTPUT ${rdna_constant}
    CONTENT "const __constant unsigned __oclc_ISA_version = 11000;\n" @ONLY)
  foreach(cpu gfx1100 gfx1100_wave64)
    set(wave "")
    set(rdna_libraries ${libraries})
    if(cpu STREQUAL gfx1100_wave64)
      set(wave -mwavefrontsize64)
    else()
      list(TRANSFORM rdna_libraries REPLACE wavefrontsize64_on wavefrontsize64_off)
    endif()
    foreach(source kernels images)
      foreach(level 0 1 2)
        if(source STREQUAL images AND NOT ${cpu}_O${level} MATCHES ${with_images})
          continue()
        endif()
        set(object ${CMAKE_CURRENT_BINARY_DIR}/emulator_${source}_${cpu}_O${level}.co)
        add_custom_command(OUTPUT ${object}
          COMMAND ${WW_EMULATOR_CLANG_19} -x cl -cl-std=CL1.2 -target amdgcn-amd-amdhsa
                  -mcpu=gfx1100 ${wave} -O${level} -mcode-object-version=4 -nogpulib
                  -Xclang -finclude-default-header ${rdna_libraries} -include ${rdna_constant}
                  ${CMAKE_CURRENT_SOURCE_DIR}/test/${source}.cl -o ${object}
          DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/test/${source}.cl ${rdna_constant} VERBATIM
          COMMENT "Building the emulator's test ${source} for ${cpu}, -O${level}")
        list(APPEND objects ${object})
      endforeach()
    endforeach()
  endforeach()
endif()
add_custom_target(emulator_kernels DEPENDS ${objects})
if(WW_EMULATOR_CLANG_19 AND WW_EMULATOR_LLD_19)
  set(dies_object ${CMAKE_CURRENT_BINARY_DIR}/emulator_dies_gfx942.co)
  add_custom_command(OUTPUT ${dies_object}
    COMMAND ${WW_EMULATOR_CLANG_19} -x cl -cl-std=CL1.2 -target amdgcn-amd-amdhsa -mcpu=gfx942 -O2
            -mcode-object-version=4 -nogpulib -Xclang -finclude-default-header
            ${libraries} -include ${constant} ${CMAKE_CURRENT_SOURCE_DIR}/test/dies.cl
            -o ${dies_object}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/test/dies.cl ${constant} VERBATIM
    COMMENT "Building the emulator's test kernels for several dies")
  ww_add_test(exec_dies_test LABEL unit
    SOURCES machine/memory/dies_test.cpp ${dies_object} LIBS ww_sim_gpu ww_sim_gpu_truth)
  target_compile_definitions(exec_dies_test PRIVATE
    WW_EMULATOR_KERNELS="${dies_object}" WW_EMULATOR_DIES_KERNELS="${dies_object}")
endif()

set(package_object ${CMAKE_CURRENT_BINARY_DIR}/emulator_packages_gfx90a.co)
add_custom_command(OUTPUT ${package_object}
  COMMAND ${WW_EMULATOR_CLANG} -x cl -cl-std=CL1.2 -target amdgcn-amd-amdhsa -mcpu=gfx90a -O2
          -mcode-object-version=4 -Xclang -finclude-default-header
          --rocm-device-lib-path=${WW_DEVICE_LIBRARIES}
          ${CMAKE_CURRENT_SOURCE_DIR}/test/packages.cl -o ${package_object}
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/test/packages.cl VERBATIM
  COMMENT "Building the emulator's test kernels for packages of several devices")
ww_add_test(exec_packages_test LABEL unit
  SOURCES machine/memory/packages_test.cpp ${package_object} LIBS ww_sim_gpu ww_sim_gpu_truth)
target_compile_definitions(exec_packages_test PRIVATE
  WW_EMULATOR_KERNELS="${package_object}" WW_EMULATOR_PACKAGE_KERNELS="${package_object}")

ww_add_test(exec_cache_test LABEL unit
  SOURCES machine/compute_unit/l1_cache_test.cpp fast/contents/content_version_test.cpp
          machine/compute_unit/line_update_test.cpp
          machine/memory/channel_map_test.cpp
          machine/caches/l2_tags_test.cpp
  LIBS ww_sim_gpu ww_sim_gpu_base)
ww_add_test(exec_image_test LABEL unit OPTIMISED SOURCES machine/image/image_test.cpp LIBS ww_sim_gpu_base)
# What gfx701 has not: halves and moves between lanes.
set(not_on_gfx7 Semantics.ComputesHalves*:Semantics.MovesValues*:SemanticsOfImages.ReadsAndWritesHalves)
ww_add_test(exec_virtual_gpu_test LABEL unit OPTIMISED
  COMMAND exec_virtual_gpu_test --gtest_filter=-${not_on_gfx7}:*OfGfx942.*
  SOURCES machine/launch/virtual_gpu_test.cpp machine/compute_unit/device_memory_test.cpp
          machine/alu/kernel_semantics_test.cpp
          machine/alu/narrow_semantics_test.cpp
          machine/alu/matrix_semantics_test.cpp
          machine/memory/memory_timing_test.cpp fast/commit_sharing/deferred_observer_test.cpp
          machine/launch/chip_time_test.cpp
          machine/compute_unit/scalar_cache_test.cpp
          machine/counters/counters_test.cpp machine/dispatch/cu_mask_test.cpp
          machine/launch/random_code_test.cpp machine/launch/written_code_test.cpp
          machine/launch/global_wave_sync_test.cpp
          fast/replay/replay_test.cpp
          fast/same_answers_test.cpp fast/forms/straight_line_test.cpp
          fast/forms/first_writes_test.cpp fast/forms/lane_forms_test.cpp
          fast/forms/load_addresses_test.cpp fast/host/host_arena_test.cpp fast/host/sharing_rule_test.cpp fast/host/workers_test.cpp
          machine/launch/trace_test.cpp machine/compute_unit/memory_guard_test.cpp
          machine/memory/image_kernels_test.cpp machine/memory/image_memory_test.cpp
  LIBS ww_sim_gpu ww_sim_gpu_truth)
ww_add_test(exec_lanes_test LABEL property
  SOURCES machine/isa/lanes_test.cpp machine/isa/lane_functions_test.cpp machine/isa/settled_values_test.cpp
          machine/memory/bank_conflicts_test.cpp
  LIBS ww_sim_gpu)
foreach(vectors none avx2)
  add_test(NAME exec_lanes_${vectors}
    COMMAND exec_lanes_test --gtest_filter=Lanes.AreNoWiderThanTheEnvironmentAllows)
  set_tests_properties(exec_lanes_${vectors} PROPERTIES LABELS unit TIMEOUT 60
    ENVIRONMENT WIREWATT_VECTORS=${vectors})
endforeach()
ww_add_test(exec_translate_test LABEL property OPTIMISED
  SOURCES fast/translate/translate_test.cpp fast/translate/form_code_test.cpp
          fast/forms/register_sets_test.cpp
  LIBS ww_sim_gpu)
# Single instructions: one object for each instruction set.
set(instruction_objects "")
foreach(cpu gfx701 gfx900 gfx90a gfx942 gfx1030 gfx1100)
  set(compiler ${WW_EMULATOR_CLANG})
  if(cpu MATCHES "gfx942|gfx1100")
    if(NOT WW_EMULATOR_CLANG_19 OR NOT WW_EMULATOR_LLD_19)
      continue()
    endif()
    set(compiler ${WW_EMULATOR_CLANG_19})
  endif()
  set(object ${CMAKE_CURRENT_BINARY_DIR}/emulator_instructions_${cpu}.co)
  add_custom_command(OUTPUT ${object}
    COMMAND ${compiler} -x cl -cl-std=CL1.2 -target amdgcn-amd-amdhsa -mcpu=${cpu} -O2 -nogpulib
            -mcode-object-version=4 -Xclang -finclude-default-header -ffp-contract=off
            ${CMAKE_CURRENT_SOURCE_DIR}/test/instructions.cl -o ${object}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/test/instructions.cl VERBATIM
    COMMENT "Building the emulator's test instructions for ${cpu}")
  list(APPEND instruction_objects ${object})
endforeach()
list(JOIN instruction_objects "\\;" instruction_paths)
ww_add_test(exec_instructions_test LABEL unit
  SOURCES machine/alu/buffer_range_test.cpp machine/alu/instructions_test.cpp ${instruction_objects}
  LIBS ww_sim_gpu ww_sim_gpu_truth)
target_compile_definitions(exec_instructions_test PRIVATE "WW_INSTRUCTION_OBJECTS=\"${instruction_paths}\"")
find_package(CLI11 REQUIRED)
pkg_check_modules(LIBELF REQUIRED IMPORTED_TARGET libelf)
add_executable(isa_coverage machine/launch/isa_coverage.cpp)
target_link_libraries(isa_coverage PRIVATE ww_options ww_sim_gpu CLI11::CLI11 PkgConfig::LIBELF)
ww_add_benchmark(bench_emulator SOURCES machine/launch/emulator_bench.cpp LIBS ww_sim_gpu ww_sim_gpu_truth)
ww_add_fuzz_target(exec_launch_fuzz SOURCES machine/launch/launch_fuzz.cpp LIBS ww_sim_gpu ww_sim_gpu_truth)
if(NOT WW_BUILD_FUZZERS)
  set_tests_properties(exec_launch_fuzz PROPERTIES ENVIRONMENT WW_FUZZ_INPUTS=500)
endif()
foreach(name exec_virtual_gpu_test bench_emulator exec_launch_fuzz)
  add_dependencies(${name} emulator_kernels)
  target_compile_definitions(${name} PRIVATE WW_EMULATOR_KERNELS="${CMAKE_CURRENT_BINARY_DIR}/emulator_kernels_O2.co")
endforeach()
target_compile_definitions(exec_virtual_gpu_test PRIVATE
  WW_EMULATOR_KERNELS_GFX90A="${CMAKE_CURRENT_BINARY_DIR}/emulator_kernels_gfx90a_O2.co")
target_compile_definitions(exec_launch_fuzz PRIVATE
  WW_EMULATOR_IMAGES="${CMAKE_CURRENT_BINARY_DIR}/emulator_images_O2.co"
  WW_EMULATOR_IMAGES_GFX900="${CMAKE_CURRENT_BINARY_DIR}/emulator_images_gfx900_O2.co"
  WW_EMULATOR_IMAGES_GFX90A="${CMAKE_CURRENT_BINARY_DIR}/emulator_images_gfx90a_O2.co"
  WW_EMULATOR_KERNELS_GFX900="${CMAKE_CURRENT_BINARY_DIR}/emulator_kernels_gfx900_O2.co"
  WW_EMULATOR_KERNELS_GFX90A="${CMAKE_CURRENT_BINARY_DIR}/emulator_kernels_gfx90a_O2.co")
# Cases that compare numbers of threads would compare this one with itself, and what texture units take is the same.
set(not_shared RandomCode.*:Launch.G*FullChip*:Threads.*:Findings.DoNotDependOnThreads:ImageMemory.Filtering*)
add_test(NAME exec_virtual_gpu_shared
  COMMAND exec_virtual_gpu_test --gtest_filter=-${not_on_gfx7}:*OfGfx942.*:${not_shared})
set_tests_properties(exec_virtual_gpu_shared PROPERTIES LABELS unit TIMEOUT 600
  ENVIRONMENT WW_EMULATOR_SHARING_THREADS=3)
foreach(level 0 1)
  add_test(NAME exec_kernels_O${level}
    COMMAND exec_virtual_gpu_test --gtest_filter=Semantics*:Launch.R*:Launch.G*:Launch.A*:Launch.K*:-${not_on_gfx7})
  set_tests_properties(exec_kernels_O${level} PROPERTIES LABELS unit TIMEOUT 600
    ENVIRONMENT "WW_EMULATOR_OTHER_KERNELS=${CMAKE_CURRENT_BINARY_DIR}/emulator_kernels_O${level}.co")
endforeach()
set_property(TEST exec_kernels_O1 APPEND PROPERTY LABELS long)
# The same kernels as code of other instruction sets, on chips that execute it.
foreach(cpu IN LISTS other_cpus)
  foreach(level 0 1 2)
    set(chosen Semantics*:Launch.R*:Launch.G*:Launch.A*:Launch.K*:RandomCode.*)
    if(level EQUAL 2 AND NOT cpu MATCHES wave64)
      string(APPEND chosen :*SameAnswers.*)
    endif()
    if(cpu STREQUAL gfx942)
      if(level GREATER 0)  # where scratch is not traffic, too
        string(APPEND chosen :CountersOfGfx942.*)
      endif()
      string(APPEND chosen :-SemanticsOfImages.*)
    elseif(cpu MATCHES "^gfx1(03|10)0")  # without gfx9's indexed registers
      if(cpu MATCHES "^gfx1030" AND level GREATER 0)  # where scratch is not traffic, too
        string(APPEND chosen :CountersOfGfx1030.*)
      endif()
      string(APPEND chosen :-Semantics.MovesValues*)
      if(NOT ${cpu}_O${level} MATCHES ${with_images})
        string(APPEND chosen :SemanticsOfImages.*)
      endif()
      if(cpu MATCHES "^gfx1100" AND level LESS 2)  # damaged code is the same decoder's at each level
        string(APPEND chosen :RandomCode.*)
      endif()
    elseif(cpu STREQUAL gfx90a AND level EQUAL 0)  # of which the compiler makes no samples, nor halves
      string(APPEND chosen :-SemanticsOfImages.Sample*:SemanticsOfImages.WritesTheRegisters*)
      string(APPEND chosen :SemanticsOfImages.ReadsAndWritesHalves)
    endif()
    # The longest ones at two levels each.
    set(longest RandomCode.* Launch.GivesTheSameOnAFullChip*)
    set(left_out "")
    if(level EQUAL 0)
      set(left_out Launch.GivesTheSameOnAFullChip*)
    elseif(level EQUAL 1)
      set(left_out RandomCode.*)
    endif()
    # Code without optimisation is tried on one part of each family. Levels differ in the compiler's work, and level 1
    # lies between the others.
    set(labels unit)
    if(level EQUAL 1 OR (level EQUAL 0 AND NOT cpu MATCHES "^(gfx90a|gfx1030|gfx1100)$"))
      list(APPEND labels long)
    elseif(level EQUAL 0 OR cpu MATCHES wave64)
      # The longest ones see the same decoder and the same units as those of optimised code in waves of the usual size.
      if(left_out)
        list(REMOVE_ITEM longest ${left_out})
      endif()
      if(cpu MATCHES "^gfx1100" AND level LESS 2)
        list(REMOVE_ITEM longest RandomCode.*)
      endif()
      if(longest)
        list(JOIN longest : longest)
        add_test(NAME exec_random_code_${cpu}_O${level} COMMAND exec_virtual_gpu_test --gtest_filter=${longest})
        set_tests_properties(exec_random_code_${cpu}_O${level} PROPERTIES LABELS "unit;long" TIMEOUT 600 ENVIRONMENT
          "WW_EMULATOR_OTHER_KERNELS=${CMAKE_CURRENT_BINARY_DIR}/emulator_kernels_${cpu}_O${level}.co")
      endif()
      set(left_out RandomCode.*:Launch.GivesTheSameOnAFullChip*)
    endif()
    if(left_out AND chosen MATCHES ":-")
      string(APPEND chosen :${left_out})
    elseif(left_out)
      string(APPEND chosen :-${left_out})
    endif()
    add_test(NAME exec_kernels_${cpu}_O${level}
      COMMAND exec_virtual_gpu_test --gtest_filter=${chosen})
    set_tests_properties(exec_kernels_${cpu}_O${level} PROPERTIES LABELS "${labels}" TIMEOUT 600 ENVIRONMENT
      "WW_EMULATOR_OTHER_KERNELS=${CMAKE_CURRENT_BINARY_DIR}/emulator_kernels_${cpu}_O${level}.co")
  endforeach()
endforeach()

ww_add_test(timing_test LABEL unit
  SOURCES machine/timing/directory_test.cpp machine/timing/dram_test.cpp machine/timing/coherence_test.cpp
          machine/timing/fill_table_test.cpp machine/timing/approximation_test.cpp machine/timing/timing_test.cpp
  LIBS ww_sim_gpu ww_sim_gpu_truth)
ww_add_benchmark(bench_timing SOURCES machine/timing/timing_bench.cpp LIBS ww_sim_gpu ww_sim_gpu_truth)
foreach(name timing_test bench_timing)
  add_dependencies(${name} emulator_kernels)
  target_compile_definitions(${name} PRIVATE
    WW_EMULATOR_KERNELS="${CMAKE_CURRENT_BINARY_DIR}/emulator_kernels_O2.co")
endforeach()
# The text of a built-in chip, to change keys of it.
target_include_directories(timing_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/truth/src)
