/// The similarities of attn/score/similarity.hpp, chosen at run time.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/macros.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/score/similarity.hpp"  // IWYU pragma: export

namespace attn {

/// visit(S{}) for the similarity that is asked for.
template <class Visit>
ATTN_FN void visit_similarity(Similarity similarity, int weights, const Visit& visit) {
  switch (similarity) {
    case Similarity::dot:
      return visit(score::Dot{});
    case Similarity::distance:
      if (weights == 0) return visit(score::Distance<score::Width::none>{});
      if (weights == 1) return visit(score::Distance<score::Width::scalar>{});
      return visit(score::Distance<score::Width::channel>{});
    case Similarity::additive:
      return visit(score::Additive{});
    case Similarity::cosine:
      return visit(score::Cosine{});
    case Similarity::sum:
      return visit(score::Sum{});
    case Similarity::given:
      return visit(score::Given{});
  }
}

}  // namespace attn
