#include "attn/nn/mechanisms/applied/location_aware.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/conv.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

LocationAwareOptions checked(const LocationAwareOptions& options) {
  if (options.width < 1 || options.width % 2 == 0)
    fail("attn::nn::LocationAwareAttention: a convolution of width ", options.width,
         "; an odd width is accepted, so that a frame lies in its middle");
  return options;
}

/// 1 / length on the valid frames.
Tensor uniform_weights(const Tensor& encoder, const Tensor& lengths) {
  const std::int64_t batch = encoder.size(0);
  const std::int64_t frames = encoder.size(1);
  const auto ends = padding::or_full(lengths, batch, frames).to_vector<std::int64_t>();
  std::vector<double> weights(static_cast<std::size_t>(batch * frames), 0.0);
  for (std::int64_t b = 0; b < batch; ++b)
    std::fill_n(weights.begin() + b * frames, ends[b], 1.0 / static_cast<double>(ends[b]));
  return Tensor::from(weights, {batch, frames}).to(encoder.dtype()).to(encoder.device());
}

}  // namespace

LocationAwareAttention::LocationAwareAttention(const LocationAwareOptions& options)
    : normaliser_(checked(options).normaliser),
      sharpening_(options.sharpening),
      w_query_(add("W", Linear({.in = options.query_dim, .out = options.hidden}))),
      v_(add("V", without_bias(options.encoder_dim, options.hidden))),
      u_(add("U", without_bias(options.channels, options.hidden))),
      conv_(add(
          "conv",
          Conv1d(
              {.in = 1, .out = options.channels, .kernel = options.width, .bias = Bias::none},
              {.pad_before = options.width / 2, .pad_after = options.width / 2}))),
      w_(add("w", fan_in_uniform({options.hidden}, options.hidden))) {}

LocationMemory LocationAwareAttention::memory(const Tensor& encoder,
                                              const Tensor& lengths) const {
  if (encoder.rank() != 3)
    fail("attn::nn::LocationAwareAttention: the encoder is ", encoder.text(),
         "; [batch, frames, dim] is accepted");
  const Tensor values = padding::zero_past(encoder, lengths);
  return {values, v_(values), lengths, uniform_weights(encoder, lengths)};
}

Attended LocationAwareAttention::look(const LocationMemory& memory, const Tensor& query,
                                      const Tensor& previous) const {
  const Tensor features = conv_(previous.unsqueeze(1)).transpose(1, 2);
  const bool smooth = normaliser_ == LocationNormaliser::smooth;
  const spec::Score score = spec::additive(w_);
  return attend(query, memory.keys + u_(features), memory.values,
                smooth || sharpening_ == 1.0 ? score : score | spec::scale(sharpening_),
                padding::keys(memory.lengths),
                smooth ? spec::summed_sigmoid() : spec::softmax(),
                Want::output | Want::weights);
}

Attended LocationAwareAttention::step(const LocationMemory& memory, const Tensor& query,
                                      const Tensor& previous) const {
  Attended looked = look(memory, w_query_(query).unsqueeze(1), previous);
  looked.output = looked.output.squeeze(1);
  looked.weights = looked.weights.squeeze(1);
  return looked;
}

Attended LocationAwareAttention::forward(const Tensor& encoder, const Tensor& queries,
                                         const Tensor& lengths) const {
  const LocationMemory kept = memory(encoder, lengths);
  const Tensor projected = w_query_(queries);
  Tensor previous = kept.weights;
  std::vector<Tensor> outputs;
  std::vector<Tensor> weights;
  for (std::int64_t t = 0; t < queries.size(1); ++t) {
    const Attended looked = look(kept, projected.slice(1, t, t + 1), previous);
    outputs.push_back(looked.output);
    weights.push_back(looked.weights);
    previous = looked.weights.squeeze(1);
  }
  Attended all;
  all.output = concat(outputs, 1);
  all.weights = concat(weights, 1);
  return all;
}

}  // namespace attn::nn
