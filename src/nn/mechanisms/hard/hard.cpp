// Hard attention, and its soft sibling that looks everywhere once.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/hard/doubly_stochastic.hpp"
#include "attn/nn/mechanisms/hard/hard_attention.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "nn/padding.hpp"

namespace attn::nn {
namespace {

/// A draw as places that can be looked up, and which of them are one.
struct Draw {
  Tensor index;  ///< i64 [batch, steps], 0 instead of -1
  Tensor drawn;  ///< boolean [batch, steps]
};

constexpr const char* kWhere = "attn::nn::hard_attention";

/// Throws unless every place is one of the row's, or -1.
void check_places(const Tensor& sample, std::int64_t locations, const Tensor& lengths) {
  const auto limits =
      padding::or_full(lengths, sample.size(0), locations).to_vector<std::int64_t>();
  const auto positions = sample.to_vector<std::int64_t>();
  const auto steps = static_cast<std::size_t>(sample.size(1));
  for (std::size_t i = 0; i < positions.size(); ++i)
    if (positions[i] < -1 || positions[i] >= limits[i / steps])
      fail(kWhere, ": location ", positions[i], " was drawn of ", limits[i / steps],
           "; one of them, or -1 for none, is accepted");
}

Draw checked_draw(const Tensor& sample, std::int64_t locations, const Tensor& lengths,
                  Device device) {
  // On the GPU without lengths those who look them up check them, and nobody waits.
  if (sample.device() == Device::cpu || lengths.defined())
    check_places(sample, locations, lengths);
  const NoGrad off_the_tape;
  const Tensor positions = sample.to(device);
  const Tensor drawn = affine(positions.to(DType::f64), 1.0, 1.0).to(DType::boolean);
  return {padding::keep_numbers(positions, drawn, 0), drawn};
}

Draw checked_draw(const Tensor& sample, const Tensor& scores, const Tensor& lengths) {
  if (scores.rank() != 3 || sample.rank() != 2 || sample.size(0) != scores.size(0) ||
      sample.size(1) != scores.size(1))
    fail(kWhere, ": sample ", sample.text(), " beside scores ", scores.text(),
         "; [batch, steps] and [batch, steps, locations] are accepted");
  return checked_draw(sample, scores.size(2), lengths, scores.device());
}

/// annotations[sample], 0 where nothing was drawn.
Tensor drawn_annotations(const Tensor& annotations, const Draw& draw) {
  const Shape shape{annotations.size(0), draw.index.size(1), annotations.size(2)};
  if (annotations.size(1) == 0)
    return Tensor::zeros(shape, annotations.dtype(), annotations.device());
  const Tensor picked = gather(annotations, 1, draw.index.unsqueeze(2).expand(shape));
  return keep_where(picked, draw.drawn.unsqueeze(2));
}

/// Boolean [batch, steps, locations]: the location is one of the first `lengths`, the step one
/// of the first `target_lens` (either may be left out), and the score is not -inf.
Tensor locations_kept(const Tensor& scores, const Tensor& lengths, const Tensor& target_lens) {
  const auto first = [&](const Tensor& given, std::int64_t extent) {
    return padding::first_places(padding::or_full(given, scores.size(0), extent), extent,
                                 scores.device());
  };
  const Tensor keep = logical_and(first(lengths, scores.size(2)).unsqueeze(1),
                                  first(target_lens, scores.size(1)).unsqueeze(2));
  return logical_and(keep, padding::is_score(scores));
}

/// Scores with -inf where nothing is kept, so that log_softmax is that of the kept ones; rows
/// that keep nothing hold zeros instead.
Tensor only_kept(const Tensor& scores, const Tensor& keep) {
  const Tensor none = logical_not(max(keep.to(DType::f64), 2).values.to(DType::boolean));
  const Tensor zero =
      Tensor::zeros({scores.size(0), scores.size(1)}, scores.dtype(), scores.device());
  constexpr double kMasked = -std::numeric_limits<double>::infinity();
  return where(keep, scores, keep_where(zero, none, kMasked).unsqueeze(2));
}

/// Log-probability of the draw and entropy, both [batch, steps].
struct Likelihood {
  Tensor log_prob;
  Tensor entropy;
};

/// `keep` is boolean [batch, steps, locations]. Zero is what stands in rows without any.
Likelihood likelihood(const Tensor& scores, const Tensor& keep, const Draw& draw) {
  if (scores.size(2) == 0) {
    const Tensor none = Tensor::zeros(draw.index.shape(), scores.dtype(), scores.device());
    return {none, none};
  }
  const Tensor log_alpha = keep_where(log_softmax(only_kept(scores, keep)), keep);
  const Tensor alpha = softmax(scores, -1, keep);
  const Tensor log_prob = gather(log_alpha, 2, draw.index.unsqueeze(2)).squeeze(2);
  return {keep_where(log_prob, draw.drawn), neg(sum(alpha * log_alpha, 2))};
}

}  // namespace

HardLook hard_attention(const Tensor& scores, const Tensor& annotations, const Tensor& sample,
                        const Tensor& lengths) {
  const Draw draw = checked_draw(sample, scores, lengths);
  const Attended soft = attend({}, {}, annotations, spec::given(scores), padding::keys(lengths),
                               spec::softmax(), Want::output | Want::weights);
  const auto [log_prob, entropy] =
      likelihood(scores, locations_kept(scores, lengths, {}), draw);
  return {soft.weights, drawn_annotations(annotations, draw), soft.output, log_prob, entropy,
          sample};
}

Tensor annotations_at(const Tensor& annotations, const Tensor& sample) {
  if (annotations.rank() != 3 || sample.rank() != 2 || sample.size(0) != annotations.size(0))
    fail("attn::nn::annotations_at: annotations ", annotations.text(), " and sample ",
         sample.text(), "; [batch, locations, dim] and [batch, steps] are accepted");
  return drawn_annotations(annotations,
                           checked_draw(sample, annotations.size(1), {}, annotations.device()));
}

Tensor draw_locations(const Tensor& scores, const Tensor& lengths, Random& random) {
  const NoGrad off_the_tape;
  return attend({}, {}, {}, spec::given(scores.detach()), padding::keys(lengths),
                spec::hard_sample(random.next()), Want::arg_max)
      .arg_max;
}

HardBest hard_attention_best(const Tensor& scores, const Tensor& annotations,
                             const Tensor& lengths) {
  const Mask keep = padding::keys(lengths);
  const Attended soft =
      attend({}, {}, {}, spec::given(scores), keep, spec::softmax(), Want::weights);
  const Attended best = attend({}, {}, annotations, spec::given(scores.detach()), keep,
                               spec::hard_argmax(), Want::output | Want::arg_max);
  return {soft.weights, best.arg_max, best.output};
}

Reinforced reinforce(const ReinforceInputs& in, const ReinforceOptions& options) {
  const Draw draw = checked_draw(in.sample, in.scores, in.lengths);
  const Tensor keep = locations_kept(in.scores, in.lengths, in.target_lens);
  const auto [log_prob, entropy] = likelihood(in.scores, keep, draw);

  const Tensor reward = (in.log_py - in.baseline).detach();
  Tensor chosen = sum(log_prob, 1) * reward;
  if (in.use_soft.defined()) chosen = keep_where(chosen, logical_not(in.use_soft));
  const Tensor gain =
      in.log_py + chosen * options.lambda_r + sum(entropy, 1) * options.lambda_e;
  const Tensor mean_reward = mean(in.log_py.detach()).reshape({1});
  return {neg(mean(gain)).reshape({1}),
          in.baseline.detach() * options.decay + mean_reward * (1.0 - options.decay)};
}

HardAttention::HardAttention(Random random, const HardAttentionOptions& options)
    : options_(options),
      random_(random),
      baseline_(add_buffer("baseline", Tensor::zeros({1}))) {
  if (options.soft_probability < 0.0 || options.soft_probability > 1.0)
    fail("attn::nn::HardAttention: soft_probability ", options.soft_probability,
         "; 0 to 1 is accepted");
}

HardAttention::Step HardAttention::forward(const Tensor& scores, const Tensor& annotations,
                                           const Tensor& lengths) {
  const std::int64_t batch = scores.size(0);
  if (!training()) {
    const HardBest best = hard_attention_best(scores, annotations, lengths);
    HardLook look = hard_attention(scores, annotations, best.index, lengths);
    return {look, Tensor::zeros({batch}, DType::boolean, scores.device()), look.context};
  }
  HardLook look =
      hard_attention(scores, annotations, draw_locations(scores, lengths, random_), lengths);
  const auto coins = uniform({batch}, 0.0, 1.0, random_).to_vector<float>();
  const Tensor flags = Tensor::empty({batch}, DType::boolean);
  bool* soft = flags.mutable_data<bool>();
  for (std::size_t b = 0; b < coins.size(); ++b)
    soft[b] = static_cast<double>(coins[b]) < options_.soft_probability;
  const Tensor use_soft = flags.to(scores.device());
  const Tensor context =
      where(use_soft.reshape({batch, 1, 1}), look.expected_context, look.context);
  return {look, use_soft, context};
}

Tensor HardAttention::loss(const Step& step, const Tensor& scores, const Tensor& log_py,
                           const Tensor& lengths, const Tensor& target_lens) {
  const Reinforced made = reinforce({.scores = scores,
                                     .sample = step.look.sample,
                                     .log_py = log_py,
                                     .baseline = baseline_.detach().clone(),
                                     .lengths = lengths,
                                     .target_lens = target_lens,
                                     .use_soft = step.use_soft},
                                    options_.reinforce);
  const NoGrad off_the_tape;
  baseline_.copy_from(made.new_baseline);
  return made.surrogate;
}

DoublyStochasticAttention::DoublyStochasticAttention(std::int64_t hidden_dim)
    : f_beta_(add("f_beta", Linear({.in = hidden_dim, .out = 1}))) {}

DoublyStochasticResult DoublyStochasticAttention::forward(
    const DoublyStochasticInputs& in) const {
  const Attended looked =
      attend({}, {}, in.annotations, spec::given(in.scores), padding::keys(in.lengths),
             spec::softmax(), Want::output | Want::weights);
  const Tensor beta = sigmoid(f_beta_(in.hidden));
  const Tensor left = 1.0 - sum(padding::zero_past(looked.weights, in.target_lens), 1);
  const Tensor regulariser = sum(padding::zero_past(square(left), in.lengths), 1);
  return {looked.weights, beta.squeeze(-1), beta * looked.output, regulariser};
}

}  // namespace attn::nn
