# The driver's dynamic symbols are the loader's entry points, HIP's, the vgpu ABI and the catalogue
# of chips, and nothing else but the names of their versions.
execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE listing
  RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${NM} failed on ${LIBRARY}")
endif()
string(REGEX MATCHALL "[^ \n]+\n" found "${listing}")
list(TRANSFORM found STRIP)
list(TRANSFORM found REPLACE "@@.*" "")
list(SORT found)
list(FILTER found EXCLUDE REGEX "^(__|_Z2[2-4])?hip")
set(wanted clGetExtensionFunctionAddress clGetPlatformInfo clIcdGetPlatformIDsKHR wirewatt
  ww_vgpu_get_abi ww_vgpu_get_catalog)
if(NOT "${found}" STREQUAL "${wanted}")
  message(FATAL_ERROR "exported: ${found}\nwanted: ${wanted}")
endif()
