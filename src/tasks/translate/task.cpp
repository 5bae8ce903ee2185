// translate: a sentence of a Debian package's description, from English.

#include "attn/tasks/task.hpp"

#include <string>

#include "attn/models/options.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/translate/load_translate.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {

Task translate_task() {
  Task task;
  task.name = "translate";
  task.about = "English becomes Italian, or another language (Debian's package descriptions)";
  // One vocabulary: names and numbers are the same on both sides, and one table serves three.
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
  task.limits = {.source = 96, .target = 96};
  task.metric = Metric::bleu;
  task.training.batch_tokens = 8192;
  task.training.evaluate_on = 300;
  task.load = [](const std::string& language, const Say& say) {
    return load_translate(language, say);
  };
  return task;
}

}  // namespace attn::tasks
