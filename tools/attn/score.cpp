// attn score: a metric of answers against references, from files.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/text/metrics/bleu.hpp"
#include "attn/text/metrics/chrf.hpp"
#include "attn/text/metrics/edit_distance.hpp"
#include "attn/text/metrics/references.hpp"
#include "attn/text/metrics/rouge.hpp"
#include "attn/text/unicode.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {
namespace {

using Lines = std::vector<std::string>;
using Json = nlohmann::ordered_json;

struct ScoreOptions {
  std::string metric;
  std::string hypotheses;
  std::vector<std::string> references;
  bool lower = false;
  bool sentence = false;
  bool json = false;
};

/// What is compared: texts, and for each all that would have been right.
struct Pairs {
  Lines hypotheses;
  std::vector<Lines> references;
  text::LetterCase letters = text::LetterCase::kept;
};

/// A score in words and as data.
struct Result {
  std::string words;
  Json data;
};

constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;

Lines lines_of(const std::string& path) {
  const bool standard = path == "-";
  const std::string content = standard
                                  ? std::string(std::istreambuf_iterator<char>(std::cin), {})
                                  : files::read_text(path, kMostBytes);
  const std::string where = standard ? "standard input" : files::path_text(path);
  Lines lines;
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = std::min(content.find('\n', begin), content.size());
    lines.push_back(content.substr(begin, end - begin));
    if (!files::is_utf8(lines.back()))
      fail(where, ": line ", lines.size(), " is not UTF-8: ", files::in_quotes(lines.back()));
    begin = end + 1;
  }
  if (lines.empty()) fail(where, " is empty; a text a line is wanted");
  return lines;
}

Pairs read(const ScoreOptions& options) {
  Pairs pairs;
  pairs.hypotheses = lines_of(options.hypotheses);
  pairs.references.resize(pairs.hypotheses.size());
  if (options.lower) pairs.letters = text::LetterCase::lowered;
  const bool variants = options.metric == "per" || options.metric == "wer";
  for (const std::string& path : options.references) {
    Lines lines = lines_of(path);
    if (lines.size() != pairs.hypotheses.size())
      fail(files::path_text(path), " has ", lines.size(), " lines and the hypotheses have ",
           pairs.hypotheses.size(), "; line N is compared with line N");
    for (std::size_t i = 0; i < lines.size(); ++i) {
      // Words have one variant or several: where a later file has none, its line is empty.
      if (variants && !pairs.references[i].empty() && text::split_words(lines[i]).empty())
        continue;
      pairs.references[i].push_back(std::move(lines[i]));
    }
  }
  return pairs;
}

Result bleu(const Pairs& pairs) {
  const text::Bleu bleu = text::corpus_bleu(pairs.hypotheses, pairs.references, pairs.letters);
  const auto& p = bleu.precisions;
  return {fmt::format("BLEU {:.2f} (precisions {:.1f}/{:.1f}/{:.1f}/{:.1f}, brevity penalty "
                      "{:.3f}, {} tokens, references {})",
                      bleu.score, p[0], p[1], p[2], p[3], bleu.brevity_penalty, bleu.length,
                      bleu.reference_length),
          {{"bleu", bleu.score},
           {"precisions", p},
           {"bp", bleu.brevity_penalty},
           {"sys_len", bleu.length},
           {"ref_len", bleu.reference_length}}};
}

Result chrf(const Pairs& pairs) {
  const double score = text::corpus_chrf(pairs.hypotheses, pairs.references, pairs.letters);
  return {fmt::format("chrF2 {:.2f}", score), {{"chrf2", score}}};
}

Result rouge(const Pairs& pairs) {
  const text::Rouge rouge = text::corpus_rouge(pairs.hypotheses, pairs.references);
  Result result;
  const auto add = [&](const char* name, const std::string& key, const text::Overlap& at) {
    if (!result.words.empty()) result.words += '\n';
    result.words += fmt::format("{} {:.2f} (precision {:.2f}, recall {:.2f})", name,
                                100.0 * at.f1, 100.0 * at.precision, 100.0 * at.recall);
    result.data[key + "_fmeasure"] = at.f1;
    result.data[key + "_precision"] = at.precision;
    result.data[key + "_recall"] = at.recall;
  };
  add("ROUGE-1", "rouge1", rouge.rouge1);
  add("ROUGE-2", "rouge2", rouge.rouge2);
  add("ROUGE-L", "rougeL", rouge.rouge_l);
  return result;
}

