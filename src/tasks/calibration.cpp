#include "attn/tasks/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/languages.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/sha256.hpp"
#include "attn/text/tokeniser.hpp"
#include "attn/text/unicode.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWhere = "attn::tasks::calibrate: ";

struct Shipped {
  std::string_view language;
  std::string_view text;
};

// Made from data/everyday by cmake/AttnSplits.cmake; the last row keeps the array from being
// empty.
const Shipped kShipped[] = {
#include "everyday.inc"
    {"", ""}};

/// Words as counted_words() gives them and how often each occurs, from data/everyday.
std::unordered_map<std::string, double> word_counts(std::string_view name) {
  const auto* const list =
      std::find_if(std::begin(kShipped), std::end(kShipped),
                   [&](const Shipped& one) { return one.language == name; });
  if (list == std::end(kShipped)) fail(kWhere, "there is no list of words ", std::string(name));
  std::unordered_map<std::string, double> counts;
  std::istringstream lines{std::string(list->text)};
  for (std::string line; std::getline(lines, line);) {
    const auto tab = line.find('\t');
    if (tab != std::string::npos)
      counts.emplace(line.substr(0, tab), std::strtod(line.c_str() + tab + 1, nullptr));
  }
  return counts;
}

enum class Kind { other, letter, digit, apostrophe };

/// Characters outside ASCII are letters, but for the marks of Latin-1 and general punctuation.
Kind kind_of(char32_t c) {
  if (c >= U'0' && c <= U'9') return Kind::digit;
  if (c == U'\'' || c == U'\u2019') return Kind::apostrophe;
  const bool mark = c < 0xC0 || c == 0xD7 || c == 0xF7 || (c >= 0x2000 && c <= 0x206F);
  const bool small = c >= U'a' && c <= U'z';
  return small || !(mark || text::is_space(c)) ? Kind::letter : Kind::other;
}

constexpr std::int64_t kFormat = 1;
constexpr const char* kFile = "calibration.json";

/// How many texts of the development part are told to be unfamiliar for a reason other than
/// their words.
constexpr double kByProbability = 0.005;
constexpr double kByUnknown = 0.005;
constexpr double kBySymbols = 0.005;
/// So many symbols make no code of a text, even where nothing learnt has any: "50 %".
constexpr double kFewSymbols = 0.05;

/// Words that are rarer than this on both sides tell nothing.
constexpr double kLeastLearnt = 20;
constexpr double kLeastEveryday = 8;
/// Half an occurrence for what was never seen; past e^8 a word says no more.
constexpr double kUnseen = 0.5;
constexpr double kMostWeight = 8.0;
/// A word that is less telling than this is left out; weights keep one decimal.
constexpr double kLeastWeight = 0.5;

/// A rule holds if at most this share of the right answers breaks it. Synopses have 15 %
/// numbers that their descriptions lack; dates that become ISO dates would have a third.
constexpr double kBroken = 0.2;

/// Without the mark that names a language.
std::string_view unmarked(std::string_view text) {
  take_mark(text);
  return text;
}

/// The share of a text that is neither letter, digit, space nor a mark of sentences.
double symbol_share(std::string_view text) {
  constexpr std::string_view kSymbols = "{}[]<>=|\\;_*&#$@+~^%/";
  const auto symbols = std::count_if(text.begin(), text.end(), [&](char c) {
    return kSymbols.find(c) != std::string_view::npos;
  });
  return text.empty() ? 0.0 : static_cast<double>(symbols) / static_cast<double>(text.size());
}

WordProfile profile_of(const std::vector<Example>& examples, std::string_view others) {
  std::unordered_map<std::string, double> learnt;
  double all_learnt = 0.0;
  for (const Example& example : examples)
    for (std::string& word : counted_words(unmarked(example.source))) {
      learnt[std::move(word)] += 1.0;
      all_learnt += 1.0;
    }
  const std::unordered_map<std::string, double> everyday = word_counts(others);
  double all_everyday = 0.0;
  for (const auto& [word, count] : everyday) all_everyday += count;

  WordProfile profile;
  const auto count_in = [](const auto& counts, const std::string& word) {
    const auto count = counts.find(word);
    return count == counts.end() ? 0.0 : count->second;
  };
  const auto add = [&](const std::string& word) {
    const double here = count_in(learnt, word);
    const double there = count_in(everyday, word);
    if (here < kLeastLearnt && there < kLeastEveryday) return;
    const double ratio =
        std::log((here + kUnseen) / all_learnt) - std::log((there + kUnseen) / all_everyday);
    const double weight =
        std::round(10.0 * std::clamp(ratio, -kMostWeight, kMostWeight)) / 10.0;
    if (std::abs(weight) >= kLeastWeight) profile.weights[word] = static_cast<float>(weight);
  };
  for (const auto& [word, count] : learnt) add(word);
  for (const auto& [word, count] : everyday) add(word);
  return profile;
}

