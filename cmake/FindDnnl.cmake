# FindDnnl: oneDNN as Dnnl::dnnl. The package that Debian ships asks for OpenCL's development
# files, which its headers for the CPU do not need.

find_path(Dnnl_INCLUDE_DIR oneapi/dnnl/dnnl.h)
find_library(Dnnl_LIBRARY dnnl)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Dnnl REQUIRED_VARS Dnnl_LIBRARY Dnnl_INCLUDE_DIR)
mark_as_advanced(Dnnl_INCLUDE_DIR Dnnl_LIBRARY)

if(Dnnl_FOUND AND NOT TARGET Dnnl::dnnl)
  add_library(Dnnl::dnnl UNKNOWN IMPORTED)
  set_target_properties(Dnnl::dnnl PROPERTIES
    IMPORTED_LOCATION "${Dnnl_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Dnnl_INCLUDE_DIR}")
endif()
