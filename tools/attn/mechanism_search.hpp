/// Finds mechanisms, and parts of the library that are none, by the words people use for them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <vector>

namespace attn::nn {
struct Mechanism;
}

namespace attn::tools {

/// A part of the library that serves what a user looks for and is no mechanism of its own: a
/// mask, a score modifier, a normaliser, a kernel.
struct LibraryPart {
  std::string words;   ///< that it is looked for by, with spaces between them
  std::string title;   ///< one line
  std::string use;     ///< the call in C++
  std::string header;  ///< "attn/tensor/spec/mask.hpp"
};

const std::vector<LibraryPart>& library_parts();

struct Related {
  std::vector<const nn::Mechanism*> mechanisms;
  std::vector<const LibraryPart*> parts;

  bool empty() const { return mechanisms.empty() && parts.empty(); }
};

/// What has every word of `query` in its name, title, family or paper.
Related related_to(const std::string& query);

/// A word or a name near a query that finds nothing; "" where none is near.
std::string meant_by(const std::string& query);

}  // namespace attn::tools
