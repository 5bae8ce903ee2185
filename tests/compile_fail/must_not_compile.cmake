# Compiles CASE and succeeds when the compiler refuses it with every expected text. A line
# `// expect: some text` of CASE names one; the text is compared as it stands.

file(STRINGS "${CASE}" expectations REGEX "^// expect: ")
if(NOT expectations)
  message(FATAL_ERROR "${CASE}: no `// expect: some text` line")
endif()

execute_process(
  COMMAND "${COMPILER}" -std=c++20 -fsyntax-only "-I${INCLUDE}" "${CASE}"
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(status EQUAL 0)
  message(FATAL_ERROR "${CASE}: compiled, but must not")
endif()

foreach(expectation IN LISTS expectations)
  string(REGEX REPLACE "^// expect: " "" text "${expectation}")
  string(FIND "${output}" "${text}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "${CASE}: refused, but without the words\n  ${text}\n"
      "the compiler said:\n${output}")
  endif()
endforeach()
