# How a folder becomes a target. One folder, one target, one namespace; a target exposes only its
# include/ folder, so that a wrong-way include does not compile.
include_guard(GLOBAL)

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

add_library(ww_options INTERFACE)
target_compile_features(ww_options INTERFACE cxx_std_20)
target_compile_options(ww_options INTERFACE -Wall -Wextra -Wconversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    # GCC 13 and 14 take a reference to an element for one into the temporary name that it is looked up by.
    target_compile_options(ww_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-dangling-reference>)
  endif()
  # GCC collects its garbage from 128 MiB on, again and again in a large file: a twelfth of the time. See ww_large.
  set(heap $<TARGET_PROPERTY:WW_HEAP_KIB>)
  target_compile_options(ww_options INTERFACE
    --param=ggc-min-heapsize=$<IF:$<BOOL:${heap}>,${heap},1048576>)
endif()

# Most of a file's compile time is the headers that it includes, and the templates of theirs that it
# instantiates. A unity build pays for both once for a group of files of a target: 25 files of the command
# line take half the time of three groups of 10. The presets dev and tidy compile each file by itself, so
# that a missing include is found.
option(WW_UNITY "Compile the sources of a target in groups" ON)

# ww_unity(TARGET [SIZE]): compiles TARGET's sources in groups of SIZE (25). A file that repeats a name of another's
# anonymous namespace can be left out by its property SKIP_UNITY_BUILD_INCLUSION.
function(ww_unity target)
  set(size ${ARGN} 25)
  list(GET size 0 size)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${WW_UNITY} UNITY_BUILD_BATCH_SIZE ${size})
  if(WW_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # An included .cpp file is no header: a class of its own may have members of its own types.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# ww_large(TARGET): GCC collects its garbage once or twice in a group of TARGET's sources, which would take up
# to two gigabytes otherwise. That costs no time that could be measured.
function(ww_large target)
  set_target_properties(${target} PROPERTIES WW_HEAP_KIB 262144)
endfunction()

# ww_cold(TARGET): the target's own code is not hot, so that -O1 serves, which compiles in a fifth less
# time. -O0 would make the inline functions slow that it shares with the libraries that it uses.
function(ww_cold target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# ww_glue(TARGET): commands, pages and experiments, whose time is that of the libraries and devices that they call.
# -Og inlines what -O1 does of the libraries' short functions and compiles in three quarters of its time.
function(ww_glue target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-Og>)
endfunction()

# ww_cold_part(TARGET [SOURCES ...]): TARGET is hot, these of its sources are not: ww_cold() for them alone.
# More can be added with target_sources(TARGET_cold ...). Call it when the libraries and the folders of TARGET are set.
function(ww_cold_part target)
  cmake_parse_arguments(ARG "" "" "SOURCES" ${ARGN})
  set(part ${target}_cold)
  add_library(${part} OBJECT ${ARG_SOURCES})
  foreach(property INCLUDE_DIRECTORIES LINK_LIBRARIES COMPILE_DEFINITIONS)
    get_target_property(value ${target} ${property})
    if(value)
      set_property(TARGET ${part} PROPERTY ${property} ${value})
    endif()
  endforeach()
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${part}>)
  ww_unity(${part})
  ww_cold(${part})
  ww_large(${part})
endfunction()

# ww_unoptimised(TARGET): a test runs its own code once; compiling it without optimisation takes a quarter
# less time. Where a test shares much inline code with what it tests, it runs five times as long.
function(ww_unoptimised target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
endfunction()

# GNU's gold links a test in less than half the processor time of GNU's ld. Programs and libraries that are installed
# are linked by the compiler's own choice.
add_library(ww_test_link INTERFACE)
find_program(WW_GOLD ld.gold)
mark_as_advanced(WW_GOLD)
if(WW_GOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  target_link_options(ww_test_link INTERFACE -fuse-ld=gold)
endif()

# What almost every test includes, parsed once for all of them: a test file takes a quarter less time. Only
# headers of libraries whose macros are the same in every target may stand here, or GCC refuses the result.
if(WW_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(WW_BUILD_TESTS AND WW_UNITY)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "")  # as it was, where it is there
  add_executable(ww_test_headers EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/test_headers.cpp)
  target_link_libraries(ww_test_headers PRIVATE ww_options GTest::gmock GTest::gtest_main)
  ww_unoptimised(ww_test_headers)
  target_precompile_headers(ww_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <nlohmann/json.hpp>
    <algorithm> <chrono> <filesystem> <fstream> <functional> <map> <memory> <optional> <sstream> <string>
    <vector>)
endif()

# ww_add_library(NAME SOURCES ... [PUBLIC libs ...] [PRIVATE libs ...])
function(ww_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC include PRIVATE src)
  target_link_libraries(${name} PUBLIC ${ARG_PUBLIC} PRIVATE ww_options ${ARG_PRIVATE})
  ww_unity(${name})
endfunction()

# ww_add_test(NAME LABEL unit|golden|property|fuzz|gpu SOURCES ... LIBS ... [ALONE] [OPTIMISED] [COMMAND ...])
# One GoogleTest executable, registered with ctest under one label. ALONE: its sources repeat short
# names of each other's, so each is compiled by itself. OPTIMISED: its own code is most of its time, as where
# it draws thousands of networks. COMMAND: ctest runs this, which runs the executable.
function(ww_add_test name)
  if(NOT WW_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "ALONE;OPTIMISED" "LABEL;TIMEOUT" "SOURCES;LIBS;COMMAND" ${ARGN})
  if(NOT ARG_COMMAND)
    set(ARG_COMMAND ${name})
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE ww_options ww_test_link ${ARG_LIBS} GTest::gmock GTest::gtest_main)
  if(ARG_OPTIMISED)
    ww_cold(${name})
  else()
    ww_unoptimised(${name})
  endif()
  if(NOT ARG_ALONE)
    ww_unity(${name})
  endif()
  if(TARGET ww_test_headers AND NOT ARG_OPTIMISED)
    target_precompile_headers(${name} REUSE_FROM ww_test_headers)
    target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)  # for ccache
  endif()
  # WW_SHARED_DATA: recordings from real GPUs beside the checkout; tests that read them skip, saying
  # so, where the folder is absent. RC_PARAMS: the same random inputs in every run.
  add_test(NAME ${name} COMMAND ${ARG_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "WW_SOURCE_DIR=${PROJECT_SOURCE_DIR};WW_BINARY_DIR=${PROJECT_BINARY_DIR};WW_SHARED_DATA=${PROJECT_SOURCE_DIR}/../shared;RC_PARAMS=seed=1")
endfunction()

# ww_add_fuzz_target(NAME SOURCES ... LIBS ...): LLVMFuzzerTestOneInput in SOURCES. In a normal
# build it is linked with a plain main that runs a fixed number of mutated inputs, so it stays alive.
# With libFuzzer the target `fuzzers` is all of them.
function(ww_add_fuzz_target name)
  if(NOT WW_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ww_options ww_test_link ${ARG_LIBS})
  if(WW_BUILD_FUZZERS)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    if(NOT TARGET fuzzers)
      add_custom_target(fuzzers)
    endif()
    add_dependencies(fuzzers ${name})
  else()
    if(NOT TARGET ww_fuzz_main)
      add_library(ww_fuzz_main OBJECT ${PROJECT_SOURCE_DIR}/tests/fuzz/plain_main.cpp)
      target_link_libraries(ww_fuzz_main PRIVATE ww_options)
    endif()
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:ww_fuzz_main>)
    ww_cold(${name})
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT 300)
  endif()
endfunction()

# ww_add_benchmark(NAME SOURCES ... LIBS ...): Google Benchmark under the label bench, which
# scripts/test leaves out: ctest --test-dir build/release -L bench -V
function(ww_add_benchmark name)
  if(NOT WW_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  find_package(benchmark REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ww_options ${ARG_LIBS} benchmark::benchmark_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS bench TIMEOUT 900 RUN_SERIAL TRUE)
endfunction()
