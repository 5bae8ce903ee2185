// SPDX-License-Identifier: Apache-2.0

#include "tasks/las/task.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/transcribe/word_errors.hpp"
#include "attn/tasks/value.hpp"
#include "attn/text/metrics/edit_distance.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/las/batch.hpp"
#include "tasks/las/data.hpp"
#include "tasks/las/features.hpp"
#include "tasks/las/monotone.hpp"
#include "tasks/las/network.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks::las {
namespace {

using Json = nlohmann::json;

/// Of the text in each example: what its targets are made of.
constexpr const char* kUnits = "units";
constexpr const char* kPhones = "phones";
/// Far more than English has characters or phones.
constexpr std::int64_t kMostTokens = 1000;

bool is_phones(const Example& example) {
  const auto at = example.parts.find(kUnits);
  return at != example.parts.end() && at->second == Value(std::string(kPhones));
}

/// Tells the phones of words, each asked for once of a model of pronounce.
class Pronouncer {
 public:
  explicit Pronouncer(const std::filesystem::path& folder)
      : model_(task_named("pronounce").load(folder)) {}

  std::string operator()(const std::string& words) {
    std::istringstream rest(words);
    std::string phones;
    for (std::string word; rest >> word;)
      phones += (phones.empty() ? "" : " ") + phones_of(word);
    return phones;
  }

