/// Stops at once where the compiler is not asked for C++20, with one line that says so. Headers
/// that include no other of the library's include this one.

#pragma once

// SPDX-License-Identifier: Apache-2.0

// A file that is not there ends the compilation; after #error hundreds of lines would follow.
#if __cplusplus < 202002L
#  include "attn needs C++20: compile with -std=c++20"
#endif
