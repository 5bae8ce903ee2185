#include "attn/nn/heads/torch_multihead_attention.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/heads/split_heads.hpp"
#include "nn/heads/weight_dropout.hpp"

namespace attn::nn {
namespace {

constexpr const char* kWhere = "attn::nn::TorchMultiheadAttention";

TorchMultiheadAttentionOptions completed(TorchMultiheadAttentionOptions options) {
  if (options.heads < 1 || options.embed_dim % options.heads != 0)
    fail(kWhere, ": embed_dim ", options.embed_dim, " and ", options.heads,
         " heads; heads that divide embed_dim are accepted");
  if (options.kdim == 0) options.kdim = options.embed_dim;
  if (options.vdim == 0) options.vdim = options.embed_dim;
  return options;
}

bool one_size(const TorchMultiheadAttentionOptions& options) {
  return options.kdim == options.embed_dim && options.vdim == options.embed_dim;
}

bool has_learnt(AppendedKeys keys) {
  return keys == AppendedKeys::learnt || keys == AppendedKeys::learnt_and_zero;
}
bool has_zero(AppendedKeys keys) {
  return keys == AppendedKeys::zero || keys == AppendedKeys::learnt_and_zero;
}

/// The learnt key or value begins as torch's, but for the shape of the draw.
Tensor learnt_row(const TorchMultiheadAttentionOptions& options) {
  if (!has_learnt(options.appended)) return {};
  const auto features = static_cast<double>(options.embed_dim);
  return uniform_within({1, 1, options.embed_dim}, std::sqrt(3.0 / features));
}

/// What an attention mask says, with the keys that were appended.
struct MaskParts {
  Keep keep;
  Tensor added;  ///< to the scores; none for boolean masks
};

/// [queries, keys], or [batch * heads, queries, keys] with its heads apart.
MaskParts attention_mask(const Tensor& mask, std::int64_t heads, std::int64_t appended) {
  if (mask.rank() != 2 && (mask.rank() != 3 || mask.size(0) % heads != 0))
    fail(kWhere, ": attn_mask ", mask.text(),
         "; [queries, keys] and [batch * heads, queries, keys] are accepted");
  Tensor pairs = mask;
  if (mask.rank() == 3)
    pairs = mask.reshape({mask.size(0) / heads, heads, mask.size(1), mask.size(2)});
  // Zeros are "not ignored" in a boolean mask and "nothing added" in a real one.
  if (appended > 0) pairs = pad(pairs, -1, 0, appended);
  if (mask.dtype() == DType::boolean) return {spec::dense(logical_not(pairs)), {}};
  return {{}, pairs};
}

Keep padding_mask(const Tensor& mask, std::int64_t appended) {
  if (mask.rank() != 2 || mask.dtype() != DType::boolean)
    fail(kWhere, ": key_padding_mask ", mask.text(), "; boolean [batch, keys] is accepted");
  const Tensor keys = appended > 0 ? pad(mask, -1, 0, appended) : mask;
  return spec::dense(logical_not(keys).reshape({keys.size(0), 1, 1, keys.size(1)}));
}

}  // namespace

TorchMultiheadAttention::TorchMultiheadAttention(const TorchMultiheadAttentionOptions& options)
    : options_(completed(options)),
      out_proj_(
          Linear({.in = options.embed_dim, .out = options.embed_dim, .bias = options.bias})) {
  const std::int64_t embed = options_.embed_dim;
  if (one_size(options_)) {
    in_proj_weight_ = add("in_proj_weight", glorot_uniform({3 * embed, embed}));
  } else {
    separate_weights_ = {add("q_proj_weight", glorot_uniform({embed, embed})),
                         add("k_proj_weight", glorot_uniform({embed, options_.kdim})),
                         add("v_proj_weight", glorot_uniform({embed, options_.vdim}))};
  }
  if (options_.bias == Bias::learnt) {
    in_proj_bias_ = add("in_proj_bias", Tensor::zeros({3 * embed}));
    const NoGrad off_the_tape;
    Tensor(out_proj_.bias()).fill(0.0);
  }
  bias_k_ = add("bias_k", learnt_row(options_));
  bias_v_ = add("bias_v", learnt_row(options_));
  add("out_proj", out_proj_);
}

std::int64_t TorchMultiheadAttention::appended() const {
  return (has_learnt(options_.appended) ? 1 : 0) + (has_zero(options_.appended) ? 1 : 0);
}

/// The projections first, ..., first + parts - 1 of q, k, v, side by side.
Tensor TorchMultiheadAttention::projected(const Tensor& x, std::int64_t first,
                                          std::int64_t parts) const {
  const std::int64_t embed = options_.embed_dim;
  const std::int64_t begin = first * embed;
  const std::int64_t end = (first + parts) * embed;
  const Tensor bias =
      in_proj_bias_.defined() ? in_proj_bias_.slice(0, begin, end) : in_proj_bias_;
  const Tensor weight = in_proj_weight_.defined()
                            ? in_proj_weight_.slice(0, begin, end)
                            : separate_weights_[static_cast<std::size_t>(first)];
  return linear(x, weight, bias);
}

TorchMultiheadAttention::Projected TorchMultiheadAttention::project(const Tensor& query,
                                                                    const Tensor& key,
                                                                    const Tensor& value) const {
  const std::int64_t heads = options_.heads;
  const bool packed = in_proj_weight_.defined() && key.same_as(value);
  if (packed && query.same_as(key)) {
    const std::vector<Tensor> parts = split_parts(projected(query, 0, 3), 3, heads);
    return {parts[0], parts[1], parts[2]};
  }
  const Tensor q = split_heads(projected(query, 0, 1), heads);
  if (packed) {
    const std::vector<Tensor> parts = split_parts(projected(key, 1, 2), 2, heads);
    return {q, parts[0], parts[1]};
  }
  return {q, split_heads(projected(key, 1, 1), heads),
          split_heads(projected(value, 2, 1), heads)};
}

Tensor TorchMultiheadAttention::with_appended(const Tensor& x, const Tensor& learnt) const {
  std::vector<Tensor> parts{x};
  const Shape row{x.size(0), x.size(1), 1, x.size(3)};
  if (learnt.defined())
    parts.push_back(learnt.reshape({1, x.size(1), 1, x.size(3)}).expand(row));
  if (has_zero(options_.appended)) parts.push_back(Tensor::zeros(row, x.dtype(), x.device()));
  return parts.size() == 1 ? x : concat(parts, 2);
}

Attended TorchMultiheadAttention::forward(const Tensor& query, const Tensor& key,
                                          const Tensor& value, const TorchMasks& masks,
                                          const Want& want) const {
  if (!masks.keep.keeps_all() && appended() > 0)
    fail(kWhere, ": a Keep beside ", appended(),
         " appended keys; attn_mask and key_padding_mask are accepted, which tell where "
         "the given keys end");
  const auto [q, k, v] = project(query, key, value);
  Keep keep = masks.keep;
  spec::Score score = spec::scaled_dot();
  if (masks.attn_mask.defined()) {
    const MaskParts mask = attention_mask(masks.attn_mask, options_.heads, appended());
    keep = keep && mask.keep;
    if (mask.added.defined()) score = score | spec::bias(mask.added);
  }
  if (masks.key_padding_mask.defined())
    keep = keep && padding_mask(masks.key_padding_mask, appended());
  Attended looked = attend(q, with_appended(k, bias_k_), with_appended(v, bias_v_), score, keep,
                           softmax_with_dropout(*this, options_.dropout), want);
  if (looked.output.defined()) looked.output = out_proj_(join_heads(looked.output));
  return looked;
}

}  // namespace attn::nn
