// One function for each instruction set, so that a missing object is a link error.

#pragma once

#if defined(__x86_64__)
#  define FOR_EACH_SET(call) call(avx512) call(avx2) call(sse4)
#else
#  define FOR_EACH_SET(call) call(neon)
#endif

#define DECLARE(set)   \
  namespace app::set { \
  int lanes();         \
  }
FOR_EACH_SET(DECLARE)
#undef DECLARE
