// translate: a sentence of a Debian package's description, from English.

#include <algorithm>
#include <cstddef>
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
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/text_data.hpp"
#include "tasks/debian/description.hpp"
#include "tasks/debian/kept_candidates.hpp"
#include "tasks/sentence_task.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

constexpr int kFewestWords = 3;
constexpr int kMostWords = 40;

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

Corpus load_translate(const std::string& language, const Say& say) {
  const auto& known = translate_languages();
  if (std::find(known.begin(), known.end(), language) == known.end()) {
    std::string names;
    for (const std::string& name : known) names += " " + name;
    fail("attn::tasks::load_translate: language ", files::in_quotes(language),
         "; there are:", names);
  }
  const std::string name = "translate-" + language;
  KeptCandidates kept = kept_candidates(name, language, translate_candidates, say);
  return apply_split(std::move(kept.candidates), shipped_split(name), kept.release,
                     "Debian package descriptions, en-" + language);
}

}  // namespace

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
    return make_split(translate_candidates(index), index.release, say);
  };
  task.load = load_translate;
  return task;
}

const std::vector<std::string>& translate_languages() {
  static const std::vector<std::string> kLanguages{"it", "da", "fr", "de", "es"};
  return kLanguages;
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
