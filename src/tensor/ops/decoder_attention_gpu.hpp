/// What the decoders' attention shares on the GPU: the source as kernels want it, and the
/// gradients of keys, values and weights after the last step back.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/gemm/gemm.hpp"
#include "attn/gemm/gpu.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/gpu/steps.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/attention_decoder_attention.hpp"
#include "tensor/ops/attention_decoder_common.hpp"
#include "tensor/ops/decoder_stack_gpu.hpp"
#include "tensor/ops/multiplied.hpp"

namespace attn::op {

/// The columns of the lowest layer's weight for the embedding, and for what else it reads.
struct InputColumns {
  Tensor embedding;
  Tensor other;

  InputColumns(const Tensor& weight, std::int64_t embedding_columns, InputOrder order) {
    const std::int64_t all = weight.size(1);
    const bool first = order == InputOrder::embedding_first;
    const std::int64_t cut = first ? embedding_columns : all - embedding_columns;
    const Tensor left = weight.slice(1, 0, cut);
    const Tensor right = weight.slice(1, cut, all);
    embedding = first ? left : right;
    other = first ? right : left;
  }
};

/// The source of a decoder: its values have passed `reader` [columns, value_dim].
struct GpuSource {
  AttentionInputs in;
  Tensor reader;
  Tensor pooled;   ///< [batch, source, columns]
  Tensor lengths;  ///< on the GPU, or none

  /// `earlier` is the `pooled` of an earlier one; none: it is computed.
  GpuSource(const AttentionInputs& inputs, const Tensor& context_reader,
            const Tensor& earlier = {})
      : in(inputs),
        reader(context_reader.detach()),
        pooled(earlier.defined()
                   ? earlier
                   : multiplied(in.values.detach().flatten(0, 1), reader.transpose(0, 1))
                         .reshape({in.values.size(0), in.values.size(1), reader.size(0)})) {
    if (in.lengths.defined()) lengths = in.lengths.to(Device::gpu).contiguous();
  }

  template <class T>
  gpu::AttentionSource<T> at() const {
    return {.rows = in.keys.size(0),
            .keys_count = in.keys.size(1),
            .key_dim = in.keys.size(2),
            .columns = pooled.size(2),
            .lengths = numbers_or_null<std::int64_t>(lengths),
            .keys = numbers<const T>(in.keys),
            .pooled = numbers<const T>(pooled),
            .score = numbers_or_null<T>(in.score)};
  }
  /// Contexts of weights [batch, steps, source]: [batch, steps, value_dim].
  Tensor contexts(const Tensor& weights) const {
    return multiplied(weights, in.values.detach());
  }
};

/// The backward of all steps.
template <class T>
class GpuAttentionBackward {
 public:
  /// weights [batch, steps, source]; d_weights and d_contexts [batch, steps, ...] are what
  /// arrives from outside, and may be undefined.
  GpuAttentionBackward(const GpuSource& source, const Tensor& weights, const Tensor& d_weights,
                       const Tensor& d_contexts)
      : source_(source),
        at_(source.at<T>()),
        weights_(weights),
        d_weights_(d_weights.defined() ? d_weights.contiguous() : Tensor()),
        d_contexts_(d_contexts),
        d_scores_(Tensor::empty(weights.shape(), kDType<T>, Device::gpu)),
        steps_(weights.size(1)) {
    if (!d_contexts_.defined()) return;
    const Tensor more = multiplied(d_contexts_, source_.in.values.transpose(1, 2));
    d_weights_ = d_weights_.defined() ? add(d_weights_, more) : more;
  }

  /// A step, whose query was `query` and gets its gradient at `d_query`.
  gpu::AttentionStepBackward<T> step(std::int64_t time, Rows<const T> query, Rows<T> d_query,
                                     gpu::Arrive arrive) const {
    const std::int64_t first = time * at_.keys_count;
    const T* d_weights = numbers_or_null<T>(d_weights_);
    return {.at = at_,
            .query = query.data,
            .query_stride = query.stride,
            .weights = numbers<const T>(weights_) + first,
            .weights_stride = steps_ * at_.keys_count,
            .d_weights = d_weights == nullptr ? nullptr : d_weights + first,
            .d_scores = numbers<T>(d_scores_) + first,
            .d_query = d_query.data,
            .d_query_stride = d_query.stride,
            .arrive = arrive};
  }

