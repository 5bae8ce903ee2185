// pairs: texts of the user's own, whatever they are.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/models/options.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/corpus_report.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/text/tokeniser.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/sentence_task.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

/// Where nearly all texts have at most so many characters they are read letter by letter:
/// words, dates, codes. Sentences are longer, and a letter of them tells little.
constexpr std::size_t kShortText = 48;
/// Subwords: as many as that many pairs have examples of.
constexpr std::size_t kManyPairs = 20000;

/// Short texts: a small recurrent model that looks learns them in a minute, where a Transformer
/// needs several (docs/training.md, section 5).
void read_letters(PairTask& task) {
  task.tokens = {.source = text::Units::characters, .target = text::Units::characters};
  task.model.kind = models::Kind::bahdanau;
  task.model.dim = 96;
  task.limits = {.source = 96, .target = 96};
  task.training.warm_up = 100;
  task.training.average = 0.995;
  task.training.evaluate_every = 250;
}

void read_subwords(PairTask& task, std::size_t pairs) {
  const PairTask sentences = subword_task(pairs < kManyPairs ? 2000 : 4000);
  task.tokens = sentences.tokens;
  task.model = sentences.model;
  task.limits = {.source = 128, .target = 128};
  task.training = sentences.training;
}

void suit(PairTask& task, const Corpus& corpus) {
  std::vector<std::size_t> sources;
  std::vector<std::size_t> targets;
  for (const Example& example : corpus.train) {
    sources.push_back(text::code_points(example.source).size());
    for (const std::string& target : example.targets)
      targets.push_back(text::code_points(target).size());
  }
  if (lengths_of(sources).most <= kShortText && lengths_of(targets).most <= kShortText)
    read_letters(task);
  else
    read_subwords(task, corpus.train.size());
}

/// Pairs that are too long are not learnt from, so a text that is too long is not answered.
std::string too_long(const PairModel& model, std::string_view text) {
  const auto tokens = static_cast<std::int64_t>(model.source.encode(text).size());
  if (tokens <= model.limits.source) return "";
  return "is a text of " + std::to_string(tokens) + " tokens: " + files::in_quotes(text) +
         "; the model reads at most " + std::to_string(model.limits.source);
}

}  // namespace

PairTask pairs_task() {
  PairTask task;
  task.card.name = "pairs";
  task.card.title = "Answer texts with a model trained on your own pairs";
  task.card.help =
      "Train one first: a file with a pair a line, source and target between them a tab (or "
      "CSV,\n"
      "or JSON lines), and a minute. The answer is one line a text.\n"
      "\nExamples:\n"
      "    seq 0 19999 | LC_ALL=C awk '{t = $1 * 86400;\n"
      "      print strftime(\"%-d %B %Y\", t, 1) \"\\t\" strftime(\"%Y-%m-%d\", t, 1)}' > "
      "dates.tsv\n"
      "    attn train pairs --data dates.tsv --out dates --minutes 1\n"
      "    attn pairs --model dates \"12 August 1997\"\n"
      "    attn pairs --model dates --best 3 \"1 May 2000\"\n"
      "    cut -f 1 dates.tsv | head | attn pairs --model dates -\n"
      "    attn pairs --model dates \"1 May 2000\" --show       where each letter looked";
  task.card.metric = "CER";
  task.card.score = "CER";
  task.card.ships = false;
  task.card.argument = "texts";
  task.card.argument_help = "Texts, or - for one a line";
  task.card.about = "your own pairs: a text becomes what your file says it becomes";
  task.metric = Metric::exact;
  read_letters(task);
  task.suit = suit;
  task.refuse = too_long;
  task.load = [](const DataChoice&, const Say&) -> Corpus {
    fail("the task pairs has no data of its own; name your file with --data FILE ",
         "(source<TAB>target a line, .csv with a header, or .jsonl)");
  };
  return task;
}

}  // namespace attn::tasks
