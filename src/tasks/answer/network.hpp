/// The network that answers questions about pictures.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <string>

#include "attn/tasks/network.hpp"

namespace attn::tasks::vqa {

struct NetworkOptions {
  std::string attention;  ///< one of attentions()
  std::int64_t channels;  ///< of a place, a word, a phrase
  std::int64_t hidden;    ///< of the answer
  std::int64_t grid;      ///< rows and columns of places
  std::int64_t hops;      ///< looks
};

/// The lexicon has the vocabulary "words" and, among its facts, the list "answers" and what
/// questions are "about", which is the variant. FileError,
/// which begins with `where`, where it has not.
std::shared_ptr<Network> make_network(const NetworkOptions& options, const Lexicon& lexicon,
                                      const std::string& where);

}  // namespace attn::tasks::vqa
