#include "attn/tasks/prepare.hpp"

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/pairs/read_pairs.hpp"
#include "attn/tasks/trainer.hpp"
#include "attn/tensor/random.hpp"
#include "attn/text/sha256.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/begin_with.hpp"

namespace attn::tasks {
namespace {

/// Characters and words keep this many at most; rarer ones are unknown.
constexpr std::int64_t kMostWords = 30000;

void prepare_texts(const PairTask& task, std::vector<Example>& examples) {
  if (!task.prepare) return;
  for (Example& example : examples) example.source = task.prepare(example.source);
}

text::Tokeniser learn(text::Units units, const std::vector<std::string>& lines,
                      std::int64_t size, const LearnSubwords& learn_subwords) {
  return units == text::Units::subwords ? learn_subwords(lines, size)
                                        : text::Tokeniser::learn(units, lines, kMostWords);
}

Vocabularies learn_tokenisers(const TokeniserPlan& plan, const std::vector<Example>& examples,
                              const LearnSubwords& learn_subwords) {
  std::vector<std::string> sources;
  std::vector<std::string> targets;
  sources.reserve(examples.size());
  targets.reserve(examples.size());
  for (const Example& example : examples) {
    sources.push_back(example.source);
    targets.insert(targets.end(), example.targets.begin(), example.targets.end());
  }
  if (plan.shared) {
    if (plan.source != plan.target)
      fail("a shared vocabulary has the same units on both sides, not ", name_of(plan.source),
           " and ", name_of(plan.target));
    sources.insert(sources.end(), std::make_move_iterator(targets.begin()),
                   std::make_move_iterator(targets.end()));
    text::Tokeniser both = learn(plan.source, sources, plan.size, learn_subwords);
    return {both, both};
  }
  return {learn(plan.source, sources, plan.size, learn_subwords),
          learn(plan.target, targets, plan.size, learn_subwords)};
}

/// Tells two sets of pairs apart.
std::string fingerprint(const std::vector<EncodedPair>& pairs) {
  std::vector<std::int64_t> all;
  for (const EncodedPair& pair : pairs) {
    all.insert(all.end(), pair.source.begin(), pair.source.end());
    all.insert(all.end(), pair.target.begin(), pair.target.end());
    all.push_back(-1);
  }
  return text::sha256_hex(std::as_bytes(std::span(all))).substr(0, 16);
}

/// What it learnt from, for the card of the model. Only the name of a user's file: where it
/// lies is nobody's business whom the model is given to.
std::string data_card(const TrainingRequest& request, const Corpus& corpus) {
  nlohmann::json card{{"name", files::printable(corpus.name)}};
  if (corpus.checksum.empty()) {
    card["language"] = request.language;
  } else {
    card["sha256"] = corpus.checksum;
  }
  return card.dump();
}

std::string describe(const TrainingRequest& request, const PairModel& model,
                     const std::vector<EncodedPair>& pairs) {
  return nlohmann::json{{"task", request.task},
                        {"model", files::parse_json(models::to_json(model.options), "model")},
                        {"training", files::parse_json(to_json(request.training), "training")},
                        {"pairs", pairs.size()},
                        {"fingerprint", fingerprint(pairs)}}
      .dump();
}

/// A model to begin a training of `task` with.
PairModel beginning_of(const std::string& task, const std::filesystem::path& folder) {
  PairModel model = load_model(folder);
  if (model.task != task)
    fail(files::path_text(folder), " is a model for ", model.task, ", not for ", task);
  return model;
}

/// Models to begin with, whose tokens are those of `model`.
std::vector<Beginning> beginnings(const PairModel& model,
                                  const std::vector<std::filesystem::path>& folders) {
  std::vector<Beginning> all;
  all.reserve(folders.size());
  for (const std::filesystem::path& folder : folders) {
    const PairModel other = beginning_of(model.task, folder);
    if (other.source.checksum() != model.source.checksum() ||
        other.target.checksum() != model.target.checksum())
      fail("the model in ", files::path_text(folder),
           " has another vocabulary than the one in ", files::path_text(folders.front()));
    all.push_back({other.model, folder});
  }
  return all;
}

}  // namespace

void begin_with_models(TrainingRequest& request,
                       const std::vector<std::filesystem::path>& folders) {
  const PairModel other = beginning_of(request.task, folders.front());
  request.model = other.options;
  request.limits = other.limits;
  request.tokens.shared = other.source.checksum() == other.target.checksum();
  request.begin = folders;
}

Corpus load_corpus(const TrainingRequest& request, const Say& say) {
  const PairTask& task = pair_task_named(request.task);
  Corpus corpus = request.data.empty() ? task.load(request.language, say)
                                       : read_pairs(request.data,
                                                    {.source_column = request.source_column,
                                                     .target_column = request.target_column},
                                                    say);
  prepare_texts(task, corpus.train);
  prepare_texts(task, corpus.development);
  prepare_texts(task, corpus.test);
  return corpus;
}

Prepared prepare(const TrainingRequest& request, const Corpus& corpus,
                 const std::filesystem::path& folder, Resume resume,
                 const LearnSubwords& learn_subwords, const Say& say) {
  const PairTask& task = pair_task_named(request.task);
  if (corpus.train.empty()) fail(corpus.name, " has no examples to learn from");
  say("tokenising " + std::to_string(corpus.train.size()) + " pairs");
  const bool begins = resume == Resume::no && !request.begin.empty();
  Vocabularies tokenisers =
      resume == Resume::yes ? read_vocabularies(folder, request.tokens.shared)
      : begins              ? read_vocabularies(request.begin.front(), request.tokens.shared)
                            : learn_tokenisers(request.tokens, corpus.train, learn_subwords);
  models::ModelOptions options = request.model;
  options.source_vocabulary = tokenisers.source.size();
  options.target_vocabulary = tokenisers.target.size();
  options.max_source = request.limits.source + 1;
  EncodedCorpus encoded = encode_pairs(corpus.train, tokenisers.source, tokenisers.target,
                                       request.limits, task.overlong);
  if (encoded.pairs.empty())
    fail("all ", encoded.dropped, " pairs are longer than ", request.limits.source, " and ",
         request.limits.target,
         " tokens, or empty; --source-tokens and --target-tokens allow more");
  nn::random() = Random(request.training.seed).named("weights");
  Prepared prepared{.model = {.task = request.task,
                              .options = options,
                              .limits = request.limits,
                              .source = std::move(tokenisers.source),
                              .target = std::move(tokenisers.target),
                              .model = models::make_model(options),
                              .history = "{}"},
                    .plan = {},
                    .dropped = encoded.dropped};
  if (begins) begin_with(*prepared.model.model, beginnings(prepared.model, request.begin));
  prepared.plan.options = request.training;
  prepared.plan.metric = task.metric;
  prepared.plan.what = describe(request, prepared.model, encoded.pairs);
  prepared.plan.train = std::move(encoded.pairs);
  prepared.plan.development = corpus.development;
  prepared.plan.data = data_card(request, corpus);
  prepared.plan.folder = folder;
  prepared.plan.resume = resume;
  return prepared;
}

}  // namespace attn::tasks
