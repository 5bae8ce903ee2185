#include "attn/tensor/spec/score.hpp"

#include <climits>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/score/alibi.hpp"
#include "attn/score/bias.hpp"
#include "attn/score/gaussian.hpp"
#include "attn/score/prior.hpp"
#include "attn/score/relative_table.hpp"
#include "attn/score/scale.hpp"
#include "attn/score/soft_cap.hpp"
#include "attn/score/t5_bias.hpp"
#include "attn/score/t5_buckets.hpp"
#include "attn/tensor/spec/stage.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"
#include "tensor/spec/lower.hpp"

namespace attn::spec {
namespace {

Score plain(Similarity similarity, std::optional<double> scale = 1.0,
            const Tensor& weights = {}) {
  return {similarity, scale, weights, {}, {}};
}

/// The slopes of the paper for as many heads as there are.
Tensor paper_slopes(const Problem& problem) {
  const Tensor slopes = Tensor::empty({1, problem.heads, 1, 1}, problem.dtype);
  op::dispatch_real(problem.dtype, "attn::spec::alibi", [&]<class T>(T) {
    attn::score::fill_alibi_slopes(slopes.mutable_data<T>(), static_cast<int>(problem.heads));
  });
  return slopes.to(problem.device);
}

}  // namespace

Score Score::then(const ScoreModifier& next) const {
  Score longer = *this;
  longer.modifiers.push_back(next);
  return longer;
}

Score dot(double scale) {
  return plain(Similarity::dot, scale);
}
Score scaled_dot() {
  return plain(Similarity::dot, std::nullopt);
}
Score cosine(double scale) {
  return plain(Similarity::cosine, scale);
}
Score sum() {
  return plain(Similarity::sum);
}

Score distance(const Tensor& width) {
  if (width.defined()) op::require_real(width, "attn::spec::distance", "the width");
  return plain(Similarity::distance, 1.0, width);
}

Score additive(const Tensor& weight) {
  op::require_real(weight, "attn::spec::additive", "the weight");
  return plain(Similarity::additive, 1.0, weight);
}

Score given(const Tensor& scores) {
  op::require_real(scores, "attn::spec::given", "the scores");
  if (scores.rank() != 3 && scores.rank() != 4)
    fail("attn::spec::given: ", scores.text(),
         "; [batch, queries, keys] and [batch, heads, queries, keys] are accepted");
  Score score = plain(Similarity::given);
  score.given = scores;
  return score.then(bias(scores));
}

ScoreModifier scale(double factor) {
  return with_tables(score_stage(attn::score::Scale{static_cast<float>(factor)}));
}
ScoreModifier scale(const Tensor& factor) {
  return with_tables(score_stage(attn::score::LearnedScale{}), {factor}, &row_table,
                     "attn::spec::scale");
}

ScoreModifier soft_cap(double cap) {
  if (!(cap > 0.0)) fail("attn::spec::soft_cap: cap ", cap, "; above 0 is accepted");
  return with_tables(score_stage(attn::score::SoftCap{static_cast<float>(cap)}));
}

ScoreModifier alibi(Offset offset) {
  return {[offset](const Problem& problem) {
    return Lowered<AnyScore>{score_stage(attn::score::Alibi{problem.offset(offset)}),
                             {paper_slopes(problem)}};
  }};
}

ScoreModifier alibi(const Tensor& slopes, Offset offset) {
  return {[slopes, offset](const Problem& problem) {
    return Lowered<AnyScore>{score_stage(attn::score::Alibi{problem.offset(offset)}),
                             {row_table(slopes, problem, "attn::spec::alibi")}};
  }};
}

ScoreModifier relative_table(const Tensor& table, Offset offset) {
  return {[table, offset](const Problem& problem) {
    const Tensor entries = entry_table(table, problem, "attn::spec::relative_table");
    const std::int64_t count = entries.size(3);
    if (count % 2 == 0)
      fail("attn::spec::relative_table: ", count,
           " entries; an odd number, for distances -m..m, is accepted");
    const attn::score::RelativeTable functor{.reach = static_cast<int>(count / 2),
                                             .offset = problem.offset(offset)};
    return Lowered<AnyScore>{score_stage(functor), {entries}};
  }};
}

ScoreModifier t5_bias(const Tensor& weight, const T5Options& options) {
  op::require_real(weight, "attn::spec::t5_bias", "the weight");
  if (weight.rank() != 2)
    fail("attn::spec::t5_bias: weight ", weight.text(), "; [buckets, heads] is accepted");
  if (options.max_distance < 1 || options.max_distance > INT_MAX / 4)
    fail("attn::spec::t5_bias: max_distance ", options.max_distance, "; 1..", INT_MAX / 4,
         " is accepted");
  const int reach = static_cast<int>(options.max_distance);
  const auto buckets =
      std::make_shared<std::vector<int>>(2 * static_cast<std::size_t>(reach) + 1);
  attn::score::fill_t5_buckets(buckets->data(), static_cast<int>(weight.size(0)), reach,
                               options.direction);
  return {[weight, buckets, reach, offset = options.offset](const Problem& problem) {
    const Numbers numbers(buckets, problem.device);
    const attn::score::T5Bias functor{numbers.data, reach, problem.offset(offset)};
    const Tensor table = entry_table(weight.transpose(0, 1), problem, "attn::spec::t5_bias");
    return Lowered<AnyScore>{score_stage(functor), {table}, {}, numbers.owns()};
  }};
}

ScoreModifier gaussian(const Tensor& centre, double sigma) {
  if (!(sigma > 0.0)) fail("attn::spec::gaussian: sigma ", sigma, "; above 0 is accepted");
  return with_tables(score_stage(attn::score::Gaussian{static_cast<float>(sigma)}), {centre},
                     &row_table, "attn::spec::gaussian");
}

ScoreModifier gaussian(const Tensor& centre, const Tensor& sigma) {
  return with_tables(score_stage(attn::score::LearnedGaussian{}), {centre, sigma}, &row_table,
                     "attn::spec::gaussian");
}

ScoreModifier bias(const Tensor& table) {
  return with_tables(score_stage(attn::score::Bias{}), {table}, &pair_table,
                     "attn::spec::bias");
}

ScoreModifier prior(const Tensor& table, double weight) {
  return with_tables(score_stage(attn::score::Prior{static_cast<float>(weight)}), {table},
                     &pair_table, "attn::spec::prior");
}

}  // namespace attn::spec
