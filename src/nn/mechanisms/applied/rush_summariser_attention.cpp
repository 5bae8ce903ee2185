#include "attn/nn/mechanisms/applied/rush_summariser_attention.hpp"

#include "attn/core/error.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

RushAttentionOptions checked(const RushAttentionOptions& options) {
  const bool divides_by_reach = options.divisor == SmoothingDivisor::reach;
  if (options.reach < (divides_by_reach ? 1 : 0))
    fail("attn::nn::RushAttention: Q is ", options.reach, "; ", divides_by_reach ? 1 : 0,
         " and more are accepted");
  return options;
}

}  // namespace

RushAttention::RushAttention(const RushAttentionOptions& options)
    : reach_(checked(options).reach),
      divisor_(options.divisor),
      f_(add("F", Embedding({.rows = options.source_words, .features = options.source_dim}))),
      g_(add("G", Embedding({.rows = options.context_words, .features = options.context_dim}))),
      p_(add("P",
             without_bias(options.context_length * options.context_dim, options.source_dim))) {}

Tensor RushAttention::smooth(const Tensor& words, const Tensor& lengths) const {
  const Tensor ones =
      Tensor::full({words.size(0), words.size(1), 1}, 1.0, words.dtype(), words.device());
  const Mask near = spec::window(reach_, reach_, 0) && padding::keys(lengths);
  const bool count = divisor_ == SmoothingDivisor::count;
  const double scale = count ? 1.0 : 1.0 / static_cast<double>(reach_);
  // Scores are 1 / Q and the weights themselves, or shares of the kept.
  const Attended pooled = attend(ones, ones, words, spec::dot(scale), near,
                                 count ? spec::mean() : spec::identity());
  return padding::zero_past(pooled.output, lengths);
}

RushAttended RushAttention::forward(const Tensor& source, const Tensor& last_words,
                                    const Tensor& lengths) const {
  const Tensor words = padding::zero_past(f_(padding::zero_ids_past(source, lengths)), lengths);
  const Tensor query = p_(g_(last_words).flatten(1, 2)).unsqueeze(1);
  const Tensor smoothed = smooth(words, lengths);
  const Attended looked = attend(query, words, smoothed, spec::dot(), padding::keys(lengths),
                                 spec::softmax(), Want::output | Want::weights);
  return {looked.weights.squeeze(1), smoothed, looked.output.squeeze(1)};
}

}  // namespace attn::nn
