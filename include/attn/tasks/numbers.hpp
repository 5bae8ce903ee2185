/// Numbers: whether those of a text are in its answer.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::tasks {

/// The runs of digits of a text, in order.
std::vector<std::string> numbers_of(std::string_view text);

struct NumberCounts {
  std::size_t in_texts = 0;
  std::size_t kept = 0;  ///< in the text and in its answer, each as often as it is in both
  std::size_t in_answers = 0;
  std::size_t invented = 0;  ///< in an answer and nowhere in its text
};

/// One answer for each text.
NumberCounts count_numbers(std::span<const std::string> texts,
                           std::span<const std::string> answers);

}  // namespace attn::tasks
