/// Training of subword vocabularies by the program attn-vocabulary.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <span>
#include <string>

#include "attn/text/tokeniser.hpp"

namespace attn::tools {

/// Unknown characters are spelt in bytes, so that any text can be read and written.
text::Tokeniser learn_subwords(std::span<const std::string> lines, std::int64_t size);

}  // namespace attn::tools
