#include "attn/nn/mechanisms/pointer/pointer_generator.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

const Want kOutputAndWeights = Want::output | Want::weights;

void validate(const PointerGeneratorInputs& in) {
  constexpr const char* kWhere = "attn::nn::PointerGenerator: ";
  if (in.encoder_states.rank() != 3 || in.decoder_states.rank() != 3 ||
      in.decoder_inputs.rank() != 3 || in.vocab_logits.rank() != 3)
    fail(kWhere, "states of ", in.encoder_states.text(), ", ", in.decoder_states.text(), ", ",
         in.decoder_inputs.text(), " and ", in.vocab_logits.text(),
         "; three axes each are accepted");
  const Shape source{in.encoder_states.size(0), in.encoder_states.size(1)};
  const Shape steps{in.decoder_states.size(0), in.decoder_states.size(1)};
  if (!(in.src_ids.shape() == source))
    fail(kWhere, "src_ids are ", in.src_ids.text(), "; ", source.text(), " is accepted");
  if (in.targets.defined() && !(in.targets.shape() == steps))
    fail(kWhere, "targets are ", in.targets.text(), "; ", steps.text(), " is accepted");
  if (in.extra_words < 0)
    fail(kWhere, "extra_words is ", in.extra_words, "; 0 and more are accepted");
}

/// Weights and what is made of them hold more than 16 bits, whatever the states do.
Tensor widened(const Tensor& x) {
  return x.dtype() == DType::f64 ? x : x.to(DType::f32);
}

/// [count, count], ones below the diagonal: sums over earlier steps.
Tensor earlier_steps(std::int64_t count, DType dtype) {
  std::vector<double> ones(static_cast<std::size_t>(count * count), 0.0);
  for (std::int64_t t = 0; t < count; ++t)
    for (std::int64_t before = 0; before < t; ++before) ones[t * count + before] = 1.0;
  return Tensor::from(ones, {count, count}).to(dtype);
}

Tensor first_coverage(const PointerGeneratorInputs& in) {
  if (in.looked_at.defined()) return in.looked_at;
  const DType wide = in.encoder_states.dtype() == DType::f64 ? DType::f64 : DType::f32;
  return Tensor::zeros({in.encoder_states.size(0), in.encoder_states.size(1)}, wide,
                       in.encoder_states.device());
}

/// The weights of copied words, put where the words are: [batch, steps, words].
Tensor copied(const PointerGeneratorInputs& in, const Tensor& weights, std::int64_t words) {
  const Tensor ids = padding::zero_ids_past(in.src_ids, in.lengths).to(weights.device());
  return scatter_add(weights, 2, ids.unsqueeze(1).expand(weights.shape()), words);
}

}  // namespace

PointerGenerator::PointerGenerator(const PointerGeneratorOptions& options)
    : w_h_(add("W_h", without_bias(options.encoder_dim, options.hidden))),
      w_s_(add("W_s", Linear({.in = options.decoder_dim, .out = options.hidden}))),
      v_(add("v", fan_in_uniform({options.hidden}, options.hidden))),
      w_c_(add("w_c", options.coverage == Coverage::on
                          ? fan_in_uniform({options.hidden}, options.hidden)
                          : Tensor())),
      gen_h_(add("gen_h", without_bias(options.encoder_dim, 1))),
      gen_s_(add("gen_s", without_bias(options.decoder_dim, 1))),
      gen_x_(add("gen_x", without_bias(options.input_dim, 1))),
      gen_b_(add("gen_b", Tensor::zeros({1}))) {}

Tensor PointerGenerator::keys(const Tensor& encoder_states, const Tensor& lengths) const {
  return w_h_(padding::zero_past(encoder_states, lengths));
}

spec::Score PointerGenerator::score(const PointerGeneratorInputs& in) const {
  return spec::additive(in.temperature == 1.0 ? v_ : v_ / in.temperature);
}

void PointerGenerator::look_with_coverage(const PointerGeneratorInputs& in,
                                          const Tensor& values, const Tensor& keys,
                                          PointerGenerated& made) const {
  const Tensor queries = w_s_(in.decoder_states);
  const Mask keep = padding::keys(in.lengths) && in.keep;
  const spec::Score by = score(in);
  std::vector<Tensor> weights;
  std::vector<Tensor> contexts;
  std::vector<Tensor> coverages;
  made.covered = first_coverage(in);
  for (std::int64_t t = 0; t < queries.size(1); ++t) {
    const Tensor seen = made.covered.unsqueeze(-1).to(w_c_.dtype()) * w_c_;
    const Attended looked = attend(queries.slice(1, t, t + 1), keys + seen, values, by, keep,
                                   spec::softmax(), kOutputAndWeights);
    coverages.push_back(made.covered.unsqueeze(1));
    weights.push_back(looked.weights);
    contexts.push_back(looked.output);
    made.covered = made.covered + looked.weights.squeeze(1);
  }
  made.weights = concat(weights, 1);
  made.context = concat(contexts, 1);
  made.coverage = concat(coverages, 1);
}

void PointerGenerator::look_without(const PointerGeneratorInputs& in, const Tensor& values,
                                    const Tensor& keys, PointerGenerated& made) const {
  const Attended looked =
      attend(w_s_(in.decoder_states), keys, values, score(in),
             padding::keys(in.lengths) && in.keep, spec::softmax(), kOutputAndWeights);
  made.weights = looked.weights;
  made.context = looked.output;
  const Tensor first = first_coverage(in);
  const Tensor earlier =
      earlier_steps(looked.weights.size(1), looked.weights.dtype()).to(looked.weights.device());
  made.coverage = first.unsqueeze(1) + matmul(earlier, looked.weights);
  made.covered = first + sum(looked.weights, 1);
}

void PointerGenerator::mix(const PointerGeneratorInputs& in, PointerGenerated& made) const {
  const Tensor gate = widened(sigmoid(gen_h_(made.context) + gen_s_(in.decoder_states) +
                                      gen_x_(in.decoder_inputs) + gen_b_));
  const std::int64_t words = in.vocab_logits.size(2) + in.extra_words;
  const Tensor generated = pad(gate * softmax(widened(in.vocab_logits)), 2, 0, in.extra_words);
  made.p_gen = gate.squeeze(-1);
  made.final_dist = generated + copied(in, (1.0 - gate) * made.weights, words);
}

PointerGenerated PointerGenerator::forward(const PointerGeneratorInputs& in) const {
  validate(in);
  const Tensor values = padding::zero_past(in.encoder_states, in.lengths);
  const Tensor projected = in.keys.defined() ? in.keys : w_h_(values);
  PointerGenerated made;
  if (w_c_.defined() && in.coverage == Coverage::on && in.decoder_states.size(1) > 0) {
    look_with_coverage(in, values, projected, made);
  } else {
    look_without(in, values, projected, made);
  }
  mix(in, made);

  const std::int64_t steps = made.p_gen.size(1);
  const Tensor counted =
      length_mask(padding::or_full(in.target_lens, made.p_gen.size(0), steps), steps)
          .to(made.p_gen.device());
  made.coverage_loss = keep_where(sum(minimum(made.weights, made.coverage), -1), counted);
  if (in.targets.defined()) {
    const Tensor targets = padding::zero_ids_past(in.targets, in.target_lens)
                               .to(made.final_dist.device())
                               .unsqueeze(-1);
    const Tensor chosen = gather(made.final_dist, 2, targets).squeeze(-1);
    made.nll = keep_where(neg(log(chosen + in.eps)), counted);
  }
  return made;
}

}  // namespace attn::nn
