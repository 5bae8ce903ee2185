# FindDlpack: the header that libraries share tensors by, as Dlpack::dlpack.

find_path(Dlpack_INCLUDE_DIR dlpack/dlpack.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Dlpack REQUIRED_VARS Dlpack_INCLUDE_DIR)
mark_as_advanced(Dlpack_INCLUDE_DIR)

if(Dlpack_FOUND AND NOT TARGET Dlpack::dlpack)
  add_library(Dlpack::dlpack INTERFACE IMPORTED)
  set_target_properties(Dlpack::dlpack PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${Dlpack_INCLUDE_DIR}")
endif()
