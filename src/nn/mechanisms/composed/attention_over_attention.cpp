#include "attn/nn/mechanisms/composed/attention_over_attention.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

/// 1 / the number of valid words, at least 1: [batch, 1].
Tensor share_of(const Tensor& lengths, const Tensor& like) {
  std::vector<double> shares;
  for (const std::int64_t length :
       padding::or_full(lengths, like.size(0), like.size(1)).to_vector<std::int64_t>())
    shares.push_back(1.0 / static_cast<double>(std::max<std::int64_t>(1, length)));
  return Tensor::from(shares, {like.size(0), 1}).to(like.dtype()).to(like.device());
}

}  // namespace

AttentionOverAttentionResult attention_over_attention(const AttentionOverAttentionInputs& in,
                                                      std::int64_t vocab_size,
                                                      const Want& want) {
  if (in.document.rank() != 3 || in.query.rank() != 3 || vocab_size < 1)
    fail("attn::nn::attention_over_attention: document ", in.document.text(), ", query ",
         in.query.text(), ", vocab_size ", vocab_size,
         "; [batch, words, dim] twice and at least 1 are accepted");
  const Tensor document = padding::zero_past(in.document, in.document_lens);
  const Tensor query = padding::zero_past(in.query, in.query_lens);
  const std::int64_t words = document.size(1);
  const std::int64_t asked = query.size(1);

  // How much each query word is looked at, by an average word of the document.
  const Attended back = attend(document, query, {}, spec::dot(),
                               padding::pairs(in.document_lens, in.query_lens, words, asked),
                               spec::softmax(), Want::column_sums);
  const Tensor beta = back.column_sums * share_of(in.document_lens, document);

  // alpha beta is what each document word is looked at by all query words, weighed by beta.
  const Mask keep = padding::pairs(in.query_lens, in.document_lens, asked, words);
  const Tensor s = attend(query, document, {}, spec::dot(), keep,
                          spec::softmax() | spec::scale_weight(beta), Want::column_sums)
                       .column_sums;
  Tensor alpha;
  if (want.has(Want::weights))
    alpha = attend(query, document, {}, spec::dot(), keep, spec::softmax(), Want::weights)
                .weights.transpose(1, 2);
  const Tensor ids = padding::zero_ids_past(in.document_ids, in.document_lens);
  return {alpha, beta, s, scatter_add(s, 1, ids, vocab_size)};
}

}  // namespace attn::nn
