/// Two coloured squares on a light ground, and questions that only their picture answers.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/answer/data.hpp"

namespace attn::tasks::answer_toy {

using Paint = std::array<std::uint8_t, 3>;

inline Picture ground() {
  return {64, 64, 3, std::vector<std::uint8_t>(std::size_t{64} * 64 * 3, 240)};
}

inline void square(Picture& picture, std::size_t x, std::size_t y, std::size_t side,
                   const Paint& paint) {
  for (std::size_t row = y; row < y + side; ++row)
    for (std::size_t column = x; column < x + side; ++column)
      for (std::size_t channel = 0; channel < 3; ++channel)
        picture.pixels[(row * 64 + column) * 3 + channel] = paint.at(channel);
}

/// "what color is left?" and "what color is right?"; the rows in which squares lie vary.
inline const Corpus& corpus() {
  static const Corpus kCorpus = [] {
    const std::vector<std::pair<std::string, Paint>> paints{
        {"red", {230, 20, 20}}, {"green", {20, 160, 20}}, {"blue", {20, 20, 230}}};
    Corpus made;
    made.name = "squares";
    for (std::size_t i = 0; i < 150; ++i) {
      const auto& left = paints[i % 3];
      const auto& right = paints[i / 3 % 3];
      Picture picture = ground();
      square(picture, 4 + i * 5 % 12, i * 7 % 44, 16, left.second);
      square(picture, 36 + i * 11 % 10, i * 13 % 44, 16, right.second);
      const std::vector<vqa::Asked> asked{{"what color is left?", left.first},
                                          {"what color is right?", right.first}};
      const std::string id = "squares " + std::to_string(i);
      if (i % 5 != 4) {
        made.train.push_back(vqa::lesson(id, picture, asked));
        continue;
      }
      for (const vqa::Asked& one : asked)
        (i % 2 == 0 ? made.development : made.test).push_back(vqa::exam(id, picture, one));
    }
    return made;
  }();
  return kCorpus;
}

/// A model of them in a folder.
inline std::filesystem::path train(const std::filesystem::path& folder,
                                   const std::string& attention, std::int64_t steps) {
  const Task& task = task_named("answer");
  TrainingRun run = task.defaults({{"model", {{"attention", attention}}}}, nullptr);
  task.read({{"model", {{"attention", attention}, {"channels", 16}, {"hidden", 32}}}},
            "the test", run.what);
  run.how.batch_tokens = 24;
  run.how.rate = 5e-3;
  run.how.warm_up = 10;
  run.how.average = 0.9;
  run.how.evaluate_every = 50;
  run.how.patience = 0;
  run.where.folder = folder;
  run.budget.steps = steps;
  save_run(run);
  const auto learner = task.learner(run, corpus(), {});
  learner->begin(folder);
  tasks::train(*learner, run);
  return folder;
}

}  // namespace attn::tasks::answer_toy
