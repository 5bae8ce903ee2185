// summarise: the description of a Debian package becomes its one-line synopsis.

#include "attn/tasks/task.hpp"

#include <string>

#include "attn/models/options.hpp"
#include "attn/models/search.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/summarise/load_summarise.hpp"
#include "tasks/subword_task.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {

Task summarise_task() {
  // Fewer subwords than translate: what copies needs parameters, too.
  Task task = subword_task(3200);
  task.name = "summarise";
  task.about = "a package's description becomes one line, rare words copied";
  task.example =
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
  task.load = [](const std::string&, const Say& say) { return load_summarise(say); };
  return task;
}

}  // namespace attn::tasks
