# Run by the build (cmake -P): copies WEB to WORK, installs the packages of its lock file, builds
# the page and writes it as the C++ source OUT. Without the packages OUT is a table without
# files, so that a build offline goes on; with MUST=ON that is an error.

function(give_up what log)
  string(STRIP "${log}" log)
  string(SUBSTRING "${log}" 0 600 log)
  if(MUST STREQUAL "ON")
    message(FATAL_ERROR "The page cannot be built: ${what}\n${log}")
  endif()
  message(NOTICE "attn serve will have no page: ${what}\n${log}\n"
    "All else is built. To try again, remove ${OUT} and build.")
  file(COPY_FILE "${WEB}/../page/no_assets.cpp" "${OUT}")
endfunction()

function(run_quietly result log)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${WORK}" TIMEOUT 600
    RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err)
  set(${result} "${code}" PARENT_SCOPE)
  set(${log} "${out}${err}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}/src" "${WORK}/style" "${WORK}/public" "${WORK}/dist")
foreach(name src style public package.json package-lock.json .npmrc index.html watch.html
    vite.config.mjs vite.watch.config.mjs tsconfig.json)
  file(COPY "${WEB}/${name}" DESTINATION "${WORK}")
endforeach()

# Packages are installed anew only when the lock file is another.
file(SHA256 "${WEB}/package-lock.json" lock)
set(stamp "${WORK}/node_modules/.attn-lock")
set(installed "")
if(EXISTS "${stamp}")
  file(READ "${stamp}" installed)
endif()
if(NOT installed STREQUAL lock)
  # The packages need no scripts of their own; an offline machine is told so soon.
  run_quietly(failed log "${NPM}" ci --ignore-scripts --no-audit --no-fund --prefer-offline
    --fetch-retries=2 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000
    --loglevel=error)
  if(failed)
    give_up("npm cannot install the packages of tools/web (is there a network?)" "${log}")
    return()
  endif()
  file(WRITE "${stamp}" "${lock}")
endif()

foreach(config vite.config.mjs vite.watch.config.mjs)
  run_quietly(failed log "${NODE}" node_modules/vite/bin/vite.js build --logLevel warn
    --config ${config})
  if(failed)
    give_up("Vite failed" "${log}")
    return()
  endif()
endforeach()
run_quietly(failed log "${NODE}" "${WEB}/embed.mjs" "${WORK}/dist" "${OUT}")
if(failed)
  give_up("the files of the page cannot be embedded" "${log}")
endif()
