/// Tile kernels that go score by score, for functors that only one file can name: a lambda.
/// They need neither Highway nor attn_kernel_sources(), and are as fast as the compiler makes
/// the loop.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/kernels/stage.hpp"

namespace attn::cpu {

template <class F>
struct ScalarTile {
  static void forward(const void* functor, const Table* tables, const TilePlace& at, float* s,
                      std::int64_t stride) {
    const F f = *static_cast<const F*>(functor);
    for (int r = 0; r < at.rows; ++r) {
      const Params<float> p{tables, at.batch, at.head, at.q + r};
      float* row = s + r * stride;
      for (int c = 0; c < at.cols; ++c)
        row[c] = call_forward(f, row[c], Site<float>{at.batch, at.head, at.q + r, at.k + c}, p);
    }
  }

  static void backward(const void* functor, const Table* tables, const TableGrad* grads,
                       int slots, const TilePlace& at, const float* s, float* grad,
                       std::int64_t stride) {
    const F f = *static_cast<const F*>(functor);
    for (int r = 0; r < at.rows; ++r) {
      const Params<float> p{tables, at.batch, at.head, at.q + r};
      const ParamGrads<float> g{grads, at.batch, at.head, at.q + r};
      for (int c = 0; c < at.cols; ++c) {
        float& down = grad[r * stride + c];
        // A masked score has gradient zero, whatever it and its slope are.
        if (down == 0.0f) continue;
        const Site<float> site{at.batch, at.head, at.q + r, at.k + c};
        down = call_backward(f, down, s[r * stride + c], site, p, g, slots);
      }
    }
  }

  static constexpr PointwiseOps kOps{&forward, &backward};
};

}  // namespace attn::cpu
