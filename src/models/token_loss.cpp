#include "models/token_loss.hpp"

#include <algorithm>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models {

void check_batch(const Batch& batch, const char* where) {
  const bool ranks = batch.source.rank() == 2 && batch.input.rank() == 2;
  if (!ranks || !(batch.source_lengths.shape() == Shape{batch.source.size(0)}) ||
      batch.input.size(0) != batch.source.size(0) ||
      !(batch.target.shape() == batch.input.shape()) || batch.input.numel() == 0)
    fail(where, ": source ", batch.source.text(), ", lengths ", batch.source_lengths.text(),
         ", input ", batch.input.text(), " and target ", batch.target.text(),
         "; [batch, source], [batch], [batch, steps] and [batch, steps] with "
         "at least one step are accepted");
}

Tensor counted_targets(const Tensor& target) {
  const Tensor ids = target.contiguous();
  const Tensor counted = Tensor::empty(target.shape(), DType::boolean);
  const auto* id = ids.data<std::int64_t>();
  std::transform(id, id + ids.numel(), counted.mutable_data<bool>(),
                 [](std::int64_t token) { return token != kPad; });
  return counted;
}

Tensor counted_mean(const Tensor& x, const Tensor& counted) {
  const bool* first = counted.data<bool>();
  const auto count = std::count(first, first + counted.numel(), true);
  return sum(keep_where(x, counted.to(x.device()))) /
         static_cast<double>(std::max<std::int64_t>(1, count));
}

Tensor wide(const Tensor& x) {
  return x.dtype() == DType::f64 ? x : x.to(DType::f32);
}

Tensor weighted(const Tensor& x, const Tensor& weights) {
  return weights.defined() ? x * weights.to(x.device()).to(x.dtype()).unsqueeze(-1) : x;
}

Tensor token_loss(const Tensor& logits, const Tensor& target, const LossOptions& options,
                  const Tensor& weights) {
  if (weights.defined()) {
    const Tensor ids = target.to(logits.device()).unsqueeze(-1);
    const Tensor likely = gather(log_softmax(wide(logits)), 2, ids).squeeze(-1);
    return counted_mean(weighted(neg(likely), weights), counted_targets(target));
  }
  return cross_entropy(logits, target.to(logits.device()),
                       {.smoothing = options.smoothing, .ignore_index = kPad});
}

}  // namespace attn::models
