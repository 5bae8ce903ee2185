// A task whose models are networks: their folder, their training and their answers.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/safetensors.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/state.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/pair_learner.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/text/sha256.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/model_folder.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kLexicon = "lexicon.json";
/// Answered between two reports; more only take memory.
constexpr std::size_t kInputsAtOnce = 64;
/// Development examples whose answers are in the log.
constexpr std::size_t kSamplesOfLog = 5;

Json::json_pointer pointer_of(const Setting& setting) {
  std::string path = "/" + setting.member;
  std::replace(path.begin(), path.end(), '.', '/');
  return Json::json_pointer(path);
}

/// The value of a setting as its kind has it; a number may be a text. FileError for others.
Json checked(const Json& value, const Setting& setting, const std::string& where) {
  const std::string place = where + ": " + setting.member;
  const bool whole = setting.kind == Setting::Kind::whole;
  if (whole || setting.kind == Setting::Kind::real) {
    const Json number =
        value.is_string() ? files::parse_json(value.get<std::string>(), place) : value;
    const double amount = whole ? static_cast<double>(files::to_int(number, place))
                                : files::to_double(number, place);
    if (!(amount >= setting.least && amount <= setting.most))
      fail<FileError>(place, " is ", amount, "; ", setting.least, " to ", setting.most,
                      " are accepted");
    return number;
  }
  const std::string& text = files::to_text(value, place);
  if (!setting.values.empty() &&
      std::find(setting.values.begin(), setting.values.end(), text) == setting.values.end()) {
    std::string names;
    for (const std::string& one : setting.values) names += (names.empty() ? "" : ", ") + one;
    fail<FileError>(place, " is ", files::in_quotes(text), "; there are ", names);
  }
  return value;
}

std::string file_of(const std::string& vocabulary) {
  return vocabulary + ".vocab";
}

void write_lexicon(const fs::path& folder, const Lexicon& lexicon) {
  make_folder(folder);
  Json names = Json::array();
  for (const auto& [name, tokeniser] : lexicon.vocabularies) {
    tokeniser.write(folder / file_of(name));
    names.push_back(name);
  }
  files::write_json(folder / kLexicon, {{"vocabularies", names}, {"facts", lexicon.facts}});
}

Lexicon read_lexicon(const fs::path& folder) {
  const std::string where = files::path_text(folder / kLexicon);
  const Json json = files::read_json(folder / kLexicon);
  Lexicon lexicon;
  lexicon.facts = files::member(json, "facts", where);
  for (const Json& one : files::member(json, "vocabularies", where)) {
    const std::string& name = files::to_text(one, where);
    if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") != std::string::npos)
      fail<FileError>(where, ": ", files::in_quotes(name), " is no name of a vocabulary");
    lexicon.vocabularies.emplace(name, text::Tokeniser::read(folder / file_of(name)));
  }
  return lexicon;
}

/// Of everything that the meaning of the weights depends on.
files::Metadata checksums_of(const Lexicon& lexicon) {
  files::Metadata sums;
  for (const auto& [name, tokeniser] : lexicon.vocabularies) sums[name] = tokeniser.checksum();
  const std::string facts = lexicon.facts.dump();
  sums["facts"] = text::sha256_hex(std::as_bytes(std::span(facts)));
  return sums;
}

void check_sums(const files::Metadata& seen, const Lexicon& lexicon, const fs::path& folder) {
  for (const auto& [name, sum] : checksums_of(lexicon)) {
    const auto at = seen.find(name);
    if (at == seen.end() || at->second != sum)
      fail<FileError>(files::path_text(folder / kWeights), " was trained with other ", name,
                      " than its folder has: checksum ",
                      at == seen.end() ? "missing" : files::printable(at->second), ", seen ",
                      sum);
  }
}

class NetworkModel final : public Model {
 public:
  NetworkModel(const Task& task, std::shared_ptr<Network> network, Json data)
      : task_(task), network_(std::move(network)), data_(std::move(data)) {}

  const Task& task() const override { return task_; }
  nn::Module& module() const override { return *network_; }
  std::string kind() const override { return network_->kind(); }
  std::string variant() const override { return network_->variant(); }
  std::string refusal(const Input& input) const override { return network_->refusal(input); }

  std::vector<Reply> answer(std::span<const Input> inputs, const Choices& choices,
                            const Done& done) const override {
    if (!choices.steering.as_trained())
      fail("the attention of ", task().name(),
           " cannot be steered; it is asked without forbidden and forced positions and "
           "without a temperature of attention");
    const NoGrad off_the_tape;
    std::vector<Reply> replies;
    replies.reserve(inputs.size());
    while (replies.size() < inputs.size()) {
      const auto rest = inputs.subspan(replies.size());
      auto some = network_->answer(rest.first(std::min(rest.size(), kInputsAtOnce)), choices);
      std::move(some.begin(), some.end(), std::back_inserter(replies));
      if (done) done(static_cast<std::int64_t>(replies.size()));
    }
    return replies;
  }

