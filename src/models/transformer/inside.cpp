#include "models/transformer/inside.hpp"

#include <cstdint>

#include "attn/models/seq2seq.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/position/relative_shaw.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/head_row.hpp"
#include "nn/attention/split_heads.hpp"

namespace attn::models::transformer {

Inside::Inside(const nn::MultiHeadAttention& module, const Tensor& query, const Tensor& memory,
               const nn::AttentionContext& attention_context)
    : attention(module),
      context(attention_context),
      heads(module.project(query, memory, memory, attention_context.rotary)) {
  context.want = Want::output | Want::weights;
  const Attended result = module.attend_heads(heads, context);
  weights = result.weights;
  output = result.output;
}

HeadRow Inside::row(const HeadPlace& place, std::int64_t row) const {
  const auto of_head = [&](const Tensor& x) { return x.select(0, 0).select(0, place.head); };
  HeadRow result;
  result.query = on_cpu(of_head(heads.q).select(0, row));
  nn::RelativeShaw::Met met{of_head(heads.keys), of_head(heads.values)};
  if (attention.relative())
    met = attention.relative()->met(met.keys, met.values,
                                    {.queries = heads.q.size(2), .query = row});
  result.keys = on_cpu(met.keys);
  result.values = on_cpu(met.values);
  result.scale = attention.scale() / context.temperature;
  result.scores = product_scores(result.query, result.keys, result.scale);
  result.open = open_keys(context.keep, weights.shape(), place, row, weights.device());
  result.weights = on_cpu(of_head(weights).select(0, row));
  result.output = on_cpu(of_head(nn::split_heads(output, attention.heads())).select(0, row));
  return result;
}

}  // namespace attn::models::transformer
