#include "tools/attn/compare_lengths.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/text/unicode.hpp"

namespace attn::tools {
namespace {

std::size_t length_of(const tasks::Example& example) {
  return text::code_points(example.source).size();
}

void leave_up_to(std::vector<tasks::Example>& examples, std::size_t most) {
  std::erase_if(examples, [&](const tasks::Example& one) { return length_of(one) > most; });
}

}  // namespace

std::vector<LengthBin> length_bins(const std::vector<tasks::Example>& examples,
                                   std::size_t count) {
  std::vector<std::pair<std::size_t, std::size_t>> order;  // length, index
  for (std::size_t i = 0; i < examples.size(); ++i)
    // Few, and their number is not known before.
    // NOLINTNEXTLINE(performance-inefficient-vector-operation)
    order.emplace_back(length_of(examples[i]), i);
  std::sort(order.begin(), order.end());
  std::vector<LengthBin> bins;
  for (std::size_t bin = 0; bin < count; ++bin) {
    const std::size_t begin = bin * order.size() / count;
    const std::size_t end = (bin + 1) * order.size() / count;
    if (begin == end) continue;
    LengthBin one{order[begin].first, order[end - 1].first, 0.0, {}};
    for (std::size_t i = begin; i < end; ++i) {
      one.mean += static_cast<double>(order[i].first) / static_cast<double>(end - begin);
      one.examples.push_back(examples[order[i].second]);
    }
    bins.push_back(std::move(one));
  }
  return bins;
}

void train_to(tasks::Corpus& corpus, std::size_t most) {
  leave_up_to(corpus.train, most);
  leave_up_to(corpus.development, most);
  leave_up_to(corpus.test, 2 * most);
  if (corpus.train.empty() || corpus.development.empty() || corpus.test.empty())
    fail("attn compare: --trained-to ", most, " leaves ", corpus.train.size(),
         " examples to learn from, ", corpus.development.size(), " of development and ",
         corpus.test.size(), " of test; a larger number is accepted");
}

std::vector<double> scores_by_length(const tasks::Task& task, const tasks::Model& model,
                                     const std::vector<LengthBin>& bins,
                                     const std::string& metric) {
  std::vector<double> scores;
  for (const LengthBin& bin : bins) {
    const nlohmann::json all = tasks::json_of(task.evaluate(model, bin.examples));
    scores.push_back(all.at(metric).get<double>());
  }
  return scores;
}

maps::Training lengths_map(const std::string& data, const std::string& metric,
                           const std::vector<LengthBin>& bins,
                           const std::vector<LengthCurve>& curves, std::size_t trained_to) {
  std::size_t examples = 0;
  std::vector<double> lengths;
  for (const LengthBin& bin : bins) {
    examples += bin.examples.size();
    lengths.push_back(bin.mean);
  }
  maps::Training map{
      .title = "Score against length on " + files::printable(data),
      .caption = fmt::format(
          "{} of {} test examples from short to long in {} parts.{}", metric, examples,
          bins.size(),
          trained_to == 0
              ? ""
              : fmt::format(" Sources of up to {} characters were learnt from.", trained_to)),
      .x_title = "characters in the source",
      .series = {},
      .left_title = metric + (tasks::counts_errors(metric) ? ", % (lower is better)"
                                                           : ", % (higher is better)")};
  for (const LengthCurve& curve : curves)
    map.series.push_back({curve.about, lengths, curve.scores});
  return map;
}

}  // namespace attn::tools