 private:
  const std::string& phones_of(const std::string& word) {
    const auto [at, is_new] = known_.try_emplace(word);
    if (!is_new) return at->second;
    std::string small = word;
    std::transform(small.begin(), small.end(), small.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const Input input(small);
    if (const std::string why = model_->refusal(input); !why.empty())
      fail<FileError>("pronounce does not tell the phones of ", files::in_quotes(word), ": it ",
                      why);
    at->second = model_->answer({&input, 1}, {}, {}).front().answers.front().text;
    return at->second;
  }

  std::unique_ptr<Model> model_;
  std::map<std::string, std::string> known_;
};

/// The frames of a sound that is learnt from.
Picture learnt_frames(const Example& example) {
  const LogMel sound = frames_of(example.input());
  if (sound.frames < kLeastFrames || sound.frames > kMostFrames)
    fail<FileError>(files::in_quotes(example.id), " has ", sound.frames,
                    " hundredths of a second; ", kLeastFrames, " to ", kMostFrames,
                    " are learnt from");
  return picture_of(sound);
}

double percent(std::int64_t part, std::int64_t all) {
  return all == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

/// Small letters without marks, as words are compared.
std::string as_spoken(const std::string& text) {
  std::string spoken;
  for (const std::string& word : spoken_words(text))
    spoken += (spoken.empty() ? "" : " ") + word;
  return spoken;
}

Scores errors(std::span<const Example> examples, const std::vector<std::string>& texts) {
  const std::vector<std::vector<std::string>> targets = targets_of(examples);
  if (!examples.empty() && is_phones(examples.front()))
    return {{"PER", text::error_rates(texts, targets).per}};
  WordErrors words;
  std::vector<std::string> spoken;
  std::vector<std::vector<std::string>> spoken_targets;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    words.add(targets[i].front(), texts[i]);
    spoken.push_back(as_spoken(texts[i]));
    spoken_targets.push_back({as_spoken(targets[i].front())});
  }
  return {{"WER", words.rate()},
          {"CER", text::character_error_rates(spoken, spoken_targets).per}};
}

Setting choice(const char* flag, const char* member, const char* help,
               std::vector<std::string> values) {
  return {flag,
          member,
          Setting::About::model,
          "Listen",
          help,
          Setting::Kind::name,
          std::move(values)};
}

Setting number(const char* flag, const char* help, Setting::Kind kind, double least,
               double most) {
  std::string member = std::string("model.") + flag;
  std::replace(member.begin(), member.end(), '-', '_');
  return {flag, member, Setting::About::model, "Listen", help, kind, {}, least, most};
}

}  // namespace

std::vector<Setting> LasTask::settings() const {
  using About = Setting::About;
  using Kind = Setting::Kind;
  return {
      Setting{"units",
              "units",
              About::data,
              "Data",
              "What is written: characters, or phones, which a model of pronounce tells",
              Kind::name,
              {"characters", kPhones}},
      Setting{"pronounce", "pronounce", About::data, "Data", "The folder of that model",
              Kind::text},
      choice(
          "attention", "model.attention",
          "How a speller compares: additive; dot, that of Listen, Attend and Spell; or none,\n"
          "alignments alone",
          {"additive", "dot", "none"}),
      choice("location", "model.location",
             "Whether additive attention knows where it looked before", {"convolved", "none"}),
      number("hidden", "Of each direction of the listener", Kind::whole, 4, 1024),
      number("spell", "Size of the speller's state", Kind::whole, 4, 1024),
      number("embedding", "Size of a token's vector", Kind::whole, 1, 512),
      number("score", "Hidden size of the score", Kind::whole, 1, 1024),
      number("channels", "Of the convolution over the weights before", Kind::whole, 1, 256),
      number("width", "Frames that it spans, an odd number", Kind::whole, 1, 255),
      number("ctc", "Share of the loss that is CTC's", Kind::real, 0.0, 1.0),
      number("search-ctc", "Share of a hypothesis's score that is CTC's", Kind::real, 0.0, 1.0),
      number("beam", "Hypotheses that are followed", Kind::whole, 1, 64),
      number("dropout", "Share of features dropped in training", Kind::real, 0.0, 0.9),
      number("token-dropout", "Share of tokens hidden from the speller in training", Kind::real,
             0.0, 0.9),
      number("spell-smoothing", "Label smoothing of the speller", Kind::real, 0.0, 0.9),
      number("speed", "Sounds last up to this share longer or shorter in training", Kind::real,
             0.0, 0.5),
      number("warp", "Bands move up to this share in training", Kind::real, 0.0, 0.5),
      number("masks", "Hidden stretches of bands and of frames in training", Kind::whole, 0, 8),
      number("band-mask", "Share of the bands that one hides at most", Kind::real, 0.0, 0.9),
      number("frame-mask", "Share of the frames that one hides at most", Kind::real, 0.0, 0.9),
      number("join", "Share of short utterances that get another one behind them in training",
             Kind::real, 0.0, 1.0)};
}

std::string LasTask::misfit(const TrainingRun& run) const {
  const Json& model = run.what.at("model");
  if (model.at("attention") != "additive" && model.at("location") != "none")
    return "--attention " + model.at("attention").get<std::string>() +
           " knows no location; --location none is accepted with it";
  if (model.at("attention") == "none" && model.at("ctc") != 1.0)
    return "--attention none learns from alignments alone; --ctc 1 is accepted with it";
  if (model.at("width").get<std::int64_t>() % 2 == 0)
    return "--width " + model.at("width").dump() +
           " has no middle; an odd number of frames is accepted";
  return "";
}

std::vector<PreparedFile> LasTask::prepared() const {
  return prepared_files();
}

Corpus LasTask::corpus(const Json& what, const Say& say) const {
  const std::string table = read_prepared(prepared_files()[0], name());
  const std::string frames = read_prepared(prepared_files()[1], name());
  return written_in(what, parse_utterances(table, frames, prepared_files()[0].name), say);
}

Corpus LasTask::written_in(const Json& what, Corpus corpus, const Say& say) {
  for (auto* part : {&corpus.train, &corpus.development})
    for (Example& example : *part)
      if (!example.parts.contains(kFrames)) example.parts = {{kFrames, learnt_frames(example)}};
  if (what.at("units") != kPhones) return corpus;
  tell(say, "asking pronounce for the phones of the words");
  Pronouncer pronouncer(what.at("pronounce").get<std::string>());
  for (auto* part : {&corpus.train, &corpus.development, &corpus.test})
    for (Example& example : *part) {
      example.parts.emplace(kUnits, std::string(kPhones));
      example.targets.front() = pronouncer(example.targets.front());
    }
  return corpus;
}

Scores LasTask::score(std::span<const Example> examples, std::span<const Reply> replies) const {
  std::vector<std::string> texts;
  MonotoneSteps alignment;
  for (const Reply& reply : replies) {
    texts.push_back(reply.answers.front().text);
    alignment.add(reply.answers.front());
  }
  Scores scores = errors(examples, texts);
  if (alignment.steps == 0) return scores;
  scores.push_back({"monotone steps", percent(alignment.hard, alignment.steps)});
  scores.push_back({"monotone soft steps", percent(alignment.soft, alignment.steps)});
  scores.push_back({"monotone answers", percent(alignment.whole_answers, alignment.answers)});
  return scores;
}

std::vector<Baseline> LasTask::baselines(const Corpus& corpus) const {
  std::map<std::string, std::int64_t> counts;
  for (const Example& example : corpus.train) ++counts[example.targets.front()];
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == counts.end()) return {};
  const std::vector<std::string> texts(corpus.test.size(), most->first);
  return {{"always " + files::in_quotes(most->first) + ", which is said most often",
           errors(corpus.test, texts)}};
}

