// translate: a sentence of everyday, or of a Debian package's description, into another
// language.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/debian/index.hpp"
#include "attn/tasks/debian/split.hpp"
#include "attn/tasks/languages.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/text_data.hpp"
#include "tasks/debian/description.hpp"
#include "tasks/debian/kept_candidates.hpp"
#include "tasks/sentence_task.hpp"
#include "tasks/tasks.hpp"
#include "tasks/translate/chinese.hpp"
#include "tasks/translate/everyday.hpp"

namespace attn::tasks {
namespace {

constexpr int kFewestWords = 3;
constexpr int kMostWords = 40;
/// Room for the mark that names a language.
constexpr std::int64_t kMarkTokens = 6;

bool is_fit(std::string_view source, std::string_view target) {
  const int words = word_count(source);
  const int others = word_count(target);
  return words >= kFewestWords && words <= kMostWords && others * 2 >= words &&
         others <= words * 2 && source != target && files::is_utf8(source) &&
         files::is_utf8(target);
}

/// Collects the pairs of one description.
class Aligner {
 public:
  Aligner(const Description& english, std::unordered_set<std::string>& seen,
          std::vector<Candidate>& out)
      : english_(english), seen_(seen), out_(out) {}

  void align(const Translated& translated) {
    pair(one_line(english_.synopsis), one_line(translated.synopsis));
    const auto source = paragraphs_of(english_.body);
    const auto target = paragraphs_of(translated.body);
    if (source.size() != target.size()) return;
    for (std::size_t i = 0; i < source.size(); ++i) align(source[i], target[i]);
  }

 private:
  void align(const Paragraph& source, const Paragraph& target) {
    for (std::size_t i = 0; i < source.size(); ++i) {
      const auto from = sentences_of(without_bullet(source[i]));
      const auto to = source.size() == target.size() ? sentences_of(without_bullet(target[i]))
                                                     : std::vector<std::string>();
      if (from.size() != to.size()) {
        place_ += from.size();
        continue;
      }
      for (std::size_t j = 0; j < from.size(); ++j) pair(from[j], to[j]);
    }
  }

  void pair(std::string_view source, std::string_view target) {
    const std::size_t place = place_++;
    if (!is_fit(source, target)) return;
    // Packages of one source repeat each other; between sources a repetition tells of leaks.
    if (!seen_.insert(std::string(english_.source) + "\t" + std::string(source)).second) return;
    out_.push_back({{std::string(english_.md5) + ":" + std::to_string(place),
                     std::string(source),
                     {std::string(target)}},
                    std::string(english_.source)});
  }

