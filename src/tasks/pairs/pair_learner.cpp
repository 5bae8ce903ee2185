#include "attn/tasks/pair_learner.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iomanip>
#include <ios>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/models/options.hpp"
#include "attn/models/search.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/module.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/sha256.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/loading.hpp"
#include "tasks/model_folder.hpp"
#include "tasks/pairs/pair_settings.hpp"

namespace attn::tasks {
namespace {

constexpr std::size_t kDraws = 4;

/// What each of some draws is worth beyond the mean of the others.
void less_the_others(std::span<float> rewards) {
  double sum = 0.0;
  for (const float one : rewards) sum += one;
  const auto others = static_cast<double>(rewards.size() - 1);
  for (float& one : rewards) one = static_cast<float>(one - (sum - one) / others);
}

/// Four answers of the model to each of the sources, drawn as likely as it thinks them. The
/// weight of one is its score less the mean score of the other three, so that the gradient of
/// the batch's loss is that of the expected score, turned round: REINFORCE with a baseline
/// (Rennie et al., 2017, arXiv:1612.00563; of the other draws, Kool et al., 2019). The model is
/// in eval().
models::Batch own_answers(const PairModel& model, Metric metric,
                          std::span<const EncodedPair> pairs, const Rows& rows,
                          std::uint64_t seed) {
  std::vector<std::vector<std::int64_t>> sources;
  sources.reserve(rows.size() * kDraws);
  for (const std::int64_t row : rows)
    sources.insert(sources.end(), kDraws, pairs[static_cast<std::size_t>(row)].source);
  const SourceBatch batch = collate_sources(sources);
  auto found =
      models::search(*model.model, batch.source, batch.lengths,
                     {.max_length = model.limits.target, .temperature = 1.0, .seed = seed});

  std::vector<EncodedPair> said;
  std::vector<float> weights;
  Rows all;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const EncodedPair& pair = pairs[static_cast<std::size_t>(rows[i / kDraws])];
    weights.push_back(static_cast<float>(sentence_score(
        metric, model.target.decode(found[i][0].tokens), model.target.decode(pair.target))));
    if (i % kDraws == kDraws - 1) less_the_others(std::span(weights).last(kDraws));
    said.push_back({pair.source, std::move(found[i][0].tokens)});
    all.push_back(static_cast<std::int64_t>(i));
  }
  models::Batch lesson = collate(said, all);
  // An answer that was cut off did not say that it had ended.
  auto* target = lesson.target.mutable_data<std::int64_t>();
  const std::int64_t steps = lesson.target.size(1);
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!found[i][0].finished)
      target[static_cast<std::int64_t>(i) * steps +
             static_cast<std::int64_t>(said[i].target.size())] = models::kPad;
  lesson.weights = Tensor::from(weights, {static_cast<std::int64_t>(weights.size())});
  return lesson;
}

using LearnSubwords = decltype(TrainingTools::learn_subwords);

/// Development examples whose answers are in the log.
constexpr std::size_t kSamples = 5;
/// Characters and words keep this many at most; rarer ones are unknown.
constexpr std::int64_t kMostWords = 30000;

struct Judged {
  std::vector<std::string> answers;
  Scores scores;
};

Judged judge(const PairModel& model, std::span<const Example> examples, Metric metric,
             const models::SearchOptions& options) {
  Judged judged;
  judged.answers.reserve(examples.size());
  for (auto& best : answer(model, sources_of(examples), options))
    judged.answers.push_back(std::move(best.front().text));
  judged.scores = score(metric, judged.answers, targets_of(examples));
  return judged;
}

class PairLearner final : public Learner {
 public:
  PairLearner(PairModel& model, PairLessons lessons, const TrainingOptions& how)
      : model_(model),
        lessons_(std::move(lessons)),
        how_(how),
        development_(spread(lessons_.development, how.evaluate_on)) {}
  /// Owns its model.
  PairLearner(std::unique_ptr<PairModel> model, PairLessons lessons, const TrainingOptions& how)
      : PairLearner(*model, std::move(lessons), how) {
    own_ = std::move(model);
  }

  nn::Module& module() override { return *model_.model; }