/// The same text rounds otherwise in a batch of another size, or on another machine; the answer
/// that the threshold was taken from must not fall below it for that.
constexpr double kRounding = 1e-3;

/// The value below which a share of them lies.
double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  return values[std::min(at, values.size() - 1)];
}

enum class Counted { all, with_digits };

/// Of all texts, or of those that have a number in digits.
bool copies_numbers(const std::vector<Example>& examples, Counted counted) {
  std::size_t all = 0;
  std::size_t invented = 0;
  for (const Example& example : examples) {
    const std::vector<std::string> source = numbers_of(text::normalise(example.source));
    if (source.empty() && counted == Counted::with_digits) continue;
    for (const std::string& number : numbers_of(text::normalise(example.targets.front()))) {
      ++all;
      invented += std::find(source.begin(), source.end(), number) == source.end() ? 1 : 0;
    }
  }
  return all > 0 && static_cast<double>(invented) <= kBroken * static_cast<double>(all);
}

std::string copied_marks(const std::string& marks, const std::vector<Example>& examples) {
  std::string copied;
  for (const char mark : marks) {
    std::size_t added = 0;
    for (const Example& example : examples)
      if (example.targets.front().find(mark) != std::string::npos &&
          example.source.find(mark) == std::string::npos)
        ++added;
    if (static_cast<double>(added) <= kBroken * static_cast<double>(examples.size()))
      copied += mark;
  }
  return copied;
}

std::string one_decimal(float value) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f", static_cast<double>(value));
  return text;
}

/// Of the weights with one axis (biases, gains): few, and no two trainings have the same.
std::string fingerprint(const PairModel& model) {
  std::string bytes = model.source.checksum() + model.target.checksum();
  for (const auto& [name, parameter] : model.model->named_parameters()) {
    bytes += name;
    if (parameter.rank() > 1) continue;
    const Tensor values = parameter.to(DType::f32).to(Device::cpu).contiguous();
    bytes.append(reinterpret_cast<const char*>(values.data<float>()),
                 static_cast<std::size_t>(values.numel()) * sizeof(float));
  }
  return text::sha256_hex(std::as_bytes(std::span(bytes)));
}

}  // namespace

double WordProfile::score(std::string_view text) const {
  const std::vector<std::string> words = counted_words(text);
  if (words.empty()) return 0.0;
  double sum = 0.0;
  for (const std::string& word : words)
    if (const auto weight = weights.find(word); weight != weights.end())
      sum += static_cast<double>(weight->second);
  return sum / std::sqrt(static_cast<double>(words.size()));
}

bool Calibration::is_unfamiliar(std::string_view text, double unknown_share,
                                std::optional<double> log_probability_of_token) const {
  return unknown_share > unknown || symbol_share(text) > symbols ||
         (words && words->score(text) < words->least) ||
         (log_probability_of_token && *log_probability_of_token < log_probability);
}

std::vector<std::string> counted_words(std::string_view text) {
  std::vector<std::string> words;
  std::u32string word;
  Kind before = Kind::other;
  const auto end = [&] {
    while (!word.empty() && word.back() == U'\'') word.pop_back();
    if (!word.empty()) words.push_back(text::to_utf8(std::exchange(word, {})));
  };
  for (const char32_t c : text::code_points(text::lower(text::normalise(text)))) {
    const Kind kind = kind_of(c);
    const bool inside = before == Kind::letter || before == Kind::apostrophe;
    if (kind == Kind::letter) {
      if (!inside) end();
      word += c;
    } else if (kind == Kind::apostrophe && before == Kind::letter) {
      word += U'\'';
    } else {
      end();
      if (kind == Kind::digit && before != Kind::digit) words.emplace_back("0");
    }
    before = kind;
  }
  end();
  return words;
}