  const Description& english_;
  std::unordered_set<std::string>& seen_;
  std::vector<Candidate>& out_;
  std::size_t place_ = 0;
};

/// Pivoted pairs are four times as many as direct ones, and looser.
constexpr std::int64_t kDirect = 2;

/// Everyday sentences from English, in a file of their own.
Everyday from_english(const std::string& other, std::int64_t direct = 1) {
  return {.file = "en-" + other + ".tsv.xz", .other = other, .direct = direct};
}

/// What a choice of languages is learnt from.
struct Texts {
  std::string language;
  std::vector<Everyday> everyday;
  bool descriptions = false;
};

const std::vector<Texts>& all_texts() {
  static const std::vector<Texts> kTexts = [] {
    std::vector<Texts> texts{
        {"it", {from_english("it", kDirect)}, true}, {"da", {}, true},
        {"fr", {from_english("fr")}, true},          {"de", {from_english("de")}, true},
        {"es", {from_english("es")}, true},          {"fr+de+es", {}},
        {"zh-en", {{"zh-en.tsv.xz", "zh", true}}}};
    for (const std::string& other : languages_of("fr+de+es").to) {
      Everyday one = from_english(other);
      one.mark = mark_of(other);
      texts[5].everyday.push_back(one);
    }
    return texts;
  }();
  return kTexts;
}

const Texts& texts_of(const DataChoice& choice) {
  std::string names;
  for (const Texts& one : all_texts()) {
    if (one.language == choice.language) return one;
    names += " " + one.language;
  }
  fail("attn::tasks::load_translate: language ", files::in_quotes(choice.language),
       "; there are:", names);
}

Corpus load_descriptions(const std::string& language, const Say& say) {
  const std::string name = "translate-" + language;
  KeptCandidates kept = kept_candidates(name, language, translate_candidates, say);
  return apply_split(std::move(kept.candidates), shipped_split(name), kept.release,
                     "Debian package descriptions, en-" + language);
}

/// Two kinds of text were split each for itself: what one holds out, the other may not teach.
void drop_held_out(Corpus& corpus) {
  std::unordered_set<std::string> held;
  for (const auto* part : {&corpus.development, &corpus.test})
    for (const Example& example : *part) held.insert(example.source);
  std::erase_if(corpus.train,
                [&](const Example& example) { return held.contains(example.source); });
}

Corpus load_translate(const DataChoice& choice, const Say& say) {
  const Texts& texts = texts_of(choice);
  const bool everyday = choice.texts != "descriptions" && !texts.everyday.empty();
  const bool descriptions = choice.texts != "everyday" && texts.descriptions;
  if (!everyday && !descriptions)
    fail("there are no ", choice.texts, " texts for --language ", choice.language);
  Corpus corpus;
  if (descriptions) corpus = load_descriptions(choice.language, say);
  if (!everyday) return corpus;
  corpus.name += (descriptions ? " and " : "") + ("everyday sentences, " + choice.language);
  for (const Everyday& one : texts.everyday) add_everyday(one, corpus);
  if (choice.language == "it") add_times_of_day(corpus);
  if (choice.language == "zh-en") add_headwords(load_headwords(say), corpus);
  drop_held_out(corpus);
  return corpus;
}

std::string part_of(const Example& example) {
  return example.id.starts_with("everyday") ? example.id.substr(0, example.id.find(':'))
                                            : "descriptions";
}

}  // namespace

PairTask translate_task() {
  // Names and numbers are the same on both sides.
  PairTask task = subword_task(3900);
  task.card.name = "translate";
  task.card.title =
      "Translate English into Italian, French, German, Spanish; Chinese into English";
  task.card.help =
      "The models that ship learnt everyday sentences; the Italian one the descriptions of\n"
      "Debian's packages, too. None knows poetry or law. A text is translated sentence by\n"
      "sentence; Chinese is told by its script. Other languages: train a model\n"
      "(attn train translate --language da --out DIR) and name it with --model.\n"
      "\nExamples:\n"
      "    attn translate \"I love playing football.\"\n"
      "    attn translate \"This package provides a simple tool to edit images.\"\n"
      "    attn translate --to fr \"What time is it?\"\n"
      "    attn translate \"\u4ecb\u7ecd\u4e00\u4e0b\u897f\u5b89\"\n"
      "    attn translate --model translate-zh-en-bahdanau \"\u4f60\u597d\" --map hello.svg\n"
      "    attn translate --beam 8 --best 3 \"a fast web server\"\n"
      "    attn translate - < english.txt > italian.txt";
  task.card.directions = {{"en", "it", "translate"},
                          {"en", "fr", "translate-fr-de-es"},
                          {"en", "de", "translate-fr-de-es"},
                          {"en", "es", "translate-fr-de-es"},
                          {"zh", "en", "translate-zh-en"}};
  task.card.language_of = [](const std::string& text) -> std::string {
    return is_chinese(text) ? "zh" : "en";
  };
  task.card.metric = "BLEU";
  task.card.score = "BLEU";
  task.card.about =
      "English becomes Italian, French, German or Spanish; Chinese becomes English";
  task.card.example = "This package provides a simple tool to edit images.";
  task.limits = {.source = 96, .target = 96};
  task.metric = Metric::bleu;
  // Everyday sentences are its own; what it does not know is verse, law and code.
  task.unfamiliar = 0.01;
  task.other_words = "en-other";
  task.tells_symbols = true;
  task.numbers = Numbers::all;
  // Lists end with semicolons in translations alone; a text by itself is no item of a list.
  task.copied_marks = ";";
  task.split = [](const PairModel& model, std::string_view text) {
    return split_for(model.source, model.limits.source - kMarkTokens, text);
  };
  task.baselines = translation_baselines;
  task.make_split = [](const std::string& language, const Say& say) {
    const DebianIndex index = load_debian(language, say);
    return make_split(translate_candidates(index), index.release, say);
  };
  task.load = load_translate;
  task.prepared.assign(everyday_files().begin(), everyday_files().end());
  task.part_of = part_of;
  return task;
}

const std::vector<std::string>& translate_languages() {
  static const std::vector<std::string> kLanguages{"it", "da", "fr", "de", "es"};
  return kLanguages;
}

const std::vector<std::string>& translate_choices() {
  static const std::vector<std::string> kChoices = [] {
    std::vector<std::string> choices;
    for (const Texts& one : all_texts()) choices.push_back(one.language);
    return choices;
  }();
  return kChoices;
}

std::vector<Candidate> translate_candidates(const DebianIndex& index) {
  std::vector<Candidate> candidates;
  std::unordered_set<std::string_view> done;
  std::unordered_set<std::string> seen;
  for (const Description& english : index.english) {
    if (is_boilerplate(english) || !done.insert(english.md5).second) continue;
    const auto translated = index.translated.find(english.md5);
    if (translated != index.translated.end())
      Aligner(english, seen, candidates).align(translated->second);
  }
  return candidates;
}

}  // namespace attn::tasks
