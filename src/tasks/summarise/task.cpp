// summarise: the description of a Debian package becomes its one-line synopsis.

#include "attn/tasks/task.hpp"

#include <string>

#include "attn/models/options.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/summarise/load_summarise.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {

Task summarise_task() {
  Task task;
  task.name = "summarise";
  task.about = "a package's description becomes one line, rare words copied";
  // Copying needs one vocabulary.
  task.tokens = {.source = text::Units::subwords,
                 .target = text::Units::subwords,
                 .size = 3900,
                 .shared = true};
  task.model.dim = 256;
  task.model.encoder_layers = 3;
  task.model.decoder_layers = 2;
  task.model.heads = 4;
  task.model.positions = models::Positions::sinusoidal;
  task.model.feed_forward = 512;
  task.model.tie = models::Tie::all;
  task.model.copy = models::Copy::pointer;
  // A synopsis tells what the first sentences tell.
  task.limits = {.source = 160, .target = 40};
  task.overlong = Overlong::cut;
  task.metric = Metric::rouge;
  task.training.batch_tokens = 8192;
  task.training.evaluate_on = 300;
  task.training.smoothing = 0.0;
  task.load = [](const std::string&, const Say& say) { return load_summarise(say); };
  return task;
}

}  // namespace attn::tasks
