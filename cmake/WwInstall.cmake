# cmake --install, find_package(wirewatt), and packages (cpack -G DEB, cpack -G TGZ). Everything is found
# from where the program lies (../lib, ../libexec), so the tree can be moved.
include_guard(GLOBAL)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
# One place on every distribution: the program looks for its driver in ../lib.
set(CMAKE_INSTALL_LIBDIR lib)
set(CMAKE_INSTALL_LIBEXECDIR libexec)
# Installing and packing build nothing; build first (targets wirewatt, wirewatt_library, manual).
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

install(TARGETS wirewatt RUNTIME DESTINATION bin COMPONENT program)
install(TARGETS wirewatt_vgpu wirewatt_rocprofiler wirewatt_cupti LIBRARY DESTINATION lib COMPONENT program)
# Where everything was built.
install(TARGETS wirewatt_kokkos LIBRARY DESTINATION lib COMPONENT program OPTIONAL)
install(DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/wirewatt/hip DESTINATION lib/wirewatt
  COMPONENT program)
install(TARGETS wirewatt-compile-worker RUNTIME DESTINATION libexec/wirewatt COMPONENT program)
install(TARGETS wirewatt_library EXPORT wirewatt
  LIBRARY DESTINATION lib COMPONENT library NAMELINK_COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/apps/library/include/wirewatt DESTINATION include
  COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/apps/library/example DESTINATION share/doc/libwirewatt-dev
  COMPONENT development)
install(EXPORT wirewatt NAMESPACE wirewatt:: FILE wirewatt-targets.cmake
  DESTINATION lib/cmake/wirewatt COMPONENT development)
file(WRITE ${PROJECT_BINARY_DIR}/wirewatt-config.cmake
  "include(\"\${CMAKE_CURRENT_LIST_DIR}/wirewatt-targets.cmake\")\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/wirewatt-config-version.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/wirewatt-config.cmake
              ${PROJECT_BINARY_DIR}/wirewatt-config-version.cmake
  DESTINATION lib/cmake/wirewatt COMPONENT development)

# Manual pages and completions, as the program itself describes its commands.
set(manual_folder ${PROJECT_BINARY_DIR}/manual)
add_custom_command(OUTPUT ${manual_folder}/stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual_folder}
  COMMAND $<TARGET_FILE:wirewatt> manual --out ${manual_folder}
  COMMAND find ${manual_folder}/man1 -name "*.1" -exec gzip -9n {} +
  COMMAND ${CMAKE_COMMAND} -E touch ${manual_folder}/stamp
  DEPENDS wirewatt COMMENT "Writing manual pages and completions" VERBATIM)
add_custom_target(manual ALL DEPENDS ${manual_folder}/stamp)
install(DIRECTORY ${manual_folder}/man1 DESTINATION share/man COMPONENT program)
install(FILES ${manual_folder}/wirewatt.bash DESTINATION share/bash-completion/completions
  RENAME wirewatt COMPONENT program)
install(FILES ${manual_folder}/_wirewatt DESTINATION share/zsh/vendor-completions COMPONENT program)
install(FILES ${manual_folder}/wirewatt.fish DESTINATION share/fish/vendor_completions.d
  COMPONENT program)

install(FILES README.md NOTICE DESTINATION share/doc/wirewatt COMPONENT program)
install(DIRECTORY docs/ DESTINATION share/doc/wirewatt/docs COMPONENT program)
install(FILES cmake/lintian-overrides DESTINATION share/lintian/overrides RENAME wirewatt
  COMPONENT program)
install(DIRECTORY sim/gpu/chips model/floorplans DESTINATION share/wirewatt COMPONENT program
  FILES_MATCHING PATTERN "*.toml" PATTERN include EXCLUDE)

