# Compiles one kernel to PTX: shim, shared head and kernel, in this order. Run as a script:
#   cmake -DCLANG=clang-15 -DOUTPUT=x.ptx "-DINPUTS=shim.clh;pin.clh;x.cl" -P BuildPtx.cmake
cmake_minimum_required(VERSION 3.25)
set(source "")
foreach(input IN LISTS INPUTS)
  file(READ ${input} text)
  # Brackets would join list elements.
  string(APPEND source "#line 1 \"${input}\"\n${text}")
endforeach()
file(WRITE ${OUTPUT}.cl "${source}")
# sm_70: the oldest with nanosleep, the wait that the driver's assembler keeps; drivers compile PTX
# for any later part.
execute_process(
  COMMAND ${CLANG} -x cl -cl-std=CL1.2 --target=nvptx64-nvidia-cuda -Xclang -target-cpu
          -Xclang sm_70 -O3 -S -o ${OUTPUT} ${OUTPUT}.cl
  RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  file(REMOVE ${OUTPUT})
  message(FATAL_ERROR "${CLANG} cannot compile ${OUTPUT}.cl to PTX")
endif()
