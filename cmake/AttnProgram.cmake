# attn_install_program(<target> [OPTIONAL]): installs a program, which finds shared libraries of the
# same prefix. OPTIONAL: only where it was built; `./attn` builds what it needs and no more.

function(attn_install_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIONAL" "" "")
  if(NOT ATTN_INSTALL)
    return()
  endif()
  file(RELATIVE_PATH libraries "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}")
  if(arg_OPTIONAL)
    install(TARGETS ${target} OPTIONAL)
  else()
    install(TARGETS ${target})
  endif()
endfunction()