Calibration calibrate(const PairModel& model, const Corpus& corpus, const Done& done) {
  if (corpus.train.empty() || corpus.development.empty())
    fail(kWhere, corpus.name, " has ", corpus.train.size(), " examples to learn from and ",
         corpus.development.size(), " of development; both are needed");
  const PairTask& task = pair_task_named(model.task);
  Calibration calibration;
  calibration.copies_numbers = copies_numbers(corpus.development, Counted::all);
  calibration.copies_digits = copies_numbers(corpus.development, Counted::with_digits);
  calibration.copied_marks = copied_marks(task.copied_marks, corpus.development);

  // The rules hold while answers are measured; nothing is told to be unfamiliar yet.
  PairModel ruled = model;
  ruled.calibration = std::make_shared<const Calibration>(calibration);
  const Answerer answerer(std::move(ruled));
  std::vector<Input> inputs;
  for (const Example& example : corpus.development)
    if (answerer.refusal(example.source).empty()) inputs.emplace_back(example.source);
  if (inputs.empty()) fail(kWhere, "every text of the development part is refused");
  std::vector<double> unknown;
  std::vector<double> symbols;
  std::vector<double> likely;
  for (const Input& input : inputs) {
    unknown.push_back(model.source.unknown_share(unmarked(input.text())));
    symbols.push_back(symbol_share(unmarked(input.text())));
  }
  for (const Reply& reply : answerer(inputs, {}, done))
    likely.push_back(log_probability_of_token(reply.answers.front()));
  calibration.unknown = quantile(unknown, 1.0 - kByUnknown);
  calibration.log_probability = quantile(likely, kByProbability) - kRounding;
  if (task.tells_symbols)
    calibration.symbols = std::max(kFewSymbols, quantile(symbols, 1.0 - kBySymbols));
  // Words are counted where they stand between spaces, in English.
  const bool english = model.language.empty() || languages_of(model.language).from == "en";
  if (model.source.units() == text::Units::characters || !english) return calibration;
  WordProfile words = profile_of(corpus.train, task.other_words);
  std::vector<double> scores;
  scores.reserve(inputs.size());
  for (const Input& input : inputs) scores.push_back(words.score(unmarked(input.text())));
  words.least = quantile(scores, task.unfamiliar);
  calibration.words = std::move(words);
  return calibration;
}

void save_calibration(const fs::path& folder, const PairModel& model,
                      const Calibration& calibration) {
  nlohmann::json json{{"format", kFormat},
                      {"fingerprint", fingerprint(model)},
                      {"unknown", calibration.unknown},
                      {"symbols", calibration.symbols},
                      {"log_probability", calibration.log_probability},
                      {"copies_numbers", calibration.copies_numbers},
                      {"copies_digits", calibration.copies_digits},
                      {"copied_marks", calibration.copied_marks}};
  if (calibration.words) {
    // {"-2.5": "abandon adore ..."}: words by their weight are half as long as weights by word.
    std::map<std::string, std::vector<std::string>> by_weight;
    for (const auto& [word, weight] : calibration.words->weights)
      by_weight[one_decimal(weight)].push_back(word);
    nlohmann::json weights = nlohmann::json::object();
    for (auto& [weight, words] : by_weight) {
      std::sort(words.begin(), words.end());
      std::string list;
      for (const std::string& word : words) list += (list.empty() ? "" : " ") + word;
      weights[weight] = list;
    }
    json["words"] = {{"least", calibration.words->least}, {"weights", std::move(weights)}};
  }
  files::write_json(folder / kFile, json);
}

std::optional<Calibration> load_calibration(const fs::path& folder, const PairModel& model) {
  std::error_code ignored;
  if (!fs::exists(folder / kFile, ignored)) return std::nullopt;
  const std::string where = files::path_text(folder / kFile);
  const nlohmann::json json = files::read_json(folder / kFile);
  if (const std::int64_t format = files::to_int(files::member(json, "format", where), where);
      format != kFormat)
    fail<FileError>(where, " has the format ", format, "; accepted: ", kFormat);
  const auto number = [&](const nlohmann::json& object, const char* name) {
    return files::to_double(files::member(object, name, where), where);
  };
  if (files::to_text(files::member(json, "fingerprint", where), where) != fingerprint(model))
    fail<FileError>(where,
                    " belongs to other weights than those beside it; remove it, or make "
                    "it anew: attn eval ",
                    model.task, " --model DIR --calibrate");
  Calibration calibration;
  calibration.unknown = number(json, "unknown");
  if (json.contains("symbols")) calibration.symbols = number(json, "symbols");
  calibration.log_probability = number(json, "log_probability");
  calibration.copied_marks = files::to_text(files::member(json, "copied_marks", where), where);
  calibration.copies_numbers =
      files::to_bool(files::member(json, "copies_numbers", where), where);
  calibration.copies_digits =
      json.contains("copies_digits") && files::to_bool(json["copies_digits"], where);
  if (!json.contains("words")) return calibration;
  const nlohmann::json& words = json["words"];
  calibration.words.emplace().least = number(words, "least");
  const nlohmann::json& weights = files::member(words, "weights", where);
  if (!weights.is_object()) fail<FileError>(where, ": \"weights\" is no object");
  for (const auto& [weight, list] : weights.items()) {
    char* end = nullptr;
    const float value = std::strtof(weight.c_str(), &end);
    if (end == weight.c_str() || *end != '\0' || !std::isfinite(value))
      fail<FileError>(where, ": ", files::in_quotes(weight), " is no weight of words");
    for (const std::string_view word : text::split_words(files::to_text(list, where)))
      calibration.words->weights.emplace(word, value);
  }
  return calibration;
}

}  // namespace attn::tasks