std::vector<Contender> LasTask::contenders() const {
  const auto with = [](const char* attention, const char* location) {
    return Json{{"model", {{"attention", attention}, {"location", location}}}};
  };
  return {{"location", "additive attention that knows where it looked before, and CTC",
           with("additive", "convolved")},
          {"additive", "the same without location", with("additive", "none")},
          {"dot", "the attention of Listen, Attend and Spell", with("dot", "none")},
          {"ctc", "alignments alone, no attention", with("none", "none")}};
}

std::string LasTask::facts_text(const Corpus& corpus) const {
  std::int64_t frames = 0;
  std::set<std::string> words;
  for (const auto* part : {&corpus.train, &corpus.development, &corpus.test})
    for (const Example& example : *part) {
      frames += std::get<Picture>(example.parts.at(kFrames)).width;
      std::istringstream rest(example.targets.front());
      for (std::string word; rest >> word;) words.insert(word);
    }
  const auto minutes = static_cast<double>(frames * kHop) / static_cast<double>(kRate) / 60.0;
  std::string text =
      "\n  " + files::printable(corpus.name) +
      "\n  utterances: " + std::to_string(corpus.train.size()) + " train, " +
      std::to_string(corpus.development.size()) + " development, " +
      std::to_string(corpus.test.size()) + " test, " +
      std::to_string(static_cast<std::int64_t>(minutes)) + " minutes; " +
      std::to_string(words.size()) +
      (!corpus.train.empty() && is_phones(corpus.train.front()) ? " different phones\n"
                                                                : " different words\n");
  for (const std::string& note : corpus.notes) text += "  " + note + "\n";
  return text;
}

Json LasTask::initial(const Json& asked) const {
  const auto asked_word = [&](const char* name, const char* otherwise) {
    const Json::json_pointer path(std::string("/model/") + name);
    return asked.contains(path) && asked[path].is_string() ? asked[path].get<std::string>()
                                                           : std::string(otherwise);
  };
  const std::string attention = asked_word("attention", "additive");
  const std::string location =
      asked_word("location", attention == "additive" ? "convolved" : "none");
  return {{"units", "characters"},
          {"pronounce", "models/pronounce"},
          {"model",
           {{"attention", attention},
            {"location", location},
            {"hidden", 128},
            {"spell", 128},
            {"embedding", 32},
            {"score", 64},
            {"channels", 8},
            {"width", 21},
            {"ctc", attention == "none" ? 1.0 : 0.4},
            {"search_ctc", attention == "none" ? 1.0 : 0.4},
            {"beam", 8},
            {"dropout", 0.2},
            {"token_dropout", 0.1},
            {"spell_smoothing", 0.1},
            {"speed", 0.15},
            {"warp", 0.1},
            {"masks", 2},
            {"band_mask", 0.2},
            {"frame_mask", 0.1},
            {"join", 0.4}}}};
}

TrainingOptions LasTask::training(const Json&) const {
  return {.batch_tokens = 9000,
          .rate = 3e-3,
          .warm_up = 300,
          .clip = 1.0,
          .decay = 0.01,
          .average = 0.999,
          .evaluate_every = 1000,
          .evaluate_on = 200,
          .patience = 0};
}

Lexicon LasTask::lexicon(const Json& what, const Corpus& corpus, const TrainingTools&) const {
  std::vector<std::string> lines;
  lines.reserve(corpus.train.size());
  for (const Example& example : corpus.train) lines.push_back(example.targets.front());
  Lexicon lexicon;
  lexicon.vocabularies.emplace(
      kTokens, text::Tokeniser::learn(
                   what.at("units") == kPhones ? text::Units::words : text::Units::characters,
                   lines, kMostTokens));
  return lexicon;
}

std::shared_ptr<Network> LasTask::network(const Json& model, Lexicon lexicon,
                                          const std::string& where) const {
  return make_network(model, lexicon, where);
}

}  // namespace attn::tasks::las
