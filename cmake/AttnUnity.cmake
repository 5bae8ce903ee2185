# attn_unity(<target> <source>...): compiles the sources in groups of at most ATTN_UNITY, so that
# what many of them instantiate is compiled once. Under the sanitizers that is most of the time:
# the commands of tools/attn took 470 s one by one and 75 s in groups.
#
# Files that define the same name at the left margin, such as a helper in a namespace without a
# name, go to different groups. A clash that this does not see, say with a name of a header that
# another file of the group includes, is an error of the compiler: rename the local one.
#
# Sources that match ATTN_ALONE stay outside: a change of one then compiles that one.

function(attn_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(groups 0)
  foreach(source IN LISTS ARGN)
    if(ATTN_ALONE AND source MATCHES "${ATTN_ALONE}")
      continue()
    endif()
    _attn_names_at_margin("${source}" names)
    set(group 1)
    while(group LESS_EQUAL groups)
      set(free ${names})
      list(REMOVE_ITEM free "" ${names_${group}})
      if("${free}" STREQUAL "${names}" AND size_${group} LESS ATTN_UNITY)
        break()
      endif()
      math(EXPR group "${group} + 1")
    endwhile()
    if(group GREATER groups)
      set(groups ${group})
      set(size_${group} 0)
    endif()
    math(EXPR size_${group} "${size_${group}} + 1")
    list(APPEND names_${group} ${names})
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()

# The names that lines at the left margin define: `double mean(`, `constexpr int kMost = 8;`,
# `struct Row {`, `using Json = `. A name too many costs a group, no more.
function(_attn_names_at_margin source result)
  file(READ "${source}" text)
  string(REGEX REPLACE "[][;]" "?" text "${text}")  # they mean something to lists
  _attn_without_raw_strings(text)
  string(REGEX MATCHALL "\n[A-Za-z][^\n]*" lines "${text}")
  set(names)
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "<.*>" "" line "${line}")
    string(REGEX REPLACE "( final)? : .*" "{" line "${line}")  # a base, or the initialisers
    # Members, and what may be said twice. Names of tests are compared by the linker.
    if(line MATCHES "^\n(namespace|using [^=]*$|[A-Z_]+\\(|[^(=]*::~?[A-Za-z0-9_]+\\()")
      continue()
    endif()
    if(line MATCHES "([A-Za-z0-9_]+)( =( |$)| ?[?({])")
      list(APPEND names ${CMAKE_MATCH_1})
    endif()
    string(REGEX MATCHALL ", [A-Za-z0-9_]+ = " more "${line}")
    list(TRANSFORM more REPLACE "[, =]" "")
    list(APPEND names ${more})
  endforeach()
  list(REMOVE_DUPLICATES names)
  set(${result} "${names}" PARENT_SCOPE)
endfunction()

# Cuts R"(...)" out of the text: a snippet in it defines nothing.
function(_attn_without_raw_strings variable)
  set(rest "${${variable}}")
  set(kept "")
  string(FIND "${rest}" "R\"(" begin)
  while(begin GREATER_EQUAL 0)
    string(SUBSTRING "${rest}" 0 ${begin} before)
    string(APPEND kept "${before}")
    string(SUBSTRING "${rest}" ${begin} -1 rest)
    string(FIND "${rest}" ")\"" end)
    math(EXPR end "${end} + 2")
    string(SUBSTRING "${rest}" ${end} -1 rest)
    string(FIND "${rest}" "R\"(" begin)
  endwhile()
  set(${variable} "${kept}${rest}" PARENT_SCOPE)
endfunction()
