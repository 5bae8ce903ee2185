#include "attn/nn/attention/multi_head_attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/position/relative_shaw.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/rotary.hpp"
#include "nn/attention/first_projection.hpp"
#include "nn/attention/split_heads.hpp"
#include "nn/attention/weight_dropout.hpp"

namespace attn::nn {
namespace {

std::int64_t count(const std::array<const char*, 3>& names) {
  return std::count_if(names.begin(), names.end(), [](const char* name) { return name; });
}

MultiHeadAttentionOptions checked(MultiHeadAttentionOptions options) {
  if (options.heads < 1 || options.hidden_dim % options.heads != 0)
    fail("attn::nn::MultiHeadAttention: hidden_dim ", options.hidden_dim, " and ",
         options.heads, " heads; heads that divide hidden_dim are accepted");
  const std::int64_t weights = count(options.convention.weights);
  const bool shared = weights == 3 || options.key_dim == options.value_dim;
  if (!shared || (weights == 1 && options.query_dim != options.key_dim))
    fail("attn::nn::MultiHeadAttention: features of ", options.query_dim, ", ", options.key_dim,
         " and ", options.value_dim, " in ", weights,
         " weights; equal ones are accepted where they share a weight");
  if (options.out_dim == 0) options.out_dim = options.hidden_dim;
  if (options.key_value_heads == 0) options.key_value_heads = options.heads;
  const bool grouped = options.key_value_heads != options.heads;
  if (options.key_value_heads < 1 || options.heads % options.key_value_heads != 0 ||
      (grouped && options.max_distance > 0))
    fail("attn::nn::MultiHeadAttention: ", options.heads, " heads share ",
         options.key_value_heads, " of keys and values with a max_distance of ",
         options.max_distance, "; a divisor is accepted, and all of them with distances");
  return options;
}

/// Rows begin, ..., end - 1 of tensors that lie below each other; they are rows of one.
Tensor rows_of(const std::vector<Tensor>& tensors, std::int64_t begin, std::int64_t end) {
  for (const Tensor& tensor : tensors) {
    const std::int64_t rows = tensor.size(0);
    if (begin < rows) return begin == 0 && end == rows ? tensor : tensor.slice(0, begin, end);
    begin -= rows;
    end -= rows;
  }
  return {};
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const MultiHeadAttentionOptions& options)
    : options_(checked(options)) {
  const MultiHeadConvention& convention = options_.convention;
  const std::int64_t hidden = options_.hidden_dim;
  const std::int64_t weights = count(convention.weights);
  const bool biases_apart = count(convention.biases) == weights;
  const std::array<std::int64_t, 3> dims{options_.query_dim, options_.key_dim,
                                         options_.value_dim};
  const bool grouped = options_.key_value_heads != options_.heads;
  for (std::int64_t i = 0; i < weights; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t parts = weights == 3 ? 1 : weights == 1 ? 3 : i + 1;
    const bool of_all = grouped && weights == 1;
    const Linear first = first_projection({.in = dims[at],
                                           .out = of_all   ? hidden + 2 * memory_dim()
                                                  : i == 0 ? hidden
                                                           : memory_dim(),
                                           .parts = of_all ? 1 : parts,
                                           .bias = options_.bias,
                                           .first = convention.first});
    weights_.push_back(add(convention.weights[at], first.weight()));
    if (options_.bias == Bias::none) continue;
    if (biases_apart) {
      biases_.push_back(add(convention.biases[at], first.bias()));
    } else if (i == 0) {
      biases_.push_back(add(convention.biases[0], Tensor::zeros({hidden + 2 * memory_dim()})));
    }
  }
  out_ = add(convention.out, first_projection({.in = hidden,
                                               .out = options_.out_dim,
                                               .bias = options_.bias,
                                               .first = convention.first_out}));
  if (options_.max_distance > 0)
    relative_ = add("relative", RelativeShaw({.key_dim = hidden / options_.heads,
                                              .value_dim = hidden / options_.heads,
                                              .max_distance = options_.max_distance}));
}

const Linear& MultiHeadAttention::out() const {
  if (!out_) fail("attn::nn::MultiHeadAttention: there is no projection of the output");
  return *out_;
}

double MultiHeadAttention::scale() const {
  const std::int64_t channels = options_.hidden_dim / options_.heads;
  return options_.scale.value_or(1.0 / std::sqrt(static_cast<double>(channels)));
}

std::int64_t MultiHeadAttention::memory_dim() const {
  return options_.hidden_dim / options_.heads * options_.key_value_heads;
}

/// The projections first, ..., first + parts - 1 of q, k, v, side by side.
Tensor MultiHeadAttention::projected(const Tensor& x, std::int64_t first,
                                     std::int64_t parts) const {
  const auto end_of = [this](std::int64_t part) {
    return part == 0 ? 0 : options_.hidden_dim + (part - 1) * memory_dim();
  };
  const std::int64_t begin = end_of(first);
  const std::int64_t end = end_of(first + parts);
  return linear(x, rows_of(weights_, begin, end), rows_of(biases_, begin, end));
}

MultiHeadAttention::Heads MultiHeadAttention::split(const Tensor& projected,
                                                    const RotaryTable& rotary) const {
  if (options_.key_value_heads != options_.heads) {
    const std::int64_t queries = options_.hidden_dim;
    const std::int64_t keys = queries + memory_dim();
    const std::int64_t shared = options_.key_value_heads;
    Heads heads{split_heads(projected.slice(2, 0, queries), options_.heads),
                split_heads(projected.slice(2, queries, keys), shared),
                split_heads(projected.slice(2, keys, keys + memory_dim()), shared)};
    if (!rotary.cos.defined()) return heads;
    return {attn::rotary(heads.q, rotary), attn::rotary(heads.keys, rotary), heads.values};
  }
  const std::vector<Tensor> parts = split_parts(projected, 3, options_.heads);
  if (!rotary.cos.defined()) return {parts[0], parts[1], parts[2]};
  return {attn::rotary(parts[0], rotary), attn::rotary(parts[1], rotary), parts[2]};
}

MultiHeadAttention::Heads MultiHeadAttention::split(const Tensor& projected_q,
                                                    const Tensor& remembered) const {
  const std::vector<Tensor> parts = split_parts(remembered, 2, options_.key_value_heads);
  return {split_heads(projected_q, options_.heads), parts[0], parts[1]};
}

MultiHeadAttention::Heads MultiHeadAttention::project(const Tensor& q, const Tensor& k,
                                                      const Tensor& v,
                                                      const RotaryTable& rotary) const {
  const bool one_memory = weights_.size() < 3 && k.same_as(v);
  if (one_memory && weights_.size() == 1 && q.same_as(k))
    return split(projected(q, 0, 3), rotary);
  const std::int64_t heads = options_.heads;
  const std::int64_t shared = options_.key_value_heads;
  Heads made = one_memory ? split(projected(q, 0, 1), remember(k))
                          : Heads{split_heads(projected(q, 0, 1), heads),
                                  split_heads(projected(k, 1, 1), shared),
                                  split_heads(projected(v, 2, 1), shared)};
  if (!rotary.cos.defined()) return made;
  return {attn::rotary(made.q, rotary), attn::rotary(made.keys, rotary), made.values};
}

Attended MultiHeadAttention::attend_heads(const Heads& heads,
                                          const AttentionContext& context) const {
  const auto& [q, keys, values] = heads;
  Attended result;
  if (relative_) {
    result = relative_->forward(q, keys, values, context.keep, context.want);
  } else {
    spec::Score score = options_.scale ? spec::dot(*options_.scale) : spec::scaled_dot();
    if (context.bias.defined()) score = score | spec::bias(context.bias);
    if (context.temperature != 1.0) score = score | spec::scale(1.0 / context.temperature);
    result = attend(q, keys, values, score, context.keep,
                    softmax_with_dropout(*this, options_.dropout), context.want);
  }
  if (result.output.defined()) result.output = join_heads(result.output);
  return result;
}

Attended MultiHeadAttention::forward_with(const Tensor& q, const Tensor& k, const Tensor& v,
                                          const AttentionContext& context) const {
  Heads heads = project(q, k, v, context.rotary);
  if (context.cache != nullptr) {
    context.cache->append(heads.keys, heads.values);
    heads.keys = context.cache->keys();
    heads.values = context.cache->values();
  }
  Attended result = attend_heads(heads, context);
  if (result.output.defined()) result.output = out()(result.output);
  return result;
}

Attended MultiHeadAttention::forward(const Tensor& q, const Tensor& k, const Tensor& v,
                                     const Mask& keep, const Want& want) const {
  return forward_with(q, k, v, {.keep = keep, .want = want});
}

}  // namespace attn::nn