Result error_rates(const Pairs& pairs, const std::string& metric) {
  const text::ErrorRates rates =
      text::error_rates(pairs.hypotheses, pairs.references, pairs.letters);
  if (metric == "per")
    return {fmt::format("PER {:.2f} ({} edits in {} units, {} lines)", rates.per, rates.edits,
                        rates.length, rates.lines),
            {{"per", rates.per}, {"edits", rates.edits}, {"length", rates.length}}};
  return {fmt::format("WER {:.2f} ({} of {} lines equal no reference)", rates.wer, rates.wrong,
                      rates.lines),
          {{"wer", rates.wer}, {"wrong", rates.wrong}}};
}

Result score_of(const std::string& metric, const Pairs& pairs) {
  if (metric == "bleu") return bleu(pairs);
  if (metric == "chrf") return chrf(pairs);
  if (metric == "rouge") return rouge(pairs);
  return error_rates(pairs, metric);
}

/// The score of a line; BLEU has its own rule for single lines.
Json line_score(const std::string& metric, const Pairs& line) {
  if (metric == "bleu")
    return text::sentence_bleu(line.hypotheses[0], line.references[0], line.letters).score;
  Json data = score_of(metric, line).data;
  return metric == "rouge" ? data : data.front();
}

std::string line_text(const Json& score) {
  if (!score.is_object()) return fmt::format("{:.2f}", score.get<double>());
  const auto percent = [&](const char* key) { return 100.0 * score.at(key).get<double>(); };
  return fmt::format("{:.2f}\t{:.2f}\t{:.2f}", percent("rouge1_fmeasure"),
                     percent("rouge2_fmeasure"), percent("rougeL_fmeasure"));
}

int score(const ScoreOptions& options, const Streams& streams) {
  const Pairs pairs = read(options);
  std::vector<Json> each;
  if (options.sentence)
    for (std::size_t i = 0; i < pairs.hypotheses.size(); ++i)
      each.push_back(line_score(options.metric,
                                {{pairs.hypotheses[i]}, {pairs.references[i]}, pairs.letters}));

  if (options.json) {
    Json data{{"metric", options.metric},
              {"lines", pairs.hypotheses.size()},
              {"references", options.references.size()}};
    data.update(score_of(options.metric, pairs).data);
    if (options.sentence) data["sentences"] = each;
    fmt::print(streams.out, "{}\n", data.dump(2));
  } else if (options.sentence) {
    for (const Json& line : each) fmt::print(streams.out, "{}\n", line_text(line));
  } else {
    fmt::print(streams.out, "{}\n", score_of(options.metric, pairs).words);
  }
  return success;
}

}  // namespace

void add_score(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ScoreOptions>();
  CLI::App* command = app.add_subcommand("score", "Score texts against references");
  command->footer(
      "\nFiles hold a text a line, and line N is compared with line N of every file of\n"
      "references. Metrics:\n"
      "    bleu   as sacreBLEU 2.6: 13a tokens, exponential smoothing\n"
      "    chrf   chrF2 as sacreBLEU 2.6\n"
      "    rouge  ROUGE-1, -2 and -L as torchmetrics 1.9, without stemming; F1, letters "
      "lowered\n"
      "    per    edits between units (phones, words) over the length of the nearest "
      "reference\n"
      "    wer    share of lines that equal no reference\n"
      "For per and wer an empty line in a further file is no reference.\n\n"
      "Examples:\n"
      "    attn score bleu answers.txt references.txt\n"
      "    attn translate - < test.en | attn score chrf - test.it\n"
      "    attn score per --json answers.txt variant1.txt variant2.txt");
  command->add_option("metric", options->metric, "bleu, chrf, rouge, per or wer")
      ->required()
      ->type_name("METRIC")
      ->check(CLI::IsMember({"bleu", "chrf", "rouge", "per", "wer"}));
  command
      ->add_option("hypotheses", options->hypotheses,
                   "File of answers to score; - is standard input")
      ->required()
      ->type_name("HYPOTHESES");
  command->add_option("references", options->references, "Files of reference answers")
      ->required()
      ->type_name("REFERENCES");
  command->add_flag("--lower", options->lower, "Ignore capital letters");
  command->add_flag("--sentence", options->sentence, "Print a score for each line");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &action] {
    action = [options](const Streams& streams) { return score(*options, streams); };
  });
}

}  // namespace attn::tools