  /// After all steps, from queries [steps, batch, key_dim]: those of the keys and of w.
  struct OfKeys {
    Tensor keys;
    Tensor score;  ///< none without w
  };
  OfKeys of_keys(Rows<const T> queries) const {
    const Tensor& keys = source_.in.keys;
    if (steps_ == 0)
      return {Tensor::zeros(keys.shape(), kDType<T>, Device::gpu),
              source_.in.score.defined()
                  ? Tensor::zeros(source_.in.score.shape(), kDType<T>, Device::gpu)
                  : Tensor()};
    const Tensor d_keys = Tensor::empty(keys.shape(), kDType<T>, Device::gpu);
    if (source_.in.score.defined()) {
      const Tensor d_score = Tensor::empty(keys.shape(), kDType<T>, Device::gpu);
      gpu::attention_keys_backward<T>({.at = at_,
                                       .steps = steps_,
                                       .queries = queries.data,
                                       .query_stride = queries.stride,
                                       .d_scores = numbers<const T>(d_scores_),
                                       .d_keys = numbers<T>(d_keys),
                                       .d_score = numbers<T>(d_score)});
      return {d_keys, sum(d_score.flatten(0, 1), 0)};
    }
    gemm::product_on_gpu<T>({.m = at_.keys_count,
                             .n = at_.key_dim,
                             .k = steps_,
                             .a = numbers<const T>(d_scores_),
                             .lda = at_.keys_count,
                             .transpose_a = gemm::Transpose::yes,
                             .b = queries.data,
                             .ldb = at_.rows * queries.stride,
                             .c = numbers<T>(d_keys),
                             .ldc = at_.key_dim,
                             .batch = at_.rows,
                             .a_stride = steps_ * at_.keys_count,
                             .b_stride = queries.stride,
                             .c_stride = at_.keys_count * at_.key_dim},
                            {}, gpu::stream(), gpu::products());
    return {d_keys, {}};
  }
  /// d_read [steps * batch, columns] is what arrived at the pooled columns.
  Tensor d_values(const Tensor& d_read) const {
    Tensor d_contexts = multiplied(d_read, source_.reader)
                            .reshape({steps_, at_.rows, source_.in.values.size(2)})
                            .transpose(0, 1);
    if (d_contexts_.defined()) d_contexts = add(d_contexts, d_contexts_);
    return multiplied(weights_.transpose(1, 2), d_contexts);
  }

 private:
  GpuSource source_;
  gpu::AttentionSource<T> at_;
  Tensor weights_;
  Tensor d_weights_;
  Tensor d_contexts_;
  Tensor d_scores_;
  std::int64_t steps_;
};

/// The gradients of y, the states and the source. `queries` are those of all steps, d_read as
/// in d_values().
template <class T>
void decoder_gradients_gpu(const DecoderInputs& in, const Needs& needs,
                           const InputColumns& columns, const GpuStackBackward<T>& layers,
                           const GpuAttentionBackward<T>& attention, Rows<const T> queries,
                           const Tensor& d_read, Gradients& down) {
  if (needs[DecoderInput::y])
    down[DecoderInput::y] =
        multiplied(layers.d_inputs(), columns.embedding).reshape(in.y.shape());
  if (needs[DecoderInput::state]) down[DecoderInput::state] = layers.d_states();
  if (needs[DecoderInput::cell]) down[DecoderInput::cell] = layers.d_cells();
  if (needs[DecoderInput::keys] || needs[DecoderInput::score]) {
    const auto of_keys = attention.of_keys(queries);
    down[DecoderInput::keys] = of_keys.keys;
    down[DecoderInput::score] = of_keys.score;
  }
  if (needs[DecoderInput::values]) down[DecoderInput::values] = attention.d_values(d_read);
}

}  // namespace attn::op
