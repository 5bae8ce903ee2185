/// The non-local block: every cell of a grid looks at every other. Wang, Girshick, Gupta and
/// He, 2018, arXiv:1711.07971.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"

namespace attn::nn {

/// f(x_i, x_j): exp(x_i . x_j); exp(theta_i . phi_j); theta_i . phi_j;
/// relu(w_f . [theta_i; phi_j]). The first two are divided by their sum, the others by the
/// number of j.
enum class NonLocalMode { gaussian, embedded_gaussian, dot, concat };

/// Whether keys and values are max-pooled by 2 in every direction of the grid.
enum class GridPool { none, by_two };

struct NonLocalBlockOptions {
  std::int64_t channels;
  std::int64_t inner;  ///< channels of theta, phi and g; half of `channels` in the paper
  int grid_rank = 2;   ///< 1, 2 or 3
  NonLocalMode mode = NonLocalMode::embedded_gaussian;
  GridPool pool = GridPool::none;
};

struct NonLocalResult {
  Tensor weights;  ///< [batch, cells, cells'] = f / C; not defined unless wanted
  Tensor y;        ///< [batch, inner, cells], cells in row-major order
  Tensor z;        ///< like x
};

/// y_i = (1 / C) sum_j f(x_i, x_j) g(x_j), z = W_z y + x. W_z begins at zero, so the block
/// begins as the identity.
class NonLocalBlock : public Module {
 public:
  explicit NonLocalBlock(const NonLocalBlockOptions& options);

  /// x [batch, channels, length], [batch, channels, height, width] or [batch, channels, depth,
  /// height, width].
  NonLocalResult forward(const Tensor& x, const Want& want = Want::output) const;

 private:
  /// A convolution of one cell.
  struct Map {
    Tensor weight;  ///< [out, in, 1, ...]
    Tensor bias;    ///< [out]
  };
  enum class Start { random, zero };

  Map add_map(const char* name, std::int64_t out, std::int64_t in, Start start);
  static Tensor apply(const Map& map, const Tensor& cells);
  Tensor pooled(const Tensor& cells, const Tensor& like) const;
  Attended look(const Tensor& cells, const Tensor& x, const Want& want) const;

  NonLocalBlockOptions options_;
  Map theta_;
  Map phi_;
  Map g_;
  Map w_z_;
  Tensor w_f_;  ///< [2 inner], of concat
};

}  // namespace attn::nn
