#include "models/copying.hpp"

#include <algorithm>
#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/mechanisms/pointer/pointer_generator.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "models/token_loss.hpp"

namespace attn::models {
namespace {

// Inside the logarithm: in float both ways to a word may round to 0.
constexpr double kLeast = 1e-12;

bool all_zero(const Tensor& x) {
  const Tensor numbers = x.detach().to(Device::cpu).to(DType::f64);
  const auto* first = numbers.data<double>();
  return std::all_of(first, first + x.numel(), [](double number) { return number == 0.0; });
}

/// Boolean [batch, steps, source]: the source has the target there.
Tensor matches(const Tensor& ids, const Tensor& target) {
  const Tensor have = ids.contiguous();
  const Tensor want = target.contiguous();
  const std::int64_t extent = have.size(1);
  const std::int64_t steps = want.size(1);
  const Tensor same = Tensor::empty({want.size(0), steps, extent}, DType::boolean);
  auto* flag = same.mutable_data<bool>();
  for (std::int64_t row = 0; row < want.numel(); ++row) {
    const std::int64_t word = want.data<std::int64_t>()[row];
    const std::int64_t* source = have.data<std::int64_t>() + row / steps * extent;
    for (std::int64_t place = 0; place < extent; ++place) *flag++ = source[place] == word;
  }
  return same;
}

}  // namespace

void CopySource::select(const Tensor& rows) {
  for (Tensor* part : {&ids, &lengths, &values, &keys}) *part = nn::select_rows(*part, 0, rows);
}

CopyHead::CopyHead(std::int64_t dim, Copy copy)
    : pointer_(add("pointer", nn::PointerGenerator({.encoder_dim = dim,
                                                    .decoder_dim = dim,
                                                    .input_dim = dim,
                                                    .hidden = dim,
                                                    .coverage = copy == Copy::coverage
                                                                    ? nn::Coverage::on
                                                                    : nn::Coverage::off}))),
      coverage_weight_(nn::find_tensor(pointer_.named_parameters(), "w_c")) {
  const NoGrad off_the_tape;
  if (coverage_weight_.defined()) coverage_weight_.fill(0.0);
}

CopySource CopyHead::read(const Tensor& ids, const Tensor& values,
                          const Tensor& lengths) const {
  return {ids, lengths, values, pointer_.keys(values, lengths)};
}

CopyResult CopyHead::forward(const CopySource& source, const Tensor& states,
                             const Tensor& inputs, const Tensor& covered,
                             const LossOptions& options,
                             const nn::AttentionContext& context) const {
  const bool covers =
      coverage_weight_.defined() && (options.coverage > 0.0 || !all_zero(coverage_weight_));
  // The logits wait for the context, so one word stands for all of them here.
  const nn::PointerGenerated made =
      pointer_.forward({.encoder_states = source.values,
                        .decoder_states = states,
                        .decoder_inputs = inputs,
                        .vocab_logits = Tensor::zeros({states.size(0), states.size(1), 1},
                                                      states.dtype(), states.device()),
                        .src_ids = Tensor::zeros(source.ids.shape(), DType::i64),
                        .lengths = source.lengths,
                        .coverage = covers ? nn::Coverage::on : nn::Coverage::off,
                        .keys = source.keys,
                        .looked_at = covered,
                        .keep = context.keep,
                        .temperature = context.temperature});
  return {made.weights, made.context, made.p_gen, made.covered, made.coverage_loss};
}

Tensor mixed_log_probabilities(const CopySource& source, const CopyResult& result,
                               const Tensor& logits) {
  const Tensor gate = result.generates.unsqueeze(-1);
  const Tensor copied =
      scatter_add((1.0 - gate) * result.weights, 2,
                  source.ids.to(logits.device()).unsqueeze(1).expand(result.weights.shape()),
                  logits.size(2));
  return log(gate * softmax(logits.to(gate.dtype())) + copied + kLeast);
}

Tensor copy_loss(const CopySource& source, const CopyResult& result, const Tensor& logits,
                 const Batch& batch, const LossOptions& options) {
  const Tensor& target = batch.target;
  // Ids lie on the CPU, and what is made of them goes where the model is.
  const Device device = logits.device();
  const Tensor counted = counted_targets(target);
  const Tensor generated =
      exp(gather(log_softmax(wide(logits)), 2, target.to(device).unsqueeze(-1)).squeeze(-1));
  const Tensor copied =
      sum(keep_where(wide(result.weights), matches(source.ids, target).to(device)), -1);
  const Tensor generates = wide(result.generates);
  const Tensor likely = generates * generated + (1.0 - generates) * copied;
  Tensor wrong = counted_mean(weighted(neg(log(likely + kLeast)), batch.weights), counted);
  if (options.coverage <= 0.0) return wrong;
  return wrong + counted_mean(wide(result.coverage_loss), counted) * options.coverage;
}

}  // namespace attn::models
