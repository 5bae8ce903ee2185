// What models of text pairs answer to texts as they learnt them: batches of like length,
// search.

#include "attn/tasks/answer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/models/search.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tensor/storage.hpp"
#include "tasks/faithful.hpp"

namespace attn::tasks {
namespace {

using Tokens = std::vector<std::int64_t>;

/// Rows times beams times tokens of the source in one search: enough to keep products busy,
/// and little memory.
constexpr std::size_t kTokensOfASearch = 8192;
/// The GPU takes more at a time.
constexpr std::size_t kTokensOnGpu = std::size_t{1} << 18;

Answer answer_of(const PairModel& model, models::Hypothesis found, const Tokens& source,
                 std::size_t padded) {
  // Weights of the padding are 0 and nobody's.
  std::vector<float> weights;
  for (std::size_t row = 0; row * padded < found.weights.size(); ++row) {
    const auto first = found.weights.begin() + static_cast<std::ptrdiff_t>(row * padded);
    weights.insert(weights.end(), first, first + static_cast<std::ptrdiff_t>(source.size()));
  }
  return {.text = model.target.decode(found.tokens),
          .score = found.score,
          .log_probability = found.log_probability,
          .finished = found.finished,
          .source = source,
          .target = std::move(found.tokens),
          .weights = std::move(weights)};
}

}  // namespace

std::vector<std::vector<Answer>> answer(const PairModel& model,
                                        std::span<const std::string> texts,
                                        const models::SearchOptions& options,
                                        const Done& done) {
  models::SearchOptions within = options;
  within.max_length = model.limits.target;
  if (!within.likeness)
    within.likeness = [&model, metric = pair_task_named(model.task).metric](
                          const Tokens& one, const Tokens& other) {
      return sentence_score(metric, model.target.decode(one), model.target.decode(other));
    };
  const Faithful faithful(model, pair_task_named(model.task), texts);
  std::vector<Tokens> sources;
  sources.reserve(texts.size());
  for (const std::string& text : texts)
    sources.push_back(encode_source(model.source, text, model.limits.source));
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(sources[a].size(), a) < std::pair(sources[b].size(), b);
  });

  std::vector<std::vector<Answer>> answers(texts.size());
  const auto beam = static_cast<std::size_t>(options.beam);
  const std::size_t most =
      model.model->device() == Device::gpu ? kTokensOnGpu : kTokensOfASearch;
  std::size_t begin = 0;  // of the batch that is searched, in `order`
  const auto text_of = [&](std::int64_t source) {
    return order[begin + static_cast<std::size_t>(source)];
  };
  if (faithful.has_rules()) {
    within.forbid = [&](std::int64_t source, std::span<const std::int64_t> said,
                        std::span<float> next) {
      faithful.forbid(text_of(source), said, next);
    };
    within.fault = [&](std::int64_t source, std::span<const std::int64_t> said) {
      return faithful.fault(text_of(source), said);
    };
  }
  // Nothing to read, nothing to say: eos alone.
  for (; begin < order.size() && sources[order[begin]].size() == 1; ++begin) {
    Answer& empty = answers[order[begin]].emplace_back();
    empty.finished = true;
    empty.source = sources[order[begin]];
  }
  while (begin < order.size()) {
    std::size_t end = begin + 1;
    while (end < order.size() && (end + 1 - begin) * beam * sources[order[end]].size() <= most)
      ++end;
    std::vector<Tokens> group;
    group.reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i) group.push_back(sources[order[i]]);
    const SourceBatch batch = collate_sources(group);
    auto found = models::search(*model.model, batch.source, batch.lengths, within);
    const auto padded = static_cast<std::size_t>(batch.source.size(1));
    for (std::size_t i = begin; i < end; ++i)
      for (models::Hypothesis& one : found[i - begin])
        answers[order[i]].push_back(
            answer_of(model, std::move(one), sources[order[i]], padded));
    begin = end;
    if (done) done(static_cast<std::int64_t>(begin));
  }
  return answers;
}

}  // namespace attn::tasks
