# attn_kernel_sources(<target> <file.cpp>...)
#
# Compiles each file once for each instruction set and adds the objects to <target>, which may
# be a program or a static or shared library. A file sees
#
#   ATTN_TARGET=<set>         the name of the set, and of the namespace its code belongs in
#   ATTN_TARGET_<SET>=1       the same, for the preprocessor
#   HWY_COMPILE_ONLY_STATIC   Highway then builds for the flags of this object alone
#
# and everything that <target> gives its other files: include directories, definitions,
# options, features. Highway is used as headers only.

# x86-64-v3 and -v4 leave out AES and CLMUL; without them Highway 1.0.3 takes the object for
# SSSE3 and says nothing.
set(_attn_flags_avx512 -march=x86-64-v4 -maes -mpclmul)
set(_attn_flags_avx2 -march=x86-64-v3 -maes -mpclmul)
set(_attn_flags_sse4 -march=x86-64-v2 -maes -mpclmul)
# Without AES Highway 1.0.3 does not take an object for NEON either.
set(_attn_flags_neon -march=armv8-a+crypto)

function(attn_instruction_sets result)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
    set(${result} avx512 avx2 sse4 PARENT_SCOPE)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
    set(${result} neon PARENT_SCOPE)
  else()
    message(FATAL_ERROR "attn_kernel_sources: no instruction set is known for processor "
      "'${CMAKE_SYSTEM_PROCESSOR}'; known: x86_64, aarch64")
  endif()
endfunction()

function(attn_kernel_sources target)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "attn_kernel_sources: '${target}' is not a target; "
      "add_executable or add_library comes first")
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    message(FATAL_ERROR "attn_kernel_sources: '${target}' is an INTERFACE library and holds "
      "no objects; a program, static or shared library is needed")
  endif()
  _attn_find_highway(highway)

  set(files)
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    list(APPEND files "${file}")
  endforeach()

  attn_instruction_sets(sets)
  foreach(set IN LISTS sets)
    set(objects ${target}_${set})
    if(NOT TARGET ${objects})
      _attn_kernel_objects(${target} ${set} ${objects} "${highway}")
    endif()
    target_sources(${objects} PRIVATE ${files})
  endforeach()
endfunction()

# The folder of Highway's headers, the same for every machine: its CMake package is one of the build
# machine's libraries and is not found where another machine's code is compiled.
function(_attn_find_highway result)
  find_package(hwy QUIET)
  if(TARGET hwy::hwy)
    set(${result} "$<TARGET_PROPERTY:hwy::hwy,INTERFACE_INCLUDE_DIRECTORIES>" PARENT_SCOPE)
    return()
  endif()
  find_path(ATTN_HIGHWAY_INCLUDE_DIR hwy/highway.h DOC "The folder that holds hwy/highway.h")
  if(NOT ATTN_HIGHWAY_INCLUDE_DIR)
    message(FATAL_ERROR "attn_kernel_sources: Highway's headers were not found (Debian: "
      "libhwy-dev); -DATTN_HIGHWAY_INCLUDE_DIR=FOLDER says where hwy/highway.h is")
  endif()
  mark_as_advanced(ATTN_HIGHWAY_INCLUDE_DIR)
  set(${result} "${ATTN_HIGHWAY_INCLUDE_DIR}" PARENT_SCOPE)
endfunction()

# The object library of one target and one instruction set, empty as yet.
function(_attn_kernel_objects target set objects highway)
  string(TOUPPER ${set} upper)
  add_library(${objects} OBJECT)
  target_compile_features(${objects} PRIVATE
    cxx_std_20 $<TARGET_PROPERTY:${target},COMPILE_FEATURES>)
  target_include_directories(${objects} PRIVATE
    $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  target_include_directories(${objects} SYSTEM PRIVATE ${highway})
  # Highway's own assertions abort the process and would need its library.
  target_compile_definitions(${objects} PRIVATE
    $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>
    ATTN_TARGET=${set} ATTN_TARGET_${upper}=1 HWY_COMPILE_ONLY_STATIC HWY_IS_DEBUG_BUILD=0)
  # Under the sanitizers these files take minutes: attention.cpp 268 s at -O3, 42 s at -O1;
  # stages.cpp over a minute at -O1, 17 s if the scopes of lanes are not watched. A build that
  # runs none of them says ATTN_KERNEL_OPTIMISE=-O0: gemm's product.cpp 19 s at -O3, 4 s so.
  set(optimise -O3)
  if(ATTN_KERNEL_OPTIMISE)
    set(optimise ${ATTN_KERNEL_OPTIMISE})
  elseif("${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
    set(optimise -O1 -fno-sanitize-address-use-after-scope)
  endif()
  # Link-time optimisation would mix code of different instruction sets.
  target_compile_options(${objects} PRIVATE
    $<TARGET_PROPERTY:${target},COMPILE_OPTIONS>
    ${optimise} -fno-math-errno -fno-trapping-math -fno-lto ${_attn_flags_${set}})
  set_target_properties(${objects} PROPERTIES
    CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF)
  foreach(property CXX_VISIBILITY_PRESET VISIBILITY_INLINES_HIDDEN)
    get_target_property(value ${target} ${property})
    if(value)
      set_target_properties(${objects} PROPERTIES ${property} ${value})
    endif()
  endforeach()
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  set_property(TARGET ${target} APPEND PROPERTY ATTN_KERNEL_OBJECTS ${objects})
endfunction()
