// SPDX-License-Identifier: Apache-2.0

#include "attn/text/metrics/references.hpp"

#include <cstddef>

#include "attn/core/error.hpp"

namespace attn::text {

void check_references(Hypotheses hypotheses, References references, const char* where) {
  if (hypotheses.size() != references.size())
    fail(where, ": ", hypotheses.size(), " hypotheses and references for ", references.size(),
         " lines; their counts must agree");
  if (hypotheses.empty()) fail(where, ": there is nothing to score");
  for (std::size_t i = 0; i < references.size(); ++i)
    if (references[i].empty()) fail(where, ": line ", i + 1, " has no reference");
}

}  // namespace attn::text
