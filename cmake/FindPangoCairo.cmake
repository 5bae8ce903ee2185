# FindPangoCairo: drawing with text in any script as PangoCairo::pangocairo.

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PangoCairo QUIET IMPORTED_TARGET pangocairo)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(PangoCairo REQUIRED_VARS PangoCairo_LINK_LIBRARIES
  VERSION_VAR PangoCairo_VERSION)

if(PangoCairo_FOUND AND NOT TARGET PangoCairo::pangocairo)
  add_library(PangoCairo::pangocairo INTERFACE IMPORTED)
  target_link_libraries(PangoCairo::pangocairo INTERFACE PkgConfig::PangoCairo)
endif()
