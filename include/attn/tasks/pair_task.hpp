/// PairTask: one job from text to text, as data: what it learns from, how it answers and how it
/// is judged.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attn/models/options.hpp"
#include "attn/models/search.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks {

/// How text becomes numbers, when a model is trained.
struct TokeniserPlan {
  text::Units source = text::Units::subwords;
  text::Units target = text::Units::subwords;
  std::int64_t size = 4000;  ///< of subwords; characters and words keep what occurs
  /// One vocabulary for both sides, so that words can be copied and tables shared.
  bool shared = false;
};

/// How a model is trained; a flag for each.
struct TrainingOptions {
  std::int64_t batch_tokens = 4096;  ///< of a step, source and target, padding included
  double rate = 2e-3;                ///< largest; falls as 1 / sqrt(step) after the warm-up
  std::int64_t warm_up = 500;
  double smoothing = 0.1;
  double coverage = 0.0;  ///< weight of the coverage loss
  /// Share of the loss that is the metric itself: draws of the model, each as likely as it is
  /// better than the other draws for its source. Of a model that answers already.
  double self_critical = 0.0;
  double clip = 1.0;   ///< joint norm of the gradients
  double decay = 0.0;  ///< of AdamW
  /// What is scored and saved is a moving average of the weights: it does what a falling rate
  /// does and asks for no number of steps to be known. Polyak and Juditsky, 1992.
  double average = 0.999;
  std::int64_t evaluate_every = 500;  ///< steps
  std::int64_t evaluate_on = 500;     ///< examples of the development part, at most
  std::int64_t patience = 10;         ///< evaluations without a better score; 0: never stops
  std::uint64_t seed = 1;
};

/// What becomes of the numbers of a text. The rule holds for a model whose calibration found
/// that its data follows it.
enum class Numbers {
  free,         ///< anything
  from_source,  ///< an answer has no number that its text does not have
  all,          ///< and it should have all of them
};

/// What a task decides, it decides for every door: commands, the server, `explain`, `eval` and
/// programs answer through tasks::Answerer.
struct PairTask {
  TaskCard card;
  TokeniserPlan tokens;
  models::ModelOptions model;
  TrainingOptions training;
  Limits limits;
  Overlong overlong = Overlong::drop;
  Metric metric = Metric::bleu;
  models::SearchOptions search{.beam = 4};  ///< of evaluation and answers
  /// What is done to a text before it is read, in training as in answers.
  std::function<std::string(std::string_view)> prepare;
  /// Cuts a text into what the model reads in one go; answers are joined by spaces. None: a
  /// text is one piece.
  std::function<std::vector<std::string>(const PairModel&, std::string_view)> split;
  /// What keeps a model from reading a text, to stand behind "the text "; "": nothing does.
  std::function<std::string(const PairModel&, std::string_view)> refuse;
  /// The share of development texts that calibration lets be unfamiliar by their words.
  double unfamiliar = 0.03;
  Numbers numbers = Numbers::free;
  /// Marks that an answer has only where its text has them, if the model's data is so.
  std::string copied_marks;
  /// The task's own data; `language` matters to translate alone.
  std::function<Corpus(const std::string& language, const Say& say)> load;
  /// Makes tokens, model and limits suit the data, where a task does not know it beforehand.
  std::function<void(PairTask& task, const Corpus& corpus)> suit = {};
};

const std::vector<PairTask>& all_pair_tasks();
/// InvalidArgument that lists them when there is none of that name.
const PairTask& pair_task_named(std::string_view name);

}  // namespace attn::tasks