  std::int64_t begin_epoch(std::int64_t epoch) override {
    batches_ = make_batches(lessons_.train, how_.batch_tokens, how_.seed, epoch);
    return static_cast<std::int64_t>(batches_.size());
  }

  Lesson learn(std::int64_t step) override {
    const Rows& rows = batches_[static_cast<std::size_t>(step)];
    const models::Batch batch = collate(lessons_.train, rows);
    const std::int64_t* target = batch.target.data<std::int64_t>();
    const double share = how_.self_critical;
    Tensor loss;
    if (share < 1.0)
      loss =
          model_.model->loss(batch, {.smoothing = how_.smoothing, .coverage = how_.coverage});
    if (share > 0.0) {
      const Tensor risk = metric_loss(rows);
      loss = loss.defined() ? loss * (1.0 - share) + risk * share : risk;
    }
    return {loss, std::count_if(target, target + batch.target.numel(),
                                [](std::int64_t id) { return id != models::kPad; })};
  }

  Evaluation evaluate() override {
    const Judged judged = judge(model_, development_, lessons_.metric, {});
    Evaluation evaluation{judged.scores, {}};
    const std::size_t count = std::min(kSamples, development_.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = i * development_.size() / count;
      evaluation.samples.push_back(
          {development_[at].source, judged.answers[at], development_[at].targets.front()});
    }
    return evaluation;
  }

  void save(const std::filesystem::path& folder, const std::string& history) override {
    model_.history = history;
    save_model(folder, model_);
  }

  void begin(const std::filesystem::path& folder) const override {
    write_vocabularies(folder, model_);
  }

  std::string identity() const override { return lessons_.identity; }
  nlohmann::json data() const override { return files::parse_json(lessons_.data, "data"); }
  std::string about() const override;

 private:
  Tensor metric_loss(const Rows& rows) {
    nn::Module& module = *model_.model;
    module.eval();
    const models::Batch own =
        own_answers(model_, lessons_.metric, lessons_.train, rows, nn::random().next());
    const Tensor loss = model_.model->loss(own, {});
    module.train();
    return loss;
  }

  std::unique_ptr<PairModel> own_;
  PairModel& model_;
  PairLessons lessons_;
  TrainingOptions how_;
  std::vector<Example> development_;
  std::vector<Rows> batches_;
};

std::string PairLearner::about() const {
  std::string text = std::to_string(lessons_.train.size()) + " pairs to learn from";
  if (lessons_.dropped > 0)
    text += " (" + std::to_string(lessons_.dropped) + " too long or empty were left out)";
  const auto vocabulary = [](const text::Tokeniser& tokeniser) {
    return std::to_string(tokeniser.size()) + " " + name_of(tokeniser.units());
  };
  std::ostringstream millions;
  millions << std::fixed << std::setprecision(2)
           << static_cast<double>(model_.model->parameter_count()) / 1e6;
  return text + ", " + std::to_string(lessons_.development.size()) + " development; " +
         vocabulary(model_.source) + " in, " + vocabulary(model_.target) + " out; " +
         kind_of(model_) + " with " + millions.str() + " million parameters";
}

void validate(const PairLessons& lessons, const TrainingOptions& how) {
  if (lessons.train.empty()) fail("attn::tasks::train: there is nothing to learn from");
  if (lessons.development.empty())
    fail("attn::tasks::train: the development part is empty; it tells when to stop");
  if (!(how.self_critical >= 0.0 && how.self_critical <= 1.0))
    fail("attn::tasks::train: self_critical is a share, 0 to 1; seen ", how.self_critical);
  if (how.batch_tokens < 1)
    fail("attn::tasks::train: batch_tokens is at least 1; seen ", how.batch_tokens);
}

text::Tokeniser learn(text::Units units, const std::vector<std::string>& lines,
                      std::int64_t size, const LearnSubwords& learn_subwords) {
  return units == text::Units::subwords ? learn_subwords(lines, size)
                                        : text::Tokeniser::learn(units, lines, kMostWords);
}

