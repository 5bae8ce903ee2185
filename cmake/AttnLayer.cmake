# attn_layer(<name> [USES <layer>...] [LINKS <target>...] [NEEDS <target>...])
#
# The library of one layer, attn::<name>: headers from include/attn/<name>, sources from
# src/<name>. A layer without sources is an INTERFACE library. USES is public. LINKS holds libraries
# that only the sources see: who links a static layer links them as well, but compiles with none of
# their flags. NEEDS holds header-only targets that only the sources see, so that a user of the
# installed package needs none of them. Files under an isa/ folder are compiled once for each
# instruction set. A layer that ATTN_LAYERS leaves out is not there.

# g++ 12 takes plain uses of std::string for overlapping copies (GCC bug 105329). In a group
# (attn_unity) a local name lies beside the parameters of other files, and a type in a namespace
# without a name no longer in the main file: two warnings that mean nothing there.
# Functors join lanes and bools alike by & and |, which clang would have as && and ||; and it tells
# that stable_sort of libstdc++ 12 calls what libstdc++ itself deprecates.
add_library(attn_warnings INTERFACE)
target_compile_options(attn_warnings INTERFACE
  -Wall -Wextra
  $<IF:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>,$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>,-Wshadow>
  -Wconversion -Wno-sign-conversion
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-bitwise-instead-of-logical>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  $<$<BOOL:${ATTN_WERROR}>:-Werror>)

# attn_split_kernel_sources(<list> <kernel list>): moves the files that lie in an isa/ folder
# from the first list to the second.
function(attn_split_kernel_sources from to)
  set(plain ${${from}})
  set(kernels ${${from}})
  list(FILTER plain EXCLUDE REGEX "/isa/[^/]+\\.cpp$")
  list(FILTER kernels INCLUDE REGEX "/isa/[^/]+\\.cpp$")
  set(${from} ${plain} PARENT_SCOPE)
  set(${to} ${kernels} PARENT_SCOPE)
endfunction()

# attn_precompile(<target> <source>... [HEADERS <header>...]): many small sources read the same
# parts of the standard library, which takes half of their time; few are not worth it. A source
# that does not include the first of HEADERS is left out: CLI11 alone costs it seconds. With
# ATTN_UNITY the sources are compiled in groups and read all of that once.
function(attn_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS")
  if(ATTN_UNITY)
    attn_unity(${target} ${arg_UNPARSED_ARGUMENTS})
    return()
  endif()
  list(LENGTH arg_UNPARSED_ARGUMENTS count)
  if(count LESS_EQUAL 10)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <span> <string>
    <utility> <vector> ${arg_HEADERS})
  if(NOT arg_HEADERS)
    return()
  endif()
  list(GET arg_HEADERS 0 first)
  foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
    file(STRINGS "${source}" included REGEX "#include ${first}")
    if(NOT included)
      set_source_files_properties("${source}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

function(attn_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES;LINKS;NEEDS")
  if(NOT name IN_LIST ATTN_CHOSEN_LAYERS)
    return()
  endif()
  set(include_dir "${PROJECT_SOURCE_DIR}/include")
  set(source_dir "${PROJECT_SOURCE_DIR}/src/${name}")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${include_dir}/attn/${name}/*.hpp")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${source_dir}/*.cpp")
  # gpu/ holds CUDA sources (AttnCuda.cmake) and what calls them; without CUDA, no_gpu/ says so in
  # their place.
  if(ATTN_CUDA)
    list(FILTER sources EXCLUDE REGEX "/no_gpu/")
  else()
    list(FILTER sources EXCLUDE REGEX "/gpu/")
  endif()
  attn_split_kernel_sources(sources kernel_sources)

  set(target attn_${name})
  list(TRANSFORM arg_USES PREPEND attn_)
  if(sources OR kernel_sources)
    add_library(${target} ${sources})
    set(scope PUBLIC)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/src")
    attn_precompile(${target} ${sources})
    foreach(needed IN LISTS arg_NEEDS)
      target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${needed}>)
    endforeach()
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:attn_warnings>)
    if(ATTN_CUDA)
      target_compile_definitions(${target} PRIVATE ATTN_CUDA=1)
    endif()
    if(name MATCHES "^(core|kernels|gemm|tensor|nn|models|text)$")
      target_compile_options(${target} PRIVATE ${ATTN_NUMERIC_OPTIONS})
    endif()
    # The preset asan leaves this out elsewhere; here bytes come from outside.
    if(name STREQUAL "files" AND CMAKE_CXX_FLAGS MATCHES "sanitize=.*undefined")
      target_compile_options(${target} PRIVATE -fsanitize=alignment)
    endif()
    # Shared layers find each other wherever the prefix is moved to.
    set_target_properties(${target} PROPERTIES
      POSITION_INDEPENDENT_CODE ON INSTALL_RPATH "$ORIGIN"
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(attn::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})

  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} ${arg_USES})
  if(arg_LINKS)
    target_link_libraries(${target} PRIVATE ${arg_LINKS})
    list(TRANSFORM arg_LINKS REPLACE "::.*" "")
    set_property(GLOBAL PROPERTY ATTN_LINKS_${name} ${arg_LINKS})
  endif()
  target_sources(${target} ${scope}
    FILE_SET HEADERS BASE_DIRS "${include_dir}" FILES ${headers})
  if(ATTN_ASSERTIONS)
    target_compile_definitions(${target} ${scope} ATTN_DEBUG=1)
  endif()
  if(kernel_sources)
    attn_kernel_sources(${target} ${kernel_sources})
  endif()
  set_property(GLOBAL APPEND PROPERTY ATTN_LAYERS ${name})
endfunction()
