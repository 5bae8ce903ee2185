/// A small task for tests of training: three letters, said backwards.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/pair_learner.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks::toy {

/// Words of four letters each, "abca" and so on, and their letters backwards between spaces.
inline std::vector<Example> backwards(int count) {
  std::vector<Example> examples;
  for (int i = 0; i < count; ++i) {
    std::string word;
    std::string phones;
    for (int j = 0, rest = i; j < 4; ++j, rest /= 4) word += static_cast<char>('a' + rest % 4);
    for (auto letter = word.rbegin(); letter != word.rend(); ++letter)
      phones += (phones.empty() ? "" : " ") + std::string(1, *letter);
    examples.push_back({std::to_string(i), word, {phones}});
  }
  return examples;
}

inline PairModel model(models::Kind kind = models::Kind::transformer) {
  const std::vector<std::string> letters{"a b c d"};
  const std::vector<std::string> word{"abcd"};
  PairModel made{.task = "pronounce",
                 .options = {},
                 .limits = {.source = 8, .target = 8},
                 .source = text::Tokeniser::learn(text::Units::characters, word, 100),
                 .target = text::Tokeniser::learn(text::Units::words, letters, 100),
                 .model = nullptr,
                 .history = "{}"};
  made.options.kind = kind;
  made.options.dim = 32;
  made.options.encoder_layers = 1;
  made.options.decoder_layers = 1;
  made.options.heads = 2;
  made.options.feed_forward = 32;
  made.options.positions = models::Positions::sinusoidal;
  made.options.source_vocabulary = made.source.size();
  made.options.target_vocabulary = made.target.size();
  made.options.max_source = 9;
  nn::seed(3);
  made.model = models::make_model(made.options);
  return made;
}

/// A training of it.
struct Plan {
  TrainingRun run;
  PairLessons lessons;
};

inline Plan plan(const PairModel& model, const std::filesystem::path& folder) {
  Plan plan;
  plan.run.how.batch_tokens = 320;
  plan.run.how.rate = 5e-3;
  plan.run.how.warm_up = 20;
  plan.run.how.average = 0.95;
  plan.run.how.evaluate_every = 25;
  plan.run.how.evaluate_on = 40;
  plan.run.how.patience = 0;
  plan.run.where.folder = folder;
  plan.lessons.metric = Metric::phones;
  plan.lessons.train =
      encode_pairs(backwards(256), model.source, model.target, model.limits, Overlong::drop)
          .pairs;
  plan.lessons.development = backwards(64);
  plan.lessons.identity = "toy";
  return plan;
}

inline Trained train(PairModel& model, const Plan& plan, const Watch& watch) {
  return tasks::train(*pair_learner(model, plan.lessons, plan.run.how), plan.run, watch);
}

}  // namespace attn::tasks::toy