# --- packages -------------------------------------------------------------------------------------
set(CPACK_PACKAGE_NAME wirewatt)
set(CPACK_PACKAGE_VENDOR "The wirewatt authors")
# Who answers for packages that are built here, as Debian's own tools ask.
if(DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
else()
  set(CPACK_PACKAGE_CONTACT "The wirewatt authors <wirewatt@users.noreply.github.com>")
endif()
set(CPACK_PACKAGE_VERSION ${WW_VERSION})
set(CPACK_PACKAGE_FILE_NAME wirewatt-${WW_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_COMPONENTS_ALL program library development)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/WwCpack.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME wirewatt)
# Used at run time, so no tool sees them: the OpenCL loader, AMD's compiler, its device code, and the
# OpenCL headers that the compiler's precompiled ones refer to. The last two are of the compiler's own
# LLVM: 15 in Debian 12; 17 in Debian 13 and Ubuntu 24.04, which name its packages by the version.
set(device_libraries rocm-device-libs)
set(llvm 15)
find_file(WW_COMGR_FILE libamd_comgr.so.2 PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
if(WW_COMGR_FILE)
  file(STRINGS ${WW_COMGR_FILE} needed REGEX "^libLLVM-[0-9]+" LIMIT_COUNT 1)
  if(needed MATCHES "^libLLVM-([0-9]+)" AND NOT CMAKE_MATCH_1 EQUAL 15)
    set(llvm ${CMAKE_MATCH_1})
    string(APPEND device_libraries -${llvm})
  endif()
endif()
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS
  "ocl-icd-libopencl1, libamd-comgr2, ${device_libraries}, libclang-common-${llvm}-dev, libdw1")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "librocm-smi64-1, clinfo")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "Runs microbenchmarks on a GPU, fits the energy per bit and millimetre of
its on-chip interconnect, estimates what it draws in applications, and
simulates networks with the fitted constants. A virtual GPU is included;
no GPU is needed.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libwirewatt0)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Library: bracketed measurement inside a program: begin, end, joules by
segment.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libwirewatt-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libwirewatt0 (= ${WW_VERSION})")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "C and C++ headers and the CMake package of libwirewatt.")
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")

# What Debian's policy asks of each package: copyright and changelog. The texts of licences that are
# not Apache's come from the packages whose code is carried.
set(debian ${PROJECT_BINARY_DIR}/debian)
set(copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: wirewatt
Comment: NOTICE lists what the built program carries of others.

Files: *
Copyright: 2026, the wirewatt authors
License: Apache-2.0
 The full text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
")
foreach(carried libjs-chart.js nlohmann-json3-dev libcli11-dev libunits-cpp-dev libexpected-dev libprotobuf-dev
        libeigen3-dev libxbyak-dev)
  if(EXISTS /usr/share/doc/${carried}/copyright)
    file(READ /usr/share/doc/${carried}/copyright text)
    string(REPLACE "\n" "\n " text " ${text}")
    string(REGEX REPLACE "\n[ \t]*\n" "\n .\n" text "${text}")
    string(APPEND copyright "\nComment: of ${carried}, compiled in:\n${text}\n")
  endif()
endforeach()
if(WW_COMMIT_TIME)
  execute_process(COMMAND date -u -R -d @${WW_COMMIT_TIME} OUTPUT_VARIABLE date
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
else()
  set(date "Thu, 01 Jan 2026 00:00:00 +0000")
endif()
foreach(package_component wirewatt:program libwirewatt0:library libwirewatt-dev:development)
  string(REPLACE ":" ";" pair ${package_component})
  list(GET pair 0 package)
  list(GET pair 1 component)
  file(WRITE ${debian}/${package}/copyright "${copyright}")
  file(WRITE ${debian}/${package}/changelog "${package} (${WW_VERSION}) unstable; urgency=medium

  * Built from the commit that the version names.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  execute_process(COMMAND gzip -9nf ${debian}/${package}/changelog)
  install(FILES ${debian}/${package}/copyright ${debian}/${package}/changelog.gz
    DESTINATION share/doc/${package} COMPONENT ${component})
endforeach()
include(CPack)
