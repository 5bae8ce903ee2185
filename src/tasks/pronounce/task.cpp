// pronounce: the letters of an English word become its phones.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "attn/files/printable.hpp"
#include "attn/models/options.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/pronounce/load_pronounce.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/text/tokeniser.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

/// The dictionary knows small letters alone.
std::string lower(std::string_view word) {
  std::string text(word);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

/// A word is read whole or not at all.
std::string too_long(const PairModel& model, std::string_view word) {
  const auto letters = static_cast<std::int64_t>(text::code_points(word).size());
  if (letters <= model.limits.source) return "";
  return "is a word of " + std::to_string(letters) + " letters: " + files::in_quotes(word) +
         "; the model reads at most " + std::to_string(model.limits.source);
}

}  // namespace

PairTask pronounce_task() {
  PairTask task;
  task.card.name = "pronounce";
  task.card.title = "Turn English words into phones";
  task.card.help =
      "The phones are those of the CMU Pronouncing Dictionary, without stress. A word that no\n"
      "dictionary has works as well: the model spells it out, looking at the letters it "
      "needs.\n"
      "\nExamples:\n"
      "    attn pronounce attention debian\n"
      "    attn pronounce --best 3 read\n"
      "    attn pronounce - < words.txt > phones.txt\n"
      "    attn pronounce --json --weights though | jq .pieces[0].answers[0].weights";
  task.card.metric = "PER";
  task.card.score = "PER";
  task.card.argument = "words";
  task.card.argument_type = "WORD";
  task.card.argument_help = "Words, or - for one a line";
  task.card.echo = true;
  task.card.about = "an English word becomes its phones (CMU Pronouncing Dictionary)";
  task.card.example = "attention";
  task.tokens = {.source = text::Units::characters, .target = text::Units::words};
  task.model.dim = 192;
  task.model.encoder_layers = 3;
  task.model.decoder_layers = 2;
  task.model.heads = 4;
  task.model.positions = models::Positions::sinusoidal;
  task.model.feed_forward = 512;
  task.limits = {.source = 48, .target = 48};
  task.metric = Metric::phones;
  task.training.batch_tokens = 4096;
  task.prepare = lower;
  task.refuse = too_long;
  task.load = [](const std::string&, const Say& say) { return load_pronounce(say); };
  return task;
}

}  // namespace attn::tasks
