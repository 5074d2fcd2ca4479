# Compiles kernels for one AMD target into one code object. Run as a script:
#   cmake -DCLANG=clang-19 -DGPU=gfx90a -DVERSION=4 -DWAVE=64 -DOUTPUT=x.co "-DINPUTS=shim.clh;...;x.cl"
#         [-DDEFINES=WW_COUNT_WAVES;WW_LISTED] -P BuildCodeObject.cmake
cmake_minimum_required(VERSION 3.25)
set(source "")
foreach(input IN LISTS INPUTS)
  file(READ ${input} text)
  # Brackets would join list elements.
  string(APPEND source "#line 1 \"${input}\"\n${text}")
endforeach()
file(WRITE ${OUTPUT}.cl "${source}")
set(options)
if(GPU MATCHES "^gfx1" AND WAVE EQUAL 64)
  list(APPEND options -mwavefrontsize64)
endif()
foreach(define IN LISTS DEFINES)
  list(APPEND options -D${define}=1)
endforeach()
execute_process(
  COMMAND ${CLANG} -x cl -cl-std=CL1.2 -cl-no-stdinc -nogpulib --target=amdgcn-amd-amdhsa -mcpu=${GPU}
          -mcode-object-version=${VERSION} -O3 -DWW_WAVE_SIZE=${WAVE}u ${options} -Wl,-s
          -o ${OUTPUT} ${OUTPUT}.cl
  RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  file(REMOVE ${OUTPUT})
  message(FATAL_ERROR "${CLANG} cannot compile ${OUTPUT}.cl for ${GPU}")
endif()
