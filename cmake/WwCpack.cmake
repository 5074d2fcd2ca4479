# Read by cpack for each generator: a .deb for each component, one tarball for all of them.
if(CPACK_GENERATOR MATCHES "TGZ")
  set(CPACK_MONOLITHIC_INSTALL ON)
endif()
