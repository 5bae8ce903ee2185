/// Texts for `attn embed`: where they come from, and many of them encoded with progress.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "attn/tasks/embed/sentence_encoder.hpp"
#include "attn/tensor/tensor.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {

struct TextLines {
  std::vector<std::string> texts;
  std::vector<std::size_t>
      numbers;  ///< of the lines they stand on, or of the arguments; from 1
};

/// The arguments, or the lines of standard input for "-". One that is blank or not UTF-8 is an
/// error: every text has its row of the output.
TextLines given_texts(const std::vector<std::string>& arguments);

/// The lines of a file; blank ones are left out.
TextLines lines_of(const std::string& path);

/// Tells which texts are longer than the encoder reads.
void tell_of_long_texts(const tasks::SentenceEncoder& encoder, const TextLines& texts,
                        const Streams& streams);

/// Calls take(first, vectors) for some texts after the other; says on streams.err how far it is
/// when it takes long.
void encode_in_turns(const tasks::SentenceEncoder& encoder,
                     const std::vector<std::string>& texts, const Streams& streams,
                     const std::function<void(std::size_t, const Tensor&)>& take);

/// [texts, width].
Tensor encode_all(const tasks::SentenceEncoder& encoder, const std::vector<std::string>& texts,
                  const Streams& streams);

}  // namespace attn::tools
