# Fails where an archive or object of OUTSIDE refers to a symbol that TRUTH alone defines, and names
# both; or where it carries the text of a chip file's sealed part. INSIDE must refer to a symbol, which
# shows that the comparison finds what it looks for, and TRUTH must carry the text.
cmake_minimum_required(VERSION 3.25)

function(symbols out flags files)
  execute_process(COMMAND ${NM} -P ${flags} ${files} OUTPUT_VARIABLE text ERROR_QUIET
    RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${NM} cannot read ${files}")
  endif()
  # Strong definitions (T, D, B, R) or references (U); inline functions are in many archives.
  string(REGEX MATCHALL "[A-Za-z_][^ \n]* [TDBRU]" found "${text}")
  list(TRANSFORM found REPLACE " .$" "")
  list(REMOVE_DUPLICATES found)
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# references(OUT FILE): the symbols of the truth that FILE refers to.
function(references out file)
  symbols(used "-u" "${file}")
  set(found)
  foreach(symbol IN LISTS used)
    if(DEFINED "sealed_${symbol}")
      list(APPEND found ${symbol})
    endif()
  endforeach()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# sealed_text(OUT FILE): lines of FILE that are of the sealed part of a chip file.
function(sealed_text out file)
  file(STRINGS "${file}" found REGEX "ground_ff_per_mm|noise_relative" LIMIT_COUNT 1)
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

symbols(sealed "-g;--defined-only" "${TRUTH}")
list(LENGTH sealed count)
if(count LESS 10)
  message(FATAL_ERROR "${TRUTH} defines only ${count} symbols; is it the truth?")
endif()
foreach(symbol IN LISTS sealed)
  set("sealed_${symbol}" 1)
endforeach()

foreach(file IN LISTS OUTSIDE)
  references(found "${file}")
  if(found)
    message(FATAL_ERROR "${file} refers to the sealed truth: ${found}")
  endif()
  sealed_text(found "${file}")
  if(found)
    message(FATAL_ERROR "${file} carries the sealed part of a chip file: ${found}")
  endif()
endforeach()
references(found "${INSIDE}")
if(NOT found)
  message(FATAL_ERROR "${INSIDE} refers to nothing of ${TRUTH}: this test would find nothing")
endif()
sealed_text(found "${TRUTH}")
if(NOT found)
  message(FATAL_ERROR "${TRUTH} has no chip file's text: this test would find none")
endif()
