# Installs BUILD to a fresh prefix, then configures, builds and runs each project beside this
# file against it, and once more compiles consumer/ by pkg-config alone.

function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(prefix "${SCRATCH}/a prefix")
file(REMOVE_RECURSE "${SCRATCH}")
must("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}")

# Moved, because a path of the build machine must not be needed.
file(RENAME "${prefix}" "${SCRATCH}/moved prefix")
set(prefix "${SCRATCH}/moved prefix")

# A project that calls no kernel function of its own needs neither library below.
set(consumer_options -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON
  -DCMAKE_DISABLE_FIND_PACKAGE_hwy=ON)
set(kernel_options)
set(trainer_options)
foreach(project consumer kernel trainer)
  must("${CMAKE_COMMAND}" -G Ninja -S "${CMAKE_CURRENT_LIST_DIR}/${project}"
    -B "${SCRATCH}/${project}" "-DCMAKE_CXX_COMPILER=${COMPILER}" -DCMAKE_BUILD_TYPE=Release
    "-DCMAKE_PREFIX_PATH=${prefix}" ${${project}_options})
  must("${CMAKE_COMMAND}" --build "${SCRATCH}/${project}" --parallel 2)
  must("${SCRATCH}/${project}/app")
endforeach()

set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
set(ENV{LD_LIBRARY_PATH} "${prefix}/${LIBDIR}")
must("${PKG_CONFIG}" --cflags --libs attn)
separate_arguments(flags UNIX_COMMAND "${output}")
must("${COMPILER}" -std=c++20 "${CMAKE_CURRENT_LIST_DIR}/consumer/main.cpp"
  -o "${SCRATCH}/by-pkg-config" ${flags})
must("${SCRATCH}/by-pkg-config")

# What the layers from gemm on need besides is private: pkg-config --static tells it.
must("${PKG_CONFIG}" --static --cflags --libs attn)
separate_arguments(flags UNIX_COMMAND "${output}")
must("${COMPILER}" -std=c++20 "${CMAKE_CURRENT_LIST_DIR}/trainer/main.cpp"
  -o "${SCRATCH}/trainer-by-pkg-config" ${flags})
must("${SCRATCH}/trainer-by-pkg-config")
