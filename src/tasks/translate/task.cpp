// translate: a sentence of a Debian package's description, from English.

#include <string>
#include <string_view>

#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/debian/index.hpp"
#include "attn/tasks/debian/split.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/translate/load_translate.hpp"
#include "tasks/baselines.hpp"
#include "tasks/subword_task.hpp"
#include "tasks/tasks.hpp"
#include "tasks/translate/sentences.hpp"

namespace attn::tasks {

PairTask translate_task() {
  // Names and numbers are the same on both sides.
  PairTask task = subword_task(3900);
  task.card.name = "translate";
  task.card.title = "Translate English into Italian";
  task.card.help =
      "The model that ships learnt from the descriptions of Debian's packages: it knows "
      "software,\n"
      "not poetry. A text is translated sentence by sentence. Other languages: train a model\n"
      "(attn train translate --language da --out DIR) and name it with --model.\n"
      "\nExamples:\n"
      "    attn translate \"This package provides a simple tool to edit images.\"\n"
      "    attn translate --beam 8 --best 3 \"a fast web server\"\n"
      "    attn translate - < english.txt > italian.txt";
  task.card.metric = "BLEU";
  task.card.score = "BLEU";
  task.card.about =
      "English becomes Italian, or another language (Debian's package descriptions)";
  task.card.example = "This package provides a simple tool to edit images.";
  task.limits = {.source = 96, .target = 96};
  task.metric = Metric::bleu;
  // 2.1 % of the test part, and 99.8 % of everyday sentences.
  task.unfamiliar = 0.04;
  task.numbers = Numbers::all;
  // Lists end with semicolons in translations alone; a text by itself is no item of a list.
  task.copied_marks = ";";
  task.split = [](const PairModel& model, std::string_view text) {
    return split_for(model.source, model.limits.source, text);
  };
  task.baselines = translation_baselines;
  task.make_split = [](const std::string& language, const Say& say) {
    const DebianIndex index = load_debian(language, say);
    return make_split(translate_candidates(index), index.release, {}, say);
  };
  task.load = [](const std::string& language, const Say& say) {
    return load_translate(language, say);
  };
  return task;
}

}  // namespace attn::tasks
