# The GPU half of attn::kernels (ATTN_CUDA=ON): sources from src/kernels/gpu, and an instance of
# forward and backward for each element type and head size of one list, generated into the build
# tree. Included once attn_kernels exists; attn_cuda_layer() adds the GPU half of the layers above.

set(ATTN_CUDA_LIST all CACHE STRING
  "GPU kernels: 'all' types and head sizes, 'quick' (bf16 and float at 64 and 128; f16 at 64, its general kernel alone), or 'least'")
set_property(CACHE ATTN_CUDA_LIST PROPERTY STRINGS all quick least)

# Machine code for Hopper with its own instructions (90a, for the kernels in gpu/hopper), and PTX
# from which the driver makes it for everything from Ampere on.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80-virtual 90a-real CACHE STRING "CUDA architectures")
endif()
enable_language(CUDA)
find_package(CUDAToolkit 12.1 REQUIRED)

set(gpu_types BFloat16 Float16 float)
set(gpu_sizes 32 64 96 128 192 256)
if(ATTN_CUDA_LIST STREQUAL quick)
  set(gpu_types BFloat16 float)
  set(gpu_sizes 64 128)
elseif(ATTN_CUDA_LIST STREQUAL least)
  set(gpu_types BFloat16 float)
  set(gpu_sizes 64)
elseif(NOT ATTN_CUDA_LIST STREQUAL all)
  message(FATAL_ERROR "ATTN_CUDA_LIST is '${ATTN_CUDA_LIST}'; known: all, quick, least")
endif()

set(gpu_generated "${PROJECT_BINARY_DIR}/generated/gpu")
set(gpu_list)
set(gpu_instances)
# Adds a type and head size to the list; `common`: whether common recipes get their own kernels.
macro(attn_gpu_instance type size common)
  string(APPEND gpu_list "ATTN_GPU_INSTANCE(${type}, ${size})\n")
  foreach(pass forward backward)
    set(file "${gpu_generated}/${pass}_${type}_${size}.cu")
    file(CONFIGURE OUTPUT "${file}" CONTENT
      "#define ATTN_GPU_TYPE ${type}\n#define ATTN_GPU_DIM ${size}\n#define ATTN_GPU_COMMON ${common}\n#include \"kernels/gpu/tiles/${pass}_instance.cu\"\n")
    list(APPEND gpu_instances "${file}")
  endforeach()
endmacro()
foreach(type IN LISTS gpu_types)
  foreach(size IN LISTS gpu_sizes)
    attn_gpu_instance(${type} ${size} true)
  endforeach()
endforeach()
if(ATTN_CUDA_LIST STREQUAL quick)
  attn_gpu_instance(Float16 64 false)
endif()
file(CONFIGURE OUTPUT "${gpu_generated}/attn_gpu_instances.inc" CONTENT "${gpu_list}")

# What every CUDA source needs, a user's with functors of their own too: functors call constexpr
# functions of the standard library. 554: a conversion that is never called; 68: constants of
# Philox that are meant as bits. CMake 3.25 does not know cuda_std_20 with CUDA 13.
add_library(attn_cuda_options INTERFACE)
target_compile_options(attn_cuda_options INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --expt-relaxed-constexpr -diag-suppress=554,68>)
# Without a feature CMake would append -std=c++17; this one says C++20 and adds nothing.
target_compile_features(attn_cuda_options INTERFACE cxx_std_20)
target_include_directories(attn_cuda_options INTERFACE
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${gpu_generated}")
target_link_libraries(attn_cuda_options INTERFACE CUDA::cudart_static)

# Objects of their own, because the C++ compiler's warnings mean nothing to nvcc.
file(GLOB gpu_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/kernels/gpu/*.cu"
  "${PROJECT_SOURCE_DIR}/src/kernels/gpu/tiles/*.cu" "${PROJECT_SOURCE_DIR}/src/kernels/gpu/decode/*.cu"
  "${PROJECT_SOURCE_DIR}/src/kernels/gpu/additive/*.cu" "${PROJECT_SOURCE_DIR}/src/kernels/gpu/general/*.cu")
list(FILTER gpu_sources EXCLUDE REGEX "_instance\\.cu$")
add_library(attn_kernels_gpu OBJECT ${gpu_sources} ${gpu_instances})
target_link_libraries(attn_kernels_gpu PRIVATE attn::core attn_cuda_options)
# Divisions and exponentials good to 2^-21: what a soft cap or a Gaussian costs depends on it.
target_compile_options(attn_kernels_gpu PRIVATE -use_fast_math)
if("${CMAKE_CUDA_ARCHITECTURES}" MATCHES "90a")
  target_compile_definitions(attn_kernels_gpu PRIVATE ATTN_GPU_HOPPER=1)
endif()
set_target_properties(attn_kernels_gpu PROPERTIES POSITION_INDEPENDENT_CODE ON)

# The kernels by rows are there for what they say, not for speed, and may be asked in double: they
# do without fast mathematics.
file(GLOB gpu_rows CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/kernels/gpu/rows/*.cu")
add_library(attn_kernels_gpu_rows OBJECT ${gpu_rows})
target_link_libraries(attn_kernels_gpu_rows PRIVATE attn::core attn_cuda_options)
set_target_properties(attn_kernels_gpu_rows PROPERTIES POSITION_INDEPENDENT_CODE ON)

target_sources(attn_kernels PRIVATE
  $<TARGET_OBJECTS:attn_kernels_gpu> $<TARGET_OBJECTS:attn_kernels_gpu_rows>)
target_link_libraries(attn_kernels PUBLIC CUDA::cudart_static)
if(ATTN_INSTALL)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/attn/kernels/gpu"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/attn/kernels" FILES_MATCHING PATTERN "*.cuh")
endif()

# attn_cuda_layer(<layer> [<target>...]): adds src/<layer>/gpu/*.cu to attn_<layer>, which then
# links the targets. Without -use_fast_math: what ops compute agrees with the CPU.
function(attn_cuda_layer layer)
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${layer}/gpu/*.cu")
  add_library(attn_${layer}_gpu OBJECT ${sources})
  target_link_libraries(attn_${layer}_gpu PRIVATE attn::core attn_cuda_options ${ARGN})
  set_target_properties(attn_${layer}_gpu PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_sources(attn_${layer} PRIVATE $<TARGET_OBJECTS:attn_${layer}_gpu>)
  target_link_libraries(attn_${layer} PUBLIC CUDA::cudart_static ${ARGN})
endfunction()
