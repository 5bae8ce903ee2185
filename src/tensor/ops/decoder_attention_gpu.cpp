#include "tensor/ops/decoder_attention_gpu.hpp"

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/gemm/gemm.hpp"
#include "attn/gemm/gpu.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/gpu/attention_step.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/attention_decoder_attention.hpp"
#include "tensor/ops/decoder_stack_gpu.hpp"
#include "tensor/ops/multiplied.hpp"

namespace attn::op {
namespace {

/// All rows of all batches in one product.
Tensor through(const Tensor& x, const Tensor& turned_weight) {
  return multiplied(x.reshape({x.size(0) * x.size(1), x.size(2)}), turned_weight)
      .reshape({x.size(0), x.size(1), turned_weight.size(1)});
}

}  // namespace

GpuSource::GpuSource(const AttentionInputs& inputs, const Tensor& context_reader,
                     const Tensor& earlier)
    : in(inputs),
      reader(context_reader.detach()),
      pooled(earlier.defined() ? earlier
                               : through(inputs.values.detach(), reader.transpose(0, 1))) {
  if (in.lengths.defined()) lengths = in.lengths.to(Device::gpu).contiguous();
}

template <class T>
gpu::AttentionSource<T> GpuSource::at() const {
  return {.rows = in.keys.size(0),
          .keys_count = in.keys.size(1),
          .key_dim = in.keys.size(2),
          .columns = pooled.size(2),
          .lengths = lengths.defined() ? numbers<const std::int64_t>(lengths) : nullptr,
          .keys = numbers<const T>(in.keys),
          .pooled = numbers<const T>(pooled),
          .score = in.score.defined() ? numbers<const T>(in.score) : nullptr};
}
template gpu::AttentionSource<float> GpuSource::at<float>() const;
template gpu::AttentionSource<double> GpuSource::at<double>() const;

Tensor GpuSource::contexts(const Tensor& weights) const {
  return multiplied(weights, in.values.detach());
}

template <class T>
GpuAttentionBackward<T>::GpuAttentionBackward(const GpuSource& source, const Tensor& weights,
                                              const Tensor& d_weights, const Tensor& d_contexts)
    : source_(source),
      at_(source.at<T>()),
      weights_(weights),
      d_weights_(d_weights.defined() ? d_weights.contiguous() : Tensor()),
      d_contexts_(d_contexts),
      d_scores_(Tensor::empty(weights.shape(), kDType<T>, Device::gpu)),
      weights_data_(numbers<const T>(weights_)),
      d_scores_data_(numbers<T>(d_scores_)),
      steps_(weights.size(1)) {
  if (d_contexts_.defined()) {
    const Tensor more = multiplied(d_contexts_, source_.in.values.transpose(1, 2));
    d_weights_ = d_weights_.defined() ? add(d_weights_, more) : more;
  }
  if (d_weights_.defined()) d_weights_data_ = numbers<const T>(d_weights_);
}

template <class T>
gpu::AttentionStepBackward<T> GpuAttentionBackward<T>::step(std::int64_t time,
                                                            Rows<const T> query,
                                                            Rows<T> d_query,
                                                            gpu::Arrive arrive) const {
  const std::int64_t first = time * at_.keys_count;
  return {.at = at_,
          .query = query.data,
          .query_stride = query.stride,
          .weights = weights_data_ + first,
          .weights_stride = steps_ * at_.keys_count,
          .d_weights = d_weights_data_ == nullptr ? nullptr : d_weights_data_ + first,
          .d_scores = d_scores_data_ + first,
          .d_query = d_query.data,
          .d_query_stride = d_query.stride,
          .arrive = arrive};
}

template <class T>
typename GpuAttentionBackward<T>::OfKeys GpuAttentionBackward<T>::of_keys(
    Rows<const T> queries) const {
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
                                     .d_scores = d_scores_data_,
                                     .d_keys = numbers<T>(d_keys),
                                     .d_score = numbers<T>(d_score)});
    return {d_keys, sum(d_score.reshape({at_.rows * at_.keys_count, at_.key_dim}), 0)};
  }
  gemm::product_on_gpu<T>({.m = at_.keys_count,
                           .n = at_.key_dim,
                           .k = steps_,
                           .a = d_scores_data_,
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

template <class T>
Tensor GpuAttentionBackward<T>::d_values(const Tensor& d_read) const {
  Tensor d_contexts = multiplied(d_read, source_.reader)
                          .reshape({steps_, at_.rows, source_.in.values.size(2)})
                          .transpose(0, 1);
  if (d_contexts_.defined()) d_contexts = add(d_contexts, d_contexts_);
  return multiplied(weights_.transpose(1, 2), d_contexts);
}

template class GpuAttentionBackward<float>;
template class GpuAttentionBackward<double>;

}  // namespace attn::op
