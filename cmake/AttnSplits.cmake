# attn_embed_splits(<target>): data/splits/*.tsv as texts inside a library, so that an installed
# program has them wherever it lies.
function(attn_embed_splits target)
  file(GLOB lists CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/data/splits/*.tsv")
  set(rows "")
  foreach(list IN LISTS lists)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")
    get_filename_component(name "${list}" NAME_WE)
    file(READ "${list}" text)
    string(APPEND rows "    {\"${name}\", R\"attn(${text})attn\"},\n")
  endforeach()
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/splits.inc" CONTENT "@rows@" @ONLY)
  target_include_directories(${target} PRIVATE "${PROJECT_BINARY_DIR}/generated")
endfunction()
