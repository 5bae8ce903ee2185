// SPDX-License-Identifier: Apache-2.0

#include "attn/text/metrics/bleu.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/text/metrics/references.hpp"
#include "attn/text/unicode.hpp"
#include "text/metrics/ngrams.hpp"

namespace attn::text {
namespace {

// mteval-v13a's tokens, the rules that most published BLEU scores rest on. Each rule reads the
// text once from left to right, as a regular expression would. Bytes serve for characters:
// the rules only name ASCII, and no byte of a longer character is ASCII.

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_stop(char c) {
  return c == '.' || c == ',';
}

/// Signs that always stand alone: ASCII punctuation but for ' , - . and the digits' friends.
bool stands_alone(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
         (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string out;
  while (true) {
    const std::size_t at = text.find(what);
    out += text.substr(0, at);
    if (at == std::string_view::npos) return out;
    out += by;
    text.remove_prefix(at + what.size());
  }
}

/// Puts `before`, `between` and `behind` around each neighbouring pair that `first` and
/// `second` accept. A character belongs to one pair only.
template <class First, class Second>
std::string around_pairs(std::string_view text, First first, Second second,
                         std::string_view before, std::string_view between,
                         std::string_view behind) {
  std::string out;
  out.reserve(text.size() + text.size() / 4);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !first(text[i]) || !second(text[i + 1])) {
      out += text[i];
      continue;
    }
    out += before;
    out += text[i];
    out += between;
    out += text[++i];
    out += behind;
  }
  return out;
}

std::string plain(std::string_view text) {
  std::string out = replaced(text, "<skipped>", "");
  out = replaced(out, "-\n", "");
  out = replaced(out, "\n", " ");
  out = replaced(out, "&quot;", "\"");
  out = replaced(out, "&amp;", "&");
  out = replaced(out, "&lt;", "<");
  return replaced(out, "&gt;", ">");
}

std::string without_space_behind(std::string_view text) {
  const auto words = split_words(text);
  if (words.empty()) return "";
  return std::string(text.substr(
      0, static_cast<std::size_t>(words.back().data() + words.back().size() - text.data())));
}

constexpr std::size_t kOrders = Bleu::kOrders;

/// Which orders of n-grams make the mean.
enum class Orders { all, present };

std::vector<std::string> tokens_of(const std::string& text, LetterCase letters) {
  return tokenise_13a(letters == LetterCase::lowered ? lower(text) : text);
}

/// Adds the counts of one line.
void add_line(Bleu& sum, const std::string& hypothesis,
              const std::vector<std::string>& references, LetterCase letters) {
  WordNumbers words;
  const std::u32string answer = words.number(tokens_of(hypothesis, letters));
  std::vector<std::u32string> wanted;
  wanted.reserve(references.size());
  for (const std::string& reference : references)
    wanted.push_back(words.number(tokens_of(reference, letters)));

  const auto length = static_cast<std::int64_t>(answer.size());
  const auto nearest = std::min_element(
      wanted.begin(), wanted.end(), [&](const std::u32string& a, const std::u32string& b) {
        const auto size_a = static_cast<std::int64_t>(a.size());
        const auto size_b = static_cast<std::int64_t>(b.size());
        const auto far_a = std::abs(size_a - length);
        const auto far_b = std::abs(size_b - length);
        return far_a != far_b ? far_a < far_b : size_a < size_b;
      });
  sum.length += length;
  sum.reference_length += static_cast<std::int64_t>(nearest->size());

  for (std::size_t n = 1; n <= kOrders; ++n) {
    NgramCounts most;  // of any one reference
    for (const std::u32string& reference : wanted)
      for (const auto& [ngram, count] : count_ngrams(reference, n))
        most[ngram] = std::max(most[ngram], count);
    sum.totals[n - 1] += ngrams_in(answer, n);
    sum.matches[n - 1] += common(count_ngrams(answer, n), most);
  }
}

void finish(Bleu& bleu, Orders orders) {
  const auto length = static_cast<double>(bleu.length);
  const auto wanted = static_cast<double>(bleu.reference_length);
  bleu.brevity_penalty = 1.0;
  if (bleu.length < bleu.reference_length)
    bleu.brevity_penalty = bleu.length > 0 ? std::exp(1.0 - wanted / length) : 0.0;
  if (std::all_of(bleu.matches.begin(), bleu.matches.end(),
                  [](std::int64_t count) { return count == 0; }))
    return;

  // Each order without a match counts half of what the one before it did.
  double smooth = 1.0;
  std::size_t present = 0;
  double log_sum = 0.0;
  for (; present < kOrders && bleu.totals[present] > 0; ++present) {
    const auto total = static_cast<double>(bleu.totals[present]);
    double& precision = bleu.precisions[present];
    if (bleu.matches[present] == 0)
      precision = 100.0 / ((smooth *= 2.0) * total);
    else
      precision = 100.0 * static_cast<double>(bleu.matches[present]) / total;
    log_sum += std::log(precision);
  }
  if (orders == Orders::all && present < kOrders) return;  // an order is zero
  bleu.score = bleu.brevity_penalty * std::exp(log_sum / static_cast<double>(present));
}

}  // namespace

Bleu corpus_bleu(Hypotheses hypotheses, References references, LetterCase letters) {
  check_references(hypotheses, references, "attn::text::corpus_bleu");
  Bleu bleu;
  for (std::size_t i = 0; i < hypotheses.size(); ++i)
    add_line(bleu, hypotheses[i], references[i], letters);
  finish(bleu, Orders::all);
  return bleu;
}

Bleu sentence_bleu(const std::string& hypothesis, const std::vector<std::string>& references,
                   LetterCase letters) {
  if (references.empty()) fail("attn::text::sentence_bleu: there is no reference");
  Bleu bleu;
  add_line(bleu, hypothesis, references, letters);
  finish(bleu, Orders::present);
  return bleu;
}

std::vector<std::string> tokenise_13a(std::string_view text) {
  std::string line = " ";
  for (const char c : plain(without_space_behind(text))) {
    if (stands_alone(c)) {
      line += ' ';
      line += c;
      line += ' ';
    } else {
      line += c;
    }
  }
  line += ' ';
  const auto no_digit = [](char c) { return !is_digit(c); };
  line = around_pairs(line, no_digit, is_stop, "", " ", " ");
  line = around_pairs(line, is_stop, no_digit, " ", " ", "");
  line = around_pairs(line, is_digit, [](char c) { return c == '-'; }, "", " ", " ");
  const auto words = split_words(line);
  return {words.begin(), words.end()};
}

}  // namespace attn::text
