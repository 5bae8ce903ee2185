#include "attn/nn/attention/torch_multihead_attention.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/init.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"

namespace attn::nn {
namespace {

constexpr const char* kWhere = "attn::nn::TorchMultiheadAttention";

MultiHeadAttentionOptions in_general(const TorchMultiheadAttentionOptions& options) {
  const std::int64_t embed = options.embed_dim;
  const std::int64_t keys = options.kdim == 0 ? embed : options.kdim;
  const std::int64_t values = options.vdim == 0 ? embed : options.vdim;
  return {.query_dim = embed,
          .key_dim = keys,
          .value_dim = values,
          .hidden_dim = embed,
          .heads = options.heads,
          .bias = options.bias,
          .dropout = options.dropout,
          .convention = keys == embed && values == embed ? kTorchHeads : kTorchApartHeads};
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

/// [queries, keys], or [batch * heads, queries, keys] with its heads apart, with the keys that
/// were appended.
Tensor attention_mask(const Tensor& mask, std::int64_t heads, std::int64_t appended) {
  if (mask.rank() != 2 && (mask.rank() != 3 || mask.size(0) % heads != 0))
    fail(kWhere, ": attn_mask ", mask.text(),
         "; [queries, keys] and [batch * heads, queries, keys] are accepted");
  Tensor pairs = mask;
  if (mask.rank() == 3)
    pairs = mask.reshape({mask.size(0) / heads, heads, mask.size(1), mask.size(2)});
  // Zeros are "not ignored" in a boolean mask and "nothing added" in a real one.
  return appended > 0 ? pad(pairs, -1, 0, appended) : pairs;
}

Mask padding_mask(const Tensor& mask, std::int64_t appended) {
  if (mask.rank() != 2 || mask.dtype() != DType::boolean)
    fail(kWhere, ": key_padding_mask ", mask.text(), "; boolean [batch, keys] is accepted");
  const Tensor keys = appended > 0 ? pad(mask, -1, 0, appended) : mask;
  return spec::dense(logical_not(keys).reshape({keys.size(0), 1, 1, keys.size(1)}));
}

}  // namespace

AttentionContext attention_context(const TorchMasks& masks, std::int64_t heads,
                                   std::int64_t appended) {
  if (!masks.keep.keeps_all() && appended > 0)
    fail(kWhere, ": a Mask beside ", appended,
         " appended keys; attn_mask and key_padding_mask are accepted, which tell where "
         "the given keys end");
  AttentionContext context{.keep = masks.keep};
  if (masks.attn_mask.defined()) {
    const Tensor pairs = attention_mask(masks.attn_mask, heads, appended);
    if (pairs.dtype() == DType::boolean) {
      context.keep = context.keep && spec::dense(logical_not(pairs));
    } else {
      context.bias = pairs;
    }
  }
  if (masks.key_padding_mask.defined())
    context.keep = context.keep && padding_mask(masks.key_padding_mask, appended);
  return context;
}

TorchMultiheadAttention::TorchMultiheadAttention(const TorchMultiheadAttentionOptions& options)
    : MultiHeadAttention(in_general(options)),
      appended_(options.appended),
      bias_k_(add("bias_k", learnt_row(options))),
      bias_v_(add("bias_v", learnt_row(options))) {}

Tensor TorchMultiheadAttention::with_appended(const Tensor& x, const Tensor& learnt) const {
  std::vector<Tensor> parts{x};
  const Shape row{x.size(0), x.size(1), 1, x.size(3)};
  if (learnt.defined())
    parts.push_back(learnt.reshape({1, x.size(1), 1, x.size(3)}).expand(row));
  if (has_zero(appended_)) parts.push_back(Tensor::zeros(row, x.dtype(), x.device()));
  return parts.size() == 1 ? x : concat(parts, 2);
}

Attended TorchMultiheadAttention::forward(const Tensor& query, const Tensor& key,
                                          const Tensor& value, const TorchMasks& masks,
                                          const Want& want) const {
  const std::int64_t appended = (has_learnt(appended_) ? 1 : 0) + (has_zero(appended_) ? 1 : 0);
  AttentionContext context = attention_context(masks, heads(), appended);
  context.want = want;
  Heads all = project(query, key, value);
  all.keys = with_appended(all.keys, bias_k_);
  all.values = with_appended(all.values, bias_v_);
  Attended result = attend_heads(all, context);
  if (result.output.defined()) result.output = out()(result.output);
  return result;
}

}  // namespace attn::nn
