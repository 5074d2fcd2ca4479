# The version with the commit that is built: "0.2.0+git202611201530.1a2b3c4", later ones greater, or "0.2.0" without git. It is
# found when the project is configured, and only few files are told, so that a commit rebuilds little.
include_guard(GLOBAL)
set(WW_VERSION ${PROJECT_VERSION})
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} log -1 --abbrev=7 --date=format:%Y%m%d%H%M --format=+git%cd.%h
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET)
  string(APPEND WW_VERSION "${commit}")
  execute_process(COMMAND ${GIT_EXECUTABLE} log -1 --format=%ct
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE WW_COMMIT_TIME
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
