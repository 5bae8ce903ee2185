#include "attn/tasks/scores.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/text/metrics/bleu.hpp"
#include "attn/text/metrics/chrf.hpp"
#include "attn/text/metrics/edit_distance.hpp"
#include "attn/text/metrics/rouge.hpp"

namespace attn::tasks {

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
  switch (metric) {
    case Metric::phones:
    case Metric::exact:
      return 1.0 - 0.01 * scores[0].value;
    case Metric::bleu:
      return 0.01 * scores[1].value;
    case Metric::rouge:
      break;
  }
  return 0.01 * scores[0].value;
}

std::string name_of(Metric metric) {
  switch (metric) {
    case Metric::phones:
      return "PER";
    case Metric::bleu:
      return "BLEU";
    case Metric::exact:
      return "CER";
    case Metric::rouge:
      break;
  }
  return "ROUGE-L";
}

bool counts_errors(std::string_view name) {
  return name == "PER" || name == "WER" || name == "CER";
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

}  // namespace attn::tasks