Vocabularies learn_tokenisers(const TokeniserPlan& plan, const std::vector<Example>& examples,
                              const LearnSubwords& learn_subwords) {
  std::vector<std::string> sources = sources_of(examples);
  std::vector<std::string> targets;
  for (const Example& example : examples)
    targets.insert(targets.end(), example.targets.begin(), example.targets.end());
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
std::string data_card(const PairSettings& settings, const Corpus& corpus) {
  nlohmann::json card{{"name", files::printable(corpus.name)}};
  if (corpus.checksum.empty()) {
    card["language"] = settings.language;
    card["texts"] = settings.texts;
  } else {
    card["sha256"] = corpus.checksum;
  }
  return card.dump();
}

std::string describe(const TrainingRun& run, const PairModel& model,
                     const std::vector<EncodedPair>& pairs) {
  return nlohmann::json{{"task", run.task},
                        {"model", files::parse_json(models::to_json(model.options), "model")},
                        {"training", json_of(run.how)},
                        {"pairs", pairs.size()},
                        {"fingerprint", fingerprint(pairs)}}
      .dump();
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

PairModel beginning_of(const std::string& task, const std::filesystem::path& folder) {
  PairModel model = load_model(folder);
  if (model.task != task)
    fail(files::path_text(folder), " is a model for ", model.task, ", not for ", task);
  return model;
}

std::vector<Example> spread(const std::vector<Example>& all, std::int64_t most) {
  const auto count = std::min(all.size(), static_cast<std::size_t>(most));
  std::vector<Example> chosen;
  chosen.reserve(count);
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(all[i * all.size() / count]);
  return chosen;
}

Scores evaluate(const PairModel& model, std::span<const Example> examples, Metric metric,
                const models::SearchOptions& options) {
  return judge(model, examples, metric, options).scores;
}

std::unique_ptr<Learner> pair_learner(PairModel& model, PairLessons lessons,
                                      const TrainingOptions& how) {
  validate(lessons, how);
  return std::make_unique<PairLearner>(model, std::move(lessons), how);
}

std::unique_ptr<Learner> pair_learner(const PairTask& task, const TrainingRun& run,
                                      const Corpus& corpus, const TrainingTools& tools) {
  const PairSettings settings = pair_settings(run.what);
  const std::filesystem::path& folder = run.where.folder;
  if (corpus.train.empty()) fail(corpus.name, " has no examples to learn from");
  tools.say("tokenising " + std::to_string(corpus.train.size()) + " pairs");
  const bool resumes = run.where.resume == Resume::yes;
  const bool begins = !resumes && !run.begin.empty();
  Vocabularies tokenisers =
      resumes  ? read_vocabularies(folder, settings.tokens.shared)
      : begins ? read_vocabularies(run.begin.front(), settings.tokens.shared)
               : learn_tokenisers(settings.tokens, corpus.train, tools.learn_subwords);
  models::ModelOptions options = settings.model;
  options.source_vocabulary = tokenisers.source.size();
  options.target_vocabulary = tokenisers.target.size();
  options.max_source = settings.limits.source + 1;
  EncodedCorpus encoded = encode_pairs(corpus.train, tokenisers.source, tokenisers.target,
                                       settings.limits, task.overlong);
  if (encoded.pairs.empty())
    fail("all ", encoded.dropped, " pairs are longer than ", settings.limits.source, " and ",
         settings.limits.target,
         " tokens, or empty; --source-tokens and --target-tokens allow more");
  // Only the data of translate have languages.
  const bool own = !corpus.checksum.empty() || task.card.directions.empty();
  const std::string language = own ? "" : settings.language;
  nn::random() = Random(run.how.seed).named("weights");
  auto model = std::make_unique<PairModel>(PairModel{.task = run.task,
                                                     .options = options,
                                                     .limits = settings.limits,
                                                     .source = std::move(tokenisers.source),
                                                     .target = std::move(tokenisers.target),
                                                     .model = models::make_model(options),
                                                     .language = language,
                                                     .history = "{}"});
  if (begins) begin_with(*model->model, beginnings(*model, run.begin));
  PairLessons lessons{.train = {},
                      .development = corpus.development,
                      .metric = task.metric,
                      .identity = describe(run, *model, encoded.pairs),
                      .data = data_card(settings, corpus),
                      .dropped = encoded.dropped};
  lessons.train = std::move(encoded.pairs);
  validate(lessons, run.how);
  return std::make_unique<PairLearner>(std::move(model), std::move(lessons), run.how);
}

}  // namespace attn::tasks
