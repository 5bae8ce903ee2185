# The page of `attn serve`: tools/web, built by Vite in the build folder and embedded as the
# library attn_page (tools/page/assets.hpp). Nothing is written into the source tree.

set(ATTN_PAGE AUTO CACHE STRING
  "The page: AUTO (where node and npm are found and its packages can be had), ON, OFF")
set_property(CACHE ATTN_PAGE PROPERTY STRINGS AUTO ON OFF)

# attn_find_node(<why>): sets ATTN_NODE and ATTN_NPM, or <why> to what is missing.
function(attn_find_node why)
  find_program(ATTN_NODE NAMES node nodejs)
  find_program(ATTN_NPM npm)
  set(${why} "" PARENT_SCOPE)
  if(NOT ATTN_NODE OR NOT ATTN_NPM)
    set(${why} "node (18 or later) and npm are not found" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND "${ATTN_NODE}" --version OUTPUT_VARIABLE version ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "^v" "" version "${version}")
  if(version VERSION_LESS 18)
    set(${why} "node ${version} is older than 18" PARENT_SCOPE)
  endif()
endfunction()

# attn_add_page(): the library attn_page; its table is empty where the page cannot be built.
function(attn_add_page)
  set(why "ATTN_PAGE is off")
  if(ATTN_PAGE)
    attn_find_node(why)
  endif()
  set(source "${PROJECT_SOURCE_DIR}/tools/page/no_assets.cpp")
  if(why)
    if(ATTN_PAGE STREQUAL "ON")
      message(FATAL_ERROR "The page cannot be built: ${why}")
    endif()
    message(STATUS "attn serve has no page: ${why}")
  else()
    set(web "${PROJECT_SOURCE_DIR}/tools/web")
    set(source "${PROJECT_BINARY_DIR}/page/assets.cpp")
    file(GLOB_RECURSE files CONFIGURE_DEPENDS
      "${web}/src/*" "${web}/style/*" "${web}/public/*")
    add_custom_command(OUTPUT "${source}"
      COMMAND "${CMAKE_COMMAND}" "-DWEB=${web}" "-DWORK=${PROJECT_BINARY_DIR}/page/web"
        "-DOUT=${source}" "-DNODE=${ATTN_NODE}" "-DNPM=${ATTN_NPM}" "-DMUST=${ATTN_PAGE}"
        -P "${PROJECT_SOURCE_DIR}/cmake/AttnBuildPage.cmake"
      DEPENDS ${files} "${web}/package.json" "${web}/package-lock.json" "${web}/index.html"
        "${web}/watch.html" "${web}/vite.config.mjs" "${web}/vite.watch.config.mjs" "${web}/embed.mjs"
        "${PROJECT_SOURCE_DIR}/cmake/AttnBuildPage.cmake"
      COMMENT "Building the page" VERBATIM)
  endif()
  add_library(attn_page STATIC "${source}")
  target_compile_features(attn_page PUBLIC cxx_std_20)
  target_include_directories(attn_page PUBLIC "${PROJECT_SOURCE_DIR}")
endfunction()

# attn_test_page(): the ctest entry `page`, in a browser; skipped, with a reason, where node or
# the browser is missing.
function(attn_test_page)
  attn_find_node(why)
  if(why OR NOT ATTN_PAGE)
    add_test(NAME page COMMAND "${CMAKE_COMMAND}" -E echo "page: skipped: no page; ${why}")
  else()
    add_test(NAME page COMMAND "${ATTN_NODE}" "${PROJECT_SOURCE_DIR}/tools/web/test/run.mjs"
      --web "${PROJECT_BINARY_DIR}/page/web")
  endif()
  # The longest of all on one core: where tests run beside each other it begins first.
  set_tests_properties(page PROPERTIES SKIP_REGULAR_EXPRESSION "page: skipped" TIMEOUT 900 COST 100)
endfunction()
