# What `cmake --install` gives a user: the libraries, their headers, the CMake package (with
# attn_kernel_sources) and a pkg-config file.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/attn")

get_property(layers GLOBAL PROPERTY ATTN_LAYERS)
set(pkgconfig_libs)
foreach(layer IN LISTS layers)
  install(TARGETS attn_${layer} EXPORT attn FILE_SET HEADERS)
  get_target_property(type attn_${layer} TYPE)
  # Who draws pictures asks CMake for attn::drawing: the others should not load Pango.
  if(NOT type STREQUAL "INTERFACE_LIBRARY" AND NOT layer STREQUAL "drawing")
    # A static linker wants users before what they use; the ladder is written the other way.
    string(PREPEND pkgconfig_libs " -lattn_${layer}")
  endif()
endforeach()
install(EXPORT attn NAMESPACE attn:: FILE attn-targets.cmake DESTINATION "${package_dir}")

configure_package_config_file(cmake/attn-config.cmake.in
  "${PROJECT_BINARY_DIR}/package/attn-config.cmake" INSTALL_DESTINATION "${package_dir}"
  NO_SET_AND_CHECK_MACRO)
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/attn-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/package/attn-config.cmake"
  "${PROJECT_BINARY_DIR}/package/attn-config-version.cmake"
  cmake/AttnKernelSources.cmake
  cmake/FindDnnl.cmake
  cmake/FindPangoCairo.cmake
  cmake/FindUtf8proc.cmake
  DESTINATION "${package_dir}")

# The prefix is found from the place of the file, so that an installed tree can be moved.
file(RELATIVE_PATH pkgconfig_prefix
  "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
set(pkgconfig_cflags)
if(ATTN_ASSERTIONS)
  set(pkgconfig_cflags " -DATTN_DEBUG=1")
endif()
configure_file(cmake/attn.pc.in "${PROJECT_BINARY_DIR}/package/attn.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/attn.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
