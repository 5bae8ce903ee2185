/// How hints name the program: `./attn` where the launcher started it.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>

namespace attn::tools {

/// $ATTN_INVOKED_AS, which the launcher sets to what the user typed, as a word for a shell;
/// "attn" without it.
std::string invocation();

/// `text` with that name in the command lines that it tells: "attn eval pronounce" becomes
/// "./attn eval pronounce". Every hint goes through here.
std::string as_invoked(std::string_view text);

}  // namespace attn::tools
