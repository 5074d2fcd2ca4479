# The JSON library without its literals. "..."_json and "..."_json_pointer are inline functions, and each file that
# includes the header instantiates what their bodies call, which is the whole parser: half a second for each of some
# 200 compilations. Nothing here uses them, so everything includes a copy of the header that lacks them. A
# version of the library in which they look otherwise is used as it is.
include_guard(GLOBAL)
find_package(nlohmann_json REQUIRED)
get_target_property(folders nlohmann_json::nlohmann_json INTERFACE_INCLUDE_DIRECTORIES)
find_file(WW_JSON_HEADER nlohmann/json.hpp HINTS ${folders} REQUIRED)
mark_as_advanced(WW_JSON_HEADER)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${WW_JSON_HEADER})
file(READ ${WW_JSON_HEADER} text)
string(REGEX REPLACE "JSON_HEDLEY_NON_NULL\\(1\\)\ninline nlohmann::json[a-z_:]* operator \"\" _json[a-z_]*\\([^}]*}" ""
       text "${text}")
string(REGEX REPLACE "using nlohmann::literals::json_literals::operator[^\n]*" "" text "${text}")
if(NOT text MATCHES "operator *\"\" *_json")
  ww_write_if_changed(${PROJECT_BINARY_DIR}/json/nlohmann/json.hpp "${text}")
  include_directories(BEFORE SYSTEM ${PROJECT_BINARY_DIR}/json)
endif()
