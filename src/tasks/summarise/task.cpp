// summarise: the description of a Debian package becomes its one-line synopsis.

#include "attn/tasks/task.hpp"

#include <string>

#include "attn/models/options.hpp"
#include "attn/models/search.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/debian/index.hpp"
#include "attn/tasks/debian/split.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/summarise/gap_sentences.hpp"
#include "attn/tasks/summarise/load_summarise.hpp"
#include "tasks/baselines.hpp"
#include "tasks/subword_task.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {

PairTask summarise_task() {
  // Fewer subwords than translate: what copies needs parameters, too.
  PairTask task = subword_task(3200);
  task.card.name = "summarise";
  task.card.title = "Summarise a package description in one line";
  task.card.help =
      "The model that ships learnt to write the synopsis of a Debian package from its long\n"
      "description. It copies names it has never seen from the text. What stands after the "
      "first\n"
      "hundred words or so is not read.\n"
      "\nExamples:\n"
      "    attn summarise README.txt\n"
      "    apt-cache show --no-all-versions hello | sed -n 's/^ //p' > d.txt; attn summarise "
      "d.txt\n"
      "    attn summarise - < one-text-a-line.txt\n"
      "    attn summarise \"Frobnix is a fast web server. It needs little memory.\"\n"
      "    attn summarise --text \"$(xclip -o)\" --show";
  task.card.metric = "ROUGE";
  task.card.score = "ROUGE-L";
  task.card.reads = TaskCard::Reads::files;
  task.card.argument = "files";
  task.card.argument_type = "FILE";
  task.card.argument_help = "Text files, a text in quotes, or - for one text a line";
  task.card.about = "a package's description becomes one line, rare words copied";
  task.card.example =
      "Hello prints a friendly greeting. It allows nonprogrammers to use a classic computer "
      "science tool which would otherwise be unavailable to them.";
  task.model.copy = models::Copy::pointer;
  // A synopsis tells what the first sentences tell.
  task.limits = {.source = 160, .target = 40};
  task.overlong = Overlong::cut;
  task.metric = Metric::rouge;
  // Chosen on the development part.
  task.search = {
      .beam = 16, .length_penalty = 1.0, .no_repeat = 3, .choice = models::Choice::consensus};
  // Long texts are told apart with ease.
  task.unfamiliar = 0.02;
  task.numbers = Numbers::from_source;
  task.training.smoothing = 0.0;
  task.baselines = summary_baselines;
  task.gaps = [](const Corpus& corpus) { return gap_sentences(corpus.train); };
  task.make_split = [](const std::string&, const Say& say) {
    const DebianIndex index = load_debian("", say);
    return make_split(summarise_candidates(index), index.release, {}, say);
  };
  task.load = [](const std::string&, const Say& say) { return load_summarise(say); };
  return task;
}

}  // namespace attn::tasks
