#include "tasks/self_critical.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "attn/models/search.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {
namespace {

constexpr std::size_t kDraws = 4;

/// What each of some draws is worth beyond the mean of the others.
void less_the_others(std::span<float> rewards) {
  double sum = 0.0;
  for (const float one : rewards) sum += one;
  const auto others = static_cast<double>(rewards.size() - 1);
  for (float& one : rewards) one = static_cast<float>(one - (sum - one) / others);
}

}  // namespace

models::Batch own_answers(const PairModel& model, Metric metric,
                          std::span<const EncodedPair> pairs, const Rows& rows,
                          std::uint64_t seed) {
  std::vector<std::vector<std::int64_t>> sources;
  sources.reserve(rows.size() * kDraws);
  for (const std::int64_t row : rows)
    sources.insert(sources.end(), kDraws, pairs[static_cast<std::size_t>(row)].source);
  const SourceBatch batch = collate_sources(sources);
  auto found =
      models::search(*model.model, batch.source, batch.lengths,
                     {.max_length = model.limits.target, .temperature = 1.0, .seed = seed});

  std::vector<EncodedPair> said;
  std::vector<float> weights;
  Rows all;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const EncodedPair& pair = pairs[static_cast<std::size_t>(rows[i / kDraws])];
    weights.push_back(static_cast<float>(sentence_score(
        metric, model.target.decode(found[i][0].tokens), model.target.decode(pair.target))));
    if (i % kDraws == kDraws - 1) less_the_others(std::span(weights).last(kDraws));
    said.push_back({pair.source, std::move(found[i][0].tokens)});
    all.push_back(static_cast<std::int64_t>(i));
  }
  models::Batch lesson = collate(said, all);
  // An answer that was cut off did not say that it had ended.
  auto* target = lesson.target.mutable_data<std::int64_t>();
  const std::int64_t steps = lesson.target.size(1);
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!found[i][0].finished)
      target[static_cast<std::int64_t>(i) * steps +
             static_cast<std::int64_t>(said[i].target.size())] = models::kPad;
  lesson.weights = Tensor::from(weights, {static_cast<std::int64_t>(weights.size())});
  return lesson;
}

}  // namespace attn::tasks
