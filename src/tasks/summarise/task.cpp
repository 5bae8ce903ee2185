// summarise: the description of a Debian package becomes its one-line synopsis.

#include "attn/tasks/task.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attn/files/printable.hpp"
#include "attn/models/options.hpp"
#include "attn/models/search.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/debian/index.hpp"
#include "attn/tasks/debian/split.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/text_data.hpp"
#include "tasks/debian/description.hpp"
#include "tasks/debian/kept_candidates.hpp"
#include "tasks/sentence_task.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

constexpr int kFewestWords = 15;
constexpr int kMostWords = 400;
constexpr int kFewestOfSynopsis = 3;
constexpr int kOpening = 25;

std::string joined(std::string_view body) {
  std::string text;
  for (const Paragraph& paragraph : paragraphs_of(body))
    for (const std::string& unit : paragraph) {
      if (!text.empty()) text += ' ';
      text += unit;
    }
  return text;
}

/// The first words: library, headers and documentation of one work begin alike, and differ in a
/// closing sentence alone.
std::string_view opening(std::string_view text) {
  std::size_t end = 0;
  for (int word = 0; word < kOpening && end != std::string_view::npos; ++word)
    end = text.find(' ', end + 1);
  return text.substr(0, end);
}

constexpr std::size_t kFewestSentences = 3;
constexpr std::size_t kMostSentences = 8;
constexpr int kShortestGap = 5;
constexpr int kLongestGap = 30;

std::string without(const std::vector<std::string>& parts, std::size_t gap) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i == gap) continue;
    if (!text.empty()) text += ' ';
    text += parts[i];
  }
  return text;
}

Corpus load_summarise(const DataChoice&, const Say& say) {
  KeptCandidates kept = kept_candidates("summarise", "", summarise_candidates, say);
  return apply_split(std::move(kept.candidates), shipped_split("summarise"), kept.release,
                     "Debian package descriptions");
}

}  // namespace

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
    return make_split(summarise_candidates(index), index.release, say);
  };
  task.load = load_summarise;
  return task;
}

std::vector<Candidate> summarise_candidates(const DebianIndex& index) {
  std::vector<Candidate> candidates;
  std::unordered_set<std::string_view> done;
  std::unordered_set<std::string> openings;
  for (const Description& description : index.english) {
    if (is_boilerplate(description) || !done.insert(description.md5).second) continue;
    std::string text = joined(description.body);
    const int words = word_count(text);
    if (words < kFewestWords || words > kMostWords ||
        word_count(description.synopsis) < kFewestOfSynopsis || !files::is_utf8(text) ||
        !files::is_utf8(description.synopsis))
      continue;
    if (!openings.emplace(opening(text)).second) continue;
    candidates.push_back(
        {{std::string(description.md5), std::move(text), {one_line(description.synopsis)}},
         std::string(description.source)});
  }
  return candidates;
}

std::vector<Example> gap_sentences(const std::vector<Example>& texts) {
  std::vector<Example> pairs;
  for (const Example& example : texts) {
    const std::vector<std::string> parts = sentences(example.source);
    if (parts.size() < kFewestSentences) continue;
    for (std::size_t gap = 0; gap < std::min(parts.size(), kMostSentences); ++gap) {
      const int words = word_count(parts[gap]);
      if (words < kShortestGap || words > kLongestGap) continue;
      pairs.push_back(
          {example.id + " " + std::to_string(gap), without(parts, gap), {parts[gap]}});
    }
  }
  return pairs;
}

}  // namespace attn::tasks