  maps::Map map(const Input& input, const Piece& piece, std::string_view heads) const override {
    const NoGrad off_the_tape;
    return network_->map(input, piece, heads);
  }

  /// The settings that tell which data it learnt from.
  const Json& data() const { return data_; }

 private:
  const Task& task_;
  std::shared_ptr<Network> network_;
  Json data_;
};

class NetworkLearner final : public Learner {
 public:
  NetworkLearner(const Task& task, std::shared_ptr<Network> network, Lexicon lexicon,
                 const TrainingRun& run, const Corpus& corpus, Json data)
      : network_(std::move(network)),
        model_(task, network_, data),
        lexicon_(std::move(lexicon)),
        run_(run),
        corpus_name_(corpus.name),
        corpus_sum_(corpus.checksum),
        data_(std::move(data)),
        train_(corpus.train),
        development_(spread(corpus.development, run.how.evaluate_on)) {
    if (train_.empty()) fail(corpus.name, " has no examples to learn from");
    if (development_.empty())
      fail(corpus.name, " has no development part, which tells when to stop");
    for (const Example& example : train_) costs_.push_back(network_->cost(example));
  }

  nn::Module& module() override { return *network_; }

  std::int64_t begin_epoch(std::int64_t epoch) override {
    batches_ = make_batches(costs_, run_.how.batch_tokens, run_.how.seed, epoch);
    return static_cast<std::int64_t>(batches_.size());
  }

  Lesson learn(std::int64_t step) override {
    std::vector<const Example*> batch;
    for (const std::int64_t row : batches_[static_cast<std::size_t>(step)])
      batch.push_back(&train_[static_cast<std::size_t>(row)]);
    return network_->loss(batch);
  }

  Evaluation evaluate() override {
    std::vector<Input> inputs;
    // Few, and their number is not known before.
    // NOLINTNEXTLINE(performance-inefficient-vector-operation)
    for (const Example& example : development_) inputs.push_back(example.input());
    const std::vector<Reply> replies = model_.answer(inputs, {}, {});
    Evaluation evaluation{model_.task().score(development_, replies), {}};
    const std::size_t count = std::min(kSamplesOfLog, development_.size());
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = i * development_.size() / count;
      evaluation.samples.push_back({development_[at].source, replies[at].answers.front().text,
                                    development_[at].targets.front()});
    }
    return evaluation;
  }

  void save(const fs::path& folder, const std::string& history) override {
    write_lexicon(folder, lexicon_);
    const std::string where = files::path_text(folder / kConfig);
    files::write_json(folder / kConfig, {{"format", kFolderFormat},
                                         {"task", run_.task},
                                         {"model", run_.what.at("model")},
                                         {"data", data_},
                                         {"history", files::parse_json(history, where)}});
    nn::save_state(folder / kWeights, *network_, DType::bf16, checksums_of(lexicon_));
  }

  void begin(const fs::path& folder) const override { write_lexicon(folder, lexicon_); }

  std::string identity() const override {
    return Json{{"task", run_.task},
                {"what", run_.what.at("model")},
                {"training", json_of(run_.how)},
                {"lexicon", checksums_of(lexicon_)},
                {"examples", train_.size()}}
        .dump();
  }
  Json data() const override {
    Json card{{"name", files::printable(corpus_name_)}};
    if (!corpus_sum_.empty()) card["sha256"] = corpus_sum_;
    return card;
  }
  std::string about() const override {
    std::string text = std::to_string(train_.size()) + " examples to learn from, " +
                       std::to_string(development_.size()) + " development; " +
                       network_->kind() + " with " +
                       std::to_string(network_->parameter_count()) + " parameters";
    for (const auto& [name, tokeniser] : lexicon_.vocabularies)
      text += ", " + std::to_string(tokeniser.size()) + " " + name;
    return text;
  }

 private:
  std::shared_ptr<Network> network_;
  NetworkModel model_;
  Lexicon lexicon_;
  TrainingRun run_;
  std::string corpus_name_;
  std::string corpus_sum_;
  Json data_;
  std::vector<Example> train_;
  std::vector<Example> development_;
  std::vector<std::int64_t> costs_;
  std::vector<Rows> batches_;
};

/// Those settings that tell which data are learnt from. Of a user's own file only its name:
/// where it lies is nobody's business whom the model is given to.
Json data_settings(const Task& task, const Json& what) {
  Json data = Json::object();
  for (const Setting& setting : task.settings()) {
    if (setting.about != Setting::About::data || !what.contains(pointer_of(setting))) continue;
    Json value = what.at(pointer_of(setting));
    if (setting.kind == Setting::Kind::path)
      value = fs::path(value.get<std::string>()).filename().string();
    data[pointer_of(setting)] = std::move(value);
  }
  return data;
}

}  // namespace

void NetworkTask::check_settings(const Json& what, const std::string& where) const {
  for (const Setting& setting : settings())
    if (what.contains(pointer_of(setting)))
      checked(what.at(pointer_of(setting)), setting, where);
}

