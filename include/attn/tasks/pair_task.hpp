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
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
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

/// What becomes of the numbers of a text. The rule holds for a model whose calibration found
/// that its data follows it.
enum class Numbers {
  free,         ///< anything
  from_source,  ///< an answer has no number that its text does not have
  all,          ///< and it should have all of them
};

/// Which of the task's own data; both matter to translate alone.
struct DataChoice {
  std::string language = "it";
  std::string texts = "all";  ///< "all", "everyday" or "descriptions"
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
  /// What its words are held against, of data/everyday: everyday English, or "en-other", which
  /// is verse, law and code.
  std::string other_words = "en";
  /// Whether a text with more symbols than any learnt is unfamiliar for that.
  bool tells_symbols = false;
  Numbers numbers = Numbers::free;
  /// Marks that an answer has only where its text has them, if the model's data is so.
  std::string copied_marks;
  /// The task's own data.
  std::function<Corpus(const DataChoice& choice, const Say& say)> load;
  /// What it reads that no package has.
  std::vector<PreparedFile> prepared = {};
  /// The kind of text that an example is, where the data has several and each is to have its
  /// scores: "everyday it", "descriptions".
  std::function<std::string(const Example& example)> part_of = {};
  /// Makes tokens, model and limits suit the data, where a task does not know it beforehand.
  std::function<void(PairTask& task, const Corpus& corpus)> suit = {};
  /// What the test part gives away without a model.
  std::function<std::vector<Baseline>(const Corpus& corpus)> baselines = {};
  /// Texts of train without a sentence, and that sentence, for a first training.
  std::function<std::vector<Example>(const Corpus& corpus)> gaps = {};
  /// A new list of what is held out.
  std::function<std::string(const std::string& language, const Say& say)> make_split = {};
};

const std::vector<PairTask>& all_pair_tasks();
/// InvalidArgument that lists them when there is none of that name.
const PairTask& pair_task_named(std::string_view name);

}  // namespace attn::tasks
