/// Network: the Transformer of the sentence encoder, from numbers of pieces to vectors.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <vector>

#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/embed/graph_weights.hpp"

namespace attn::tasks {

/// Two layers that normalise first; the first widens, so its residual is projected as well. The
/// mean over the pieces goes through tanh(x W + b) and is brought to length one.
class Network {
 public:
  explicit Network(const GraphWeights& weights);

  void to(Device device);
  Device device() const { return table_.device(); }

  /// ids i64 [batch, pieces], of which lengths i64 [batch] (all above 0) count
  /// -> [batch, width], all on the network's device.
  Tensor operator()(const Tensor& ids, const Tensor& lengths) const;

  std::int64_t rows() const { return table_.size(0); }  ///< pieces it has a vector for
  std::int64_t width() const { return last_.bias.size(0); }
  std::int64_t max_pieces() const { return timing_.size(0); }

 private:
  struct Dense {
    Tensor weight;  ///< [out, in]
    Tensor bias;
  };

  static Dense dense(const GraphWeights& weights, const std::string& kernel,
                     const std::string& bias, std::int64_t in, std::int64_t out = -1);
  nn::TransformerLayer layer(const GraphWeights& weights, int index, std::int64_t width) const;

  std::int64_t heads_ = 0;
  double eps_ = 0.0;
  double least_square_ = 0.0;  ///< of a vector that is brought to length one
  Tensor table_;               ///< [rows, features]
  Tensor timing_;              ///< [max pieces, features]: sines, then cosines
  std::vector<nn::TransformerLayer> layers_;
  Dense last_;
};

}  // namespace attn::tasks
