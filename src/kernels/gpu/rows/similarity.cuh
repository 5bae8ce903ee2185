/// Similarities on the GPU: those of attn/score/similarity.hpp, chosen at run time.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <type_traits>

#include "attn/kernels/recipe.hpp"
#include "attn/score/similarity.hpp"

namespace attn::gpu {

/// The similarity's own weights for one kv head: none, one or one a channel.
template <class V>
struct SimilarityWeights {
  const V* data = nullptr;
  int count = 0;
};

/// visit(S{}) for the similarity that is asked for.
template <class Visit>
__device__ void visit_similarity(Similarity similarity, int weights, const Visit& visit) {
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

/// Before any scale.
template <class V>
__device__ V similarity_of(Similarity similarity, const V* q, const V* k, int channels,
                           const SimilarityWeights<V>& w) {
  V result{};
  visit_similarity(similarity, w.count,
                   [&](auto s) { result = decltype(s)::score(q, k, channels, w.data); });
  return result;
}

/// What a cosine's gradient needs of the whole vectors; other similarities need nothing.
template <class V>
struct WholeVectors {
  V q_norm{};
  V k_norm{};
  V similarity{};
};

/// Adds the gradients of one channel c; each pointer may be null. A channel of all similarities
/// but the cosine is a similarity of one channel.
template <class V>
__device__ void similarity_backward(Similarity similarity, V ds, V q, V k, int c,
                                    const SimilarityWeights<V>& w, const WholeVectors<V>& whole,
                                    V* dq, V* dk, V* dw) {
  if (similarity == Similarity::cosine) {
    score::Cosine::backward_channel(ds, q, k, whole.q_norm, whole.k_norm, whole.similarity, dq,
                                    dk);
    return;
  }
  const V* own = w.count > 1 ? w.data + c : w.data;
  visit_similarity(similarity, w.count, [&](auto s) {
    using S = decltype(s);
    if constexpr (!std::is_same_v<S, score::Cosine>)
      S::backward(ds, &q, &k, 1, own, dq, dk, dw);
  });
}

}  // namespace attn::gpu
