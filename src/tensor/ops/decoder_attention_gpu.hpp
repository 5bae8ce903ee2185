/// What the decoders' attention shares on the GPU: the source as kernels want it, and the
/// gradients of keys, values and weights after the last step back.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/tensor.hpp"
#include "tensor/gpu/attention_step.hpp"
#include "tensor/ops/attention_decoder_attention.hpp"
#include "tensor/ops/decoder_stack_gpu.hpp"

namespace attn::op {

/// The source of a decoder: its values have passed `reader` [columns, value_dim].
struct GpuSource {
  AttentionInputs in;
  Tensor reader;
  Tensor pooled;   ///< [batch, source, columns]
  Tensor lengths;  ///< on the GPU, or none

  /// `earlier` is the `pooled` of an earlier one; none: it is computed.
  GpuSource(const AttentionInputs& inputs, const Tensor& context_reader,
            const Tensor& earlier = {});

  template <class T>
  gpu::AttentionSource<T> at() const;
  /// Contexts of weights [batch, steps, source]: [batch, steps, value_dim].
  Tensor contexts(const Tensor& weights) const;
};

/// The backward of all steps.
template <class T>
class GpuAttentionBackward {
 public:
  /// weights [batch, steps, source]; d_weights and d_contexts [batch, steps, ...] are what
  /// arrives from outside, and may be undefined.
  GpuAttentionBackward(const GpuSource& source, const Tensor& weights, const Tensor& d_weights,
                       const Tensor& d_contexts);

  /// A step, whose query was `query` and gets its gradient at `d_query`.
  gpu::AttentionStepBackward<T> step(std::int64_t time, Rows<const T> query, Rows<T> d_query,
                                     gpu::Arrive arrive) const;

  /// After all steps, from queries [steps, batch, key_dim]: those of the keys and of w.
  struct OfKeys {
    Tensor keys;
    Tensor score;  ///< none without w
  };
  OfKeys of_keys(Rows<const T> queries) const;
  /// d_read [steps * batch, columns] is what arrived at the pooled columns.
  Tensor d_values(const Tensor& d_read) const;

 private:
  GpuSource source_;
  gpu::AttentionSource<T> at_;
  Tensor weights_;
  Tensor d_weights_;
  Tensor d_contexts_;
  Tensor d_scores_;
  const T* weights_data_;
  const T* d_weights_data_ = nullptr;
  T* d_scores_data_;
  std::int64_t steps_;
};

}  // namespace attn::op
