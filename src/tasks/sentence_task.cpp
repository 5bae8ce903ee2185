#include "tasks/sentence_task.hpp"

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "attn/models/options.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/neighbours.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/task.hpp"
#include "attn/text/metrics/bleu.hpp"
#include "attn/text/metrics/rouge.hpp"
#include "attn/text/tokeniser.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks {
namespace {

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}

/// Whether the stop at `at` belongs to "e.g.", "i.e." or an initial: one letter before it.
bool abbreviates(std::string_view text, std::size_t at) {
  if (text[at] != '.' || at == 0 || !is_letter(text[at - 1])) return false;
  return at == 1 || text[at - 2] == ' ' || text[at - 2] == '.' || text[at - 2] == '(';
}

/// Chinese puts no space behind its marks: a sentence ends with one where a Han character
/// follows, whose UTF-8 begins with one of these bytes.
bool ends_chinese(std::string_view text, std::size_t at) {
  constexpr std::string_view kStop = "\u3002";
  if (at + 1 >= text.size()) return false;
  const auto next = static_cast<unsigned char>(text[at + 1]);
  return next >= 0xE4 && next <= 0xE9 &&
         (text[at] == '!' || text[at] == '?' || text.substr(0, at + 1).ends_with(kStop));
}

bool ends_sentence(std::string_view text, std::size_t at) {
  if (text[at] != '.' && text[at] != '!' && text[at] != '?') return false;
  if (at + 2 >= text.size() || text[at + 1] != ' ') return false;
  return std::islower(static_cast<unsigned char>(text[at + 2])) == 0 && !abbreviates(text, at);
}

/// Appends the text in parts of at most `most` tokens: halves, until they are short enough.
void append(const text::Tokeniser& tokeniser, std::int64_t most, std::string_view text,
            std::vector<std::string>& parts) {
  // A token is at least a byte, so short texts need not be tokenised twice.
  const auto length = static_cast<std::int64_t>(text.size());
  if (length <= most || (length <= 64 * most &&
                         static_cast<std::int64_t>(tokeniser.encode(text).size()) <= most)) {
    if (!text.empty()) parts.emplace_back(text);
    return;
  }
  std::size_t middle = text.rfind(' ', text.size() / 2);
  if (middle == std::string_view::npos || middle == 0) middle = text.find(' ');
  if (middle == std::string_view::npos || middle == 0 || middle + 1 >= text.size()) {
    middle = text.size() / 2;
    // Not inside a character.
    while (middle > 0 && (static_cast<unsigned char>(text[middle]) & 0xC0) == 0x80) --middle;
    if (middle == 0) {
      parts.emplace_back(text);
      return;
    }
    append(tokeniser, most, text.substr(0, middle), parts);
    append(tokeniser, most, text.substr(middle), parts);
    return;
  }
  append(tokeniser, most, text.substr(0, middle), parts);
  append(tokeniser, most, text.substr(middle + 1), parts);
}

/// For each test source the target of the training source that is nearest.
std::vector<std::string> nearest_targets(const Corpus& corpus) {
  const Neighbours neighbours(sources_of(corpus.train));
  std::vector<std::string> answers;
  answers.reserve(corpus.test.size());
  for (const Example& example : corpus.test)
    answers.push_back(corpus.train[neighbours.nearest(example.source).index].targets[0]);
  return answers;
}

/// Up to ten words; behind "is a", "is an" or "is the" where that is near the beginning.
std::string lead(const std::string& text) {
  constexpr std::ptrdiff_t kWords = 10;
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; words.size() < 2 * kWords && stream >> word;) words.push_back(word);
  auto begin = words.begin();
  for (auto at = words.begin(); at < words.end() - 1 && at - words.begin() < 6; ++at)
    if (*at == "is" && (at[1] == "a" || at[1] == "an" || at[1] == "the")) {
      begin = at + 2;
      break;
    }
  std::string out;
  for (auto at = begin; at < words.end() && at - begin < kWords; ++at)
    out += (out.empty() ? "" : " ") + *at;
  return out;
}

Baseline bleu_of(const char* name, const std::vector<std::string>& answers,
                 const std::vector<std::vector<std::string>>& references) {
  return {name, {{"BLEU", text::corpus_bleu(answers, references).score}}};
}

Baseline rouge_of(const char* name, const std::vector<std::string>& answers,
                  const std::vector<std::vector<std::string>>& references) {
  const text::Rouge rouge = text::corpus_rouge(answers, references);
  return {name,
          {{"ROUGE-1", 100 * rouge.rouge1.f1},
           {"ROUGE-2", 100 * rouge.rouge2.f1},
           {"ROUGE-L", 100 * rouge.rouge_l.f1}}};
}

}  // namespace

PairTask subword_task(std::int64_t vocabulary) {
  PairTask task;
  task.tokens = {.source = text::Units::subwords,
                 .target = text::Units::subwords,
                 .size = vocabulary,
                 .shared = true};
  task.model.dim = 256;
  task.model.encoder_layers = 3;
  task.model.decoder_layers = 2;
  task.model.heads = 4;
  task.model.positions = models::Positions::sinusoidal;
  task.model.feed_forward = 512;
  task.model.tie = models::Tie::all;
  task.training.batch_tokens = 4096;
  task.training.rate = 1.5e-3;
  task.training.evaluate_on = 300;
  return task;
}

std::vector<Baseline> translation_baselines(const Corpus& corpus) {
  if (corpus.test.empty() || corpus.train.empty()) return {};
  const auto references = targets_of(corpus.test);
  return {bleu_of("the source itself", sources_of(corpus.test), references),
          bleu_of("nearest training target", nearest_targets(corpus), references)};
}

std::vector<Baseline> summary_baselines(const Corpus& corpus) {
  if (corpus.test.empty() || corpus.train.empty()) return {};
  std::vector<std::string> leads;
  leads.reserve(corpus.test.size());
  for (const Example& example : corpus.test) leads.push_back(lead(example.source));
  const auto references = targets_of(corpus.test);
  return {rouge_of("first ten words", leads, references),
          rouge_of("nearest training target", nearest_targets(corpus), references)};
}

std::vector<std::string> sentences(std::string_view text) {
  std::vector<std::string> found;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool chinese = ends_chinese(text, at);
    if (!chinese && !ends_sentence(text, at)) continue;
    found.emplace_back(text.substr(begin, at + 1 - begin));
    begin = at + (chinese ? 1 : 2);
  }
  if (begin < text.size()) found.emplace_back(text.substr(begin));
  return found;
}

std::vector<std::string> split_for(const text::Tokeniser& tokeniser, std::int64_t most,
                                   std::string_view text) {
  std::vector<std::string> parts;
  for (const std::string& sentence : sentences(text::normalise(text)))
    append(tokeniser, most, sentence, parts);
  if (parts.empty()) parts.emplace_back();
  return parts;
}

}  // namespace attn::tasks