std::unique_ptr<Model> NetworkTask::load(const fs::path& folder) const {
  std::error_code ignored;
  if (fs::is_regular_file(folder, ignored)) {
    const std::shared_ptr<Network> other = network_of_file(folder);
    if (other == nullptr)
      fail<FileError>(files::path_text(folder),
                      " is a file; a model is a folder, which `attn train` makes");
    check_finite(*other, folder);
    other->eval();
    return std::make_unique<NetworkModel>(*this, other, Json::object());
  }
  const std::string where = files::path_text(folder / kConfig);
  const Json config = read_config(folder, "attn train");
  const std::string& task = files::to_text(files::member(config, "task", where), where);
  if (task != name())
    fail<FileError>(files::path_text(folder), " is a model for ", files::printable(task),
                    ", not for ", name());
  check_format(config, where);
  Json what = initial({{"model", files::member(config, "model", where)}});
  const Json known = what.at("model");
  for (const auto& [key, value] : config["model"].items())
    if (!known.contains(key))
      fail<FileError>(where, ": model has an unknown member ", files::in_quotes(key));
  what["model"].update(config["model"]);
  check_settings(what, where);
  Lexicon lexicon = read_lexicon(folder);
  const std::shared_ptr<Network> fresh = network(what.at("model"), lexicon, where);
  check_sums(nn::load_state(folder / kWeights, *fresh), lexicon, folder);
  check_finite(*fresh, folder / kWeights);
  fresh->eval();
  return std::make_unique<NetworkModel>(*this, fresh, config.value("data", Json::object()));
}

std::unique_ptr<Model> NetworkTask::taken(const std::string& variant) const {
  const std::shared_ptr<Network> network = network_taken(variant);
  if (network == nullptr) return nullptr;
  network->eval();
  return std::make_unique<NetworkModel>(*this, network, Json::object());
}

TrainingRun NetworkTask::defaults(const Json& asked, const Corpus*) const {
  TrainingRun run;
  run.task = name();
  run.what = initial(asked);
  if (asked.contains("begin") && !asked["begin"].empty()) {
    const fs::path folder = asked["begin"].at(0).get<std::string>();
    const Json config = read_config(folder, "attn train");
    run.what["model"].update(
        files::member(config, "model", files::path_text(folder / kConfig)));
  }
  run.how = training(run.what);
  return run;
}

void NetworkTask::read(const Json& object, const std::string& where, Json& what) const {
  for (const Setting& setting : settings())
    if (object.contains(pointer_of(setting)))
      what[pointer_of(setting)] = checked(object.at(pointer_of(setting)), setting, where);
  if (object.contains("data_sha256")) what["data_sha256"] = object.at("data_sha256");
}

void NetworkTask::read_data_of(const Model& model, const fs::path& folder, const Json& asked,
                               Json& what) const {
  std::error_code ignored;
  if (fs::exists(folder / "training.json", ignored)) {
    const Json before = load_run(folder).what;
    for (const Setting& setting : settings())
      if (setting.about == Setting::About::data && before.contains(pointer_of(setting)))
        what[pointer_of(setting)] = before.at(pointer_of(setting));
    if (before.contains("data_sha256")) what["data_sha256"] = before.at("data_sha256");
    return;
  }
  const auto* own = dynamic_cast<const NetworkModel*>(&model);
  if (own == nullptr) return;
  const std::string where = files::path_text(folder / kConfig);
  for (const Setting& setting : settings()) {
    if (!own->data().contains(pointer_of(setting))) continue;
    const Json value = checked(own->data().at(pointer_of(setting)), setting, where);
    if (setting.kind != Setting::Kind::path) {
      what[pointer_of(setting)] = value;
    } else if (!value.get_ref<const std::string&>().empty() &&
               !asked.contains(pointer_of(setting))) {
      fail<FileError>("the model in ", files::path_text(folder),
                      " learnt from a file of its own, ",
                      files::in_quotes(value.get<std::string>()), "; name that file with --",
                      setting.flag, " FILE to score it");
    }
  }
}

std::unique_ptr<Learner> NetworkTask::learner(const TrainingRun& run, const Corpus& corpus,
                                              const TrainingTools& tools) const {
  const bool resumes = run.where.resume == Resume::yes;
  const bool begins = !resumes && !run.begin.empty();
  Lexicon words = resumes  ? read_lexicon(run.where.folder)
                  : begins ? read_lexicon(run.begin.front())
                           : lexicon(run.what, corpus, tools);
  nn::random() = Random(run.how.seed).named("weights");
  const std::shared_ptr<Network> fresh = network(run.what.at("model"), words, "the settings");
  if (begins) {
    std::vector<Beginning> others;
    for (const fs::path& folder : run.begin) {
      const std::shared_ptr<Network> other =
          network(run.what.at("model"), words, files::path_text(folder));
      check_sums(nn::load_state(folder / kWeights, *other), words, folder);
      others.push_back({other, folder});
    }
    begin_with(*fresh, others);
  }
  return std::make_unique<NetworkLearner>(*this, fresh, std::move(words), run, corpus,
                                          data_settings(*this, run.what));
}

}  // namespace attn::tasks
