/// Similarities of packed rows. Dot, cosine and sum are one product of prepared rows; distance
/// sums squared differences directly, so that close neighbours far from zero keep their digits.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"
#include "attn/kernels/cpu/lane.hpp"
#include "attn/kernels/cpu/target.hpp"
#include "attn/kernels/recipe.hpp"
#include "kernels/cpu/additive/additive.hpp"
#include "kernels/cpu/additive/forward.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/packed/pack.hpp"
#include "kernels/cpu/plan.hpp"

namespace attn::cpu::inline ATTN_TARGET {

/// A vector no longer than this has no direction.
inline constexpr float kNoDirection = 1e-8f;

/// Channels of prepared rows: sum becomes the product (q, 1) . (1, k), additive keeps the range
/// of a key behind its channels.
ATTN_FN int depth_of(const Plan& plan) {
  if (plan.similarity == Similarity::sum) return 2;
  if (plan.similarity == Similarity::given) return 0;
  if (plan.similarity == Similarity::additive) return additive_depth(plan.channels);
  return plan.channels;
}

/// The weights of the similarity for the queries of one kv head.
ATTN_FN const float* weights_of(const Plan& plan, int kv_head) {
  return static_cast<const float*>(plan.weights.data) + kv_head * plan.weights.strides[1];
}

enum class Side { query, key };

/// 1 / |row|, or 0 where the row has no direction.
ATTN_FN float inverse_norm(const float* row, int channels) {
  float squares = 0.0f;
  for (int c = 0; c < channels; ++c) squares += row[c] * row[c];
  const float norm = attn::sqrt(squares);
  return norm <= kNoDirection ? 0.0f : 1.0f / norm;
}

/// Prepares fp32 rows in place; `stride` has room for depth_of(plan).
[[gnu::noinline]] inline void prepare_rows(const Plan& plan, int kv_head, Side side,
                                           float* rows, std::int64_t stride, int count) {
  const int channels = plan.channels;
  for (int r = 0; r < count; ++r) {
    float* row = rows + r * stride;
    switch (plan.similarity) {
      case Similarity::dot:
        if (side == Side::query && plan.scale != 1.0f)
          for (int c = 0; c < channels; ++c) row[c] *= plan.scale;
        break;
      case Similarity::cosine: {
        const float factor =
            inverse_norm(row, channels) * (side == Side::query ? plan.scale : 1.0f);
        for (int c = 0; c < channels; ++c) row[c] *= factor;
        break;
      }
      case Similarity::distance:
        if (plan.weights.data != nullptr) {
          const float* w = weights_of(plan, kv_head);
          for (int c = 0; c < channels; ++c) row[c] *= w[c * plan.weights.strides[3]];
        }
        break;
      case Similarity::sum:
        if (side == Side::query) {
          row[1] = 1.0f;
        } else {
          row[1] = row[0];
          row[0] = 1.0f;
        }
        break;
      case Similarity::additive:
        if (side == Side::key) prepare_additive_key(row, channels);
        break;
      case Similarity::given:
        break;
    }
  }
}

/// s [rows, cols] = similarity of prepared queries and panels of prepared keys.
ATTN_FN void score_block(const Plan& plan, int kv_head, int rows, int cols, const float* q,
                         std::int64_t q_stride, Panels panels, float* s,
                         std::int64_t s_stride) {
  const int depth = depth_of(plan);
  const int padded = round_up(cols, kLanes);
  if (plan.similarity == Similarity::additive) {
    additive_scores(rows, padded, plan.channels, q, q_stride, panels, weights_of(plan, kv_head),
                    plan.weights.strides[3], s, s_stride);
  } else if (plan.similarity == Similarity::distance) {
    multiply_packed<false, Inner::square>(rows, padded, depth, {q, q_stride, 1}, panels, s,
                                          s_stride);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < padded; c += kLanes) {
        float* place = s + r * s_stride + c;
        (Lane::load(place) * Lane(-0.5f)).store(place);
      }
  } else {
    multiply_packed<false>(rows, padded, depth, {q, q_stride, 1}, panels, s, s_stride);
  }
}

}  // namespace attn::cpu::inline ATTN_TARGET
