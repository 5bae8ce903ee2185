# What `cmake --install` gives a user: the libraries, their headers, the CMake package (with
# attn_kernel_sources) and a pkg-config file.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/attn")

get_property(layers GLOBAL PROPERTY ATTN_LAYERS)
set(pkgconfig_libs)
set(pkgconfig_needs)
set(find_modules)
# What attn-config.cmake knows of the layers: what they use, and which packages to find for them.
set(package_facts "set(_attn_layers ${layers})\n")
foreach(layer IN LISTS layers)
  install(TARGETS attn_${layer} EXPORT attn FILE_SET HEADERS)
  get_target_property(type attn_${layer} TYPE)
  get_property(uses GLOBAL PROPERTY ATTN_USES_${layer})
  string(APPEND package_facts "set(_attn_uses_${layer} ${uses})\n")
  # Who draws pictures asks CMake for attn::drawing: the others should not load Pango.
  if(NOT type STREQUAL "INTERFACE_LIBRARY" AND NOT layer STREQUAL "drawing")
    # A static linker wants users before what they use; the ladder is written the other way.
    string(PREPEND pkgconfig_libs " -lattn_${layer}")
  endif()
  # A shared library knows what it needs; beside a static one the user's linker has to.
  get_property(packages GLOBAL PROPERTY ATTN_LINKS_${layer})
  list(REMOVE_ITEM packages Threads)
  if(NOT type STREQUAL "STATIC_LIBRARY" OR NOT packages)
    continue()
  endif()
  string(APPEND package_facts "set(_attn_packages_${layer} ${packages})\n")
  foreach(package IN LISTS packages)
    get_property(debian GLOBAL PROPERTY ATTN_DEBIAN_${package})
    get_property(arguments GLOBAL PROPERTY ATTN_ARGS_${package})
    string(APPEND package_facts "set(_attn_debian_${package} ${debian})\n"
      "set(_attn_arguments_${package} ${arguments})\n")
    get_property(library GLOBAL PROPERTY ATTN_LIBRARY_${package})
    list(APPEND pkgconfig_needs ${library})
    if(EXISTS "${PROJECT_SOURCE_DIR}/cmake/Find${package}.cmake")
      list(APPEND find_modules "${PROJECT_SOURCE_DIR}/cmake/Find${package}.cmake")
    endif()
  endforeach()
endforeach()
if(TARGET attn_attn)
  install(TARGETS attn_attn EXPORT attn FILE_SET HEADERS)
  string(APPEND package_facts "list(APPEND _attn_layers attn)\nset(_attn_uses_attn nn)\n")
endif()
string(REPLACE ";" " " package_facts "${package_facts}")
install(EXPORT attn NAMESPACE attn:: FILE attn-targets.cmake DESTINATION "${package_dir}")

configure_package_config_file(cmake/attn-config.cmake.in
  "${PROJECT_BINARY_DIR}/package/attn-config.cmake" INSTALL_DESTINATION "${package_dir}"
  NO_SET_AND_CHECK_MACRO)
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/attn-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
list(REMOVE_DUPLICATES find_modules)
install(FILES
  "${PROJECT_BINARY_DIR}/package/attn-config.cmake"
  "${PROJECT_BINARY_DIR}/package/attn-config-version.cmake"
  cmake/AttnKernelSources.cmake
  ${find_modules}
  DESTINATION "${package_dir}")

# The prefix is found from the place of the file, so that an installed tree can be moved.
file(RELATIVE_PATH pkgconfig_prefix
  "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
set(pkgconfig_cflags)
if(ATTN_ASSERTIONS)
  set(pkgconfig_cflags " -DATTN_DEBUG=1")
endif()
list(REMOVE_DUPLICATES pkgconfig_needs)
foreach(library IN LISTS pkgconfig_needs)
  string(APPEND pkgconfig_libs " ${library}")
endforeach()
configure_file(cmake/attn.pc.in "${PROJECT_BINARY_DIR}/package/attn.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/attn.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
