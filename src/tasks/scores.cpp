#include "attn/tasks/scores.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/text/metrics/bleu.hpp"
#include "attn/text/metrics/chrf.hpp"
#include "attn/text/metrics/edit_distance.hpp"
#include "attn/text/metrics/rouge.hpp"
#include "attn/text/unicode.hpp"

namespace attn::tasks {

namespace {

bool is_letter(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 ||
         static_cast<unsigned char>(c) >= 0x80;
}

/// The words of three letters or more that begin with a capital of ASCII.
std::set<std::string> capitalised(std::string_view text) {
  constexpr std::size_t kFewestLetters = 3;
  std::set<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end - begin >= kFewestLetters && text[begin] >= 'A' && text[begin] <= 'Z')
      words.emplace(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace

Scores score(Metric metric, std::span<const std::string> answers,
             std::span<const std::vector<std::string>> references) {
  switch (metric) {
    case Metric::phones: {
      const text::ErrorRates rates = text::error_rates(answers, references);
      return {{"PER", rates.per}, {"WER", rates.wer}};
    }
    case Metric::bleu:
      return {{"BLEU", text::corpus_bleu(answers, references).score},
              {"chrF", text::corpus_chrf(answers, references)}};
    case Metric::exact: {
      const text::ErrorRates rates = text::character_error_rates(answers, references);
      return {{"CER", rates.per}, {"exact", 100.0 - rates.wer}};
    }
    case Metric::rouge:
      break;
  }
  const text::Rouge rouge = text::corpus_rouge(answers, references);
  return {{"ROUGE-L", 100.0 * rouge.rouge_l.f1},
          {"ROUGE-1", 100.0 * rouge.rouge1.f1},
          {"ROUGE-2", 100.0 * rouge.rouge2.f1}};
}

double sentence_score(Metric metric, const std::string& answer, const std::string& reference) {
  if (answer == reference) return 1.0;  // of nothing, too
  const std::vector<std::string> right{reference};
  const Scores scores = score(metric, {&answer, 1}, {&right, 1});
  const NamedScore& one = scores[metric == Metric::bleu ? 1 : 0];
  return counts_errors(one.name) ? 1.0 - 0.01 * one.value : 0.01 * one.value;
}

std::string name_of(Metric metric) {
  constexpr const char* kNames[] = {"PER", "BLEU", "ROUGE-L", "CER"};  // in the order of Metric
  return kNames[static_cast<std::size_t>(metric)];
}

bool counts_errors(std::string_view name) {
  return name == "PER" || name == "WER" || name == "CER" || name == "bits" || name == "nats" ||
         name.starts_with("error");
}

bool better(const Scores& a, const Scores& b) {
  return counts_errors(a[0].name) ? a[0].value < b[0].value : a[0].value > b[0].value;
}

nlohmann::json json_of(const Scores& scores) {
  nlohmann::json json = nlohmann::json::object();
  for (const NamedScore& one : scores) json[one.name] = one.value;
  return json;
}

std::string text_of(const Scores& scores) {
  std::string text;
  for (const NamedScore& one : scores) {
    char value[32];
    std::snprintf(value, sizeof value, "%.2f", one.value);
    text += (text.empty() ? "" : ", ") + one.name + " " + value;
  }
  return text;
}

std::vector<std::string> numbers_of(std::string_view text) {
  std::vector<std::string> numbers;
  bool inside = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !inside) numbers.emplace_back();
    if (digit) numbers.back() += c;
    inside = digit;
  }
  return numbers;
}

NameCounts count_names(std::span<const std::string> texts,
                       std::span<const std::vector<std::string>> references,
                       std::span<const std::string> answers) {
  NameCounts counts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::set<std::string> in_answer = capitalised(answers[i]);
    std::set<std::string> right;
    for (const std::string& reference : references[i]) right.merge(capitalised(reference));
    for (const std::string& name : capitalised(texts[i])) {
      if (!right.contains(name)) continue;
      ++counts.shared;
      counts.kept += in_answer.contains(name) ? 1 : 0;
    }
  }
  return counts;
}

NumberCounts count_numbers(std::span<const std::string> texts,
                           std::span<const std::string> answers) {
  NumberCounts counts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<std::string> source = numbers_of(text::normalise(texts[i]));
    const std::vector<std::string> answer = numbers_of(text::normalise(answers[i]));
    counts.in_texts += source.size();
    counts.in_answers += answer.size();
    std::vector<std::string> open = source;
    for (const std::string& number : answer) {
      if (std::find(source.begin(), source.end(), number) == source.end()) ++counts.invented;
      const auto same = std::find(open.begin(), open.end(), number);
      if (same == open.end()) continue;
      open.erase(same);
      ++counts.kept;
    }
  }
  return counts;
}

}  // namespace attn::tasks
