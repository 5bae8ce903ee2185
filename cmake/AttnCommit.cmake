# The commit that the program tells with --version.
#
# Included, it defines attn_add_commit(): the library attn_commit, of one generated source that is
# looked at in every build and written only when the commit is another. So a commit costs one
# small file and a link.
#
# Run by the build (cmake -P) with SOURCE and OUT, it writes that file.

if(CMAKE_SCRIPT_MODE_FILE)
  # Another repository may lie above a copy of the sources.
  set(commit unknown)
  if(EXISTS "${SOURCE}/.git")
    execute_process(COMMAND git describe --always --dirty --tags --match "v*"
      WORKING_DIRECTORY "${SOURCE}" RESULT_VARIABLE failed OUTPUT_VARIABLE described ERROR_QUIET
      OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(failed EQUAL 0 AND described MATCHES "^[A-Za-z0-9._-]+$")
      set(commit "${described}")
    endif()
  endif()
  set(text "namespace attn::tools {\n\
extern const char* const kCommit;\n\
const char* const kCommit = \"${commit}\";\n\
}  // namespace attn::tools\n")
  set(before "")
  if(EXISTS "${OUT}")
    file(READ "${OUT}" before)
  endif()
  if(NOT before STREQUAL text)
    file(WRITE "${OUT}" "${text}")
  endif()
  return()
endif()

set(ATTN_COMMIT_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

function(attn_add_commit)
  set(source "${PROJECT_BINARY_DIR}/commit.cpp")
  add_custom_target(attn_commit_source
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DOUT=${source}"
      -P "${ATTN_COMMIT_SCRIPT}"
    BYPRODUCTS "${source}" COMMENT "" VERBATIM)
  add_library(attn_commit STATIC "${source}")
  add_dependencies(attn_commit attn_commit_source)
endfunction()
