// The networks of classify.

#include "tasks/classify/network.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/attention/additive_score.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/composed/hierarchical_attention.hpp"
#include "attn/nn/mechanisms/pooling/plain_pooling.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/classify/bag.hpp"
#include "tasks/classify/corpora.hpp"
#include "tasks/classify/lexicon.hpp"
#include "tasks/classify/scores.hpp"
#include "tasks/classify/slots.hpp"
#include "tasks/classify/text_batch.hpp"
#include "tasks/classify/words.hpp"

namespace attn::tasks::classify {
namespace {

using Json = nlohmann::json;

/// Where tables begin: small beside what a GRU adds.
constexpr double kTableBound = 0.3;
/// What word vectors of variance 1 are multiplied with.
constexpr float kStartScale = 0.3f;
/// What counts as a text of words that the model does not know, and as a doubtful answer.
constexpr double kUnknownShare = 0.5;
constexpr double kDoubtful = 0.3;

struct ClassifierOptions {
  Kind kind;
  std::int64_t dim;
  std::int64_t hidden;
  std::int64_t layers;
  std::int64_t buckets;
  double dropout;
  double word_dropout;
  double smoothing;
  double votes;
  bool maxima;
  Bag bag;
};

ClassifierOptions options_of(const Json& model, const std::string& where) {
  const auto whole = [&](const char* key) {
    return files::to_int(files::member(model, key, where), where + ": model." + key);
  };
  const auto real = [&](const char* key) {
    return files::to_double(files::member(model, key, where), where + ": model." + key);
  };
  const std::string& kind = files::to_text(files::member(model, "kind", where), where);
  const auto at = std::find(kind_names().begin(), kind_names().end(), kind);
  if (at == kind_names().end())
    fail<FileError>(where, ": model.kind is ", files::in_quotes(kind));
  const std::string& bag = files::to_text(files::member(model, "bag", where), where);
  const auto which = std::find(bag_names().begin(), bag_names().end(), bag);
  if (which == bag_names().end())
    fail<FileError>(where, ": model.bag is ", files::in_quotes(bag));
  return {.kind = static_cast<Kind>(at - kind_names().begin()),
          .dim = whole("dim"),
          .hidden = whole("hidden"),
          .layers = whole("layers"),
          .buckets = whole("pieces"),
          .dropout = real("dropout"),
          .word_dropout = real("word_dropout"),
          .smoothing = real("label_smoothing"),
          .votes = real("votes"),
          .maxima = files::to_text(files::member(model, "maxima", where), where) == "yes",
          .bag = static_cast<Bag>(which - bag_names().begin())};
}

std::vector<std::string> names_of(const Json& facts, const char* key, std::size_t least,
                                  const std::string& where) {
  const std::string place = where + ": lexicon.json: " + key;
  const Json& list = files::member(facts, key, place);
  if (!list.is_array() || list.size() < least || list.size() > kMostLabels)
    fail<FileError>(place, " must be a list of ", least, " to ", kMostLabels, " names");
  std::vector<std::string> names;
  for (const Json& one : list) names.push_back(files::to_text(one, place));
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size())
    fail<FileError>(place, " names one twice");
  return names;
}

/// What the network makes of a batch.
struct Look {
  Tensor states;            ///< [texts * sentences, words, 2 hidden]
  Tensor pooled;            ///< [texts, features]
  Tensor word_weights;      ///< [texts, sentences, words]
  Tensor sentence_weights;  ///< [texts, sentences], of hierarchical
};

struct Tagged {
  Tensor logits;   ///< [texts, words, tags]
  Tensor weights;  ///< [texts, words, words]
};

class Classifier final : public Network {
 public:
  Classifier(const ClassifierOptions& options, const Lexicon& lexicon,
             std::vector<std::string> labels, std::vector<std::string> tags, std::string about)
      : options_(options),
        about_(std::move(about)),
        labels_(std::move(labels)),
        tags_(std::move(tags)),
        tables_(lexicon.vocabularies.at("words"), options.buckets),
        dropout_(add("dropout", nn::Dropout(options.dropout))),
        table_(add("words", first_words(options, lexicon))),
        pieces_(add("pieces", nn::uniform_within({options.buckets, options.dim}, kTableBound))),
        reader_(add("reader", nn::Gru({.in = options.dim,
                                       .hidden = options.hidden,
                                       .layers = options.layers,
                                       .direction = Direction::both}))),
        out_(add("out", nn::Linear({.in = features() +
                                          (options.maxima ? features() + options.dim : 0) +
                                          (options.bag == Bag::no ? 0 : options.dim),
                                    .out = static_cast<std::int64_t>(labels_.size())}))) {
    if (options_.kind == Kind::hierarchical)
      levels_.emplace(
          add("levels", nn::HierarchicalAttention({.word_dim = features(),
                                                   .word_hidden = features(),
                                                   .sentence_hidden = features(),
                                                   .encoder = nn::SentenceEncoder::bigru,
                                                   .gru_hidden = options.hidden})));
    if (options_.kind == Kind::flat) {
      hidden_.emplace(add("hidden", nn::Linear({.in = features(), .out = features()})));
      query_ = add("query", nn::fan_in_uniform({features()}, features()));
    }
    const std::int64_t words = lexicon.vocabularies.at("words").size();
    if (options_.bag == Bag::tf_idf || options_.votes > 0.0)
      rarities_ = add_buffer("rarities", counted(lexicon, "rarities", {words}));
    if (options_.votes > 0.0)
      votes_ = add_buffer("votes", counted(lexicon, "votes", {words, out_labels()}));
    if (!tags_.empty()) {
      shapes_ = add("shapes", nn::uniform_within({kShapes, options.dim}, kTableBound));
      aligned_.emplace(add("aligned", nn::AdditiveScore({.query_dim = features(),
                                                         .key_dim = features(),
                                                         .hidden_dim = options.hidden})));
      tag_out_.emplace(add(
          "tag",
          nn::Linear({.in = 2 * features(), .out = static_cast<std::int64_t>(tags_.size())})));
    }
    for (std::size_t i = 0; i < labels_.size(); ++i) label_ids_.emplace(labels_[i], i);
    for (std::size_t i = 0; i < tags_.size(); ++i) tag_ids_.emplace(tags_[i], i);
  }

  std::string kind() const override {
    return kind_names()[static_cast<std::size_t>(options_.kind)];
  }
  std::string variant() const override { return about_ == kOwn ? "" : about_; }

  Learner::Lesson loss(std::span<const Example* const> batch) const override {
    std::vector<Reading> readings;
    std::vector<std::int64_t> labels;
    for (const Example* example : batch) {
      readings.push_back(read(example->source));
      labels.push_back(label_ids_.at(example->targets.front()));
    }
    const auto count = static_cast<std::int64_t>(batch.size());
    const TextBatch texts = tables_.batch_of(readings, device());
    const Look look = look_at(texts);
    Tensor loss =
        cross_entropy(out_(dropout_(look.pooled)), Tensor::from(labels, {count}).to(device()),
                      {.smoothing = options_.smoothing});
    if (tag_out_)
      loss = loss + cross_entropy(tagged(texts, look).logits, right_tags(batch, texts));
    return {loss, count};
  }

  std::int64_t cost(const Example& example) const override {
    const Reading reading = read(example.source);
    std::size_t longest = 1;
    for (const auto& sentence : reading.sentences) longest = std::max(longest, sentence.size());
    return static_cast<std::int64_t>(longest * reading.sentences.size());
  }

  std::string refusal(const Input& input) const override {
    const auto* text = input.find<std::string>("text");
    if (text == nullptr) return "is missing";
    if (!files::is_utf8(*text)) return "is not UTF-8";
    if (text->find('\0') != std::string::npos) return "has a NUL byte";
    return text::split_words(*text).empty() ? "is empty; there is nothing to classify" : "";
  }

  std::vector<Reply> answer(std::span<const Input> inputs, const Choices&) const override {
    std::vector<Reading> readings;
    for (const Input& input : inputs) readings.push_back(read(input.text()));
    const TextBatch batch = tables_.batch_of(readings, device());
    const Look look = look_at(batch);
    const auto chances = chances_of(look, batch).to_vector<float>();
    std::vector<float> tag_scores;
    if (tag_out_) tag_scores = log_softmax(tagged(batch, look).logits).to_vector<float>();
    std::vector<Reply> replies;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto row = std::span(chances).subspan(i * labels_.size(), labels_.size());
      Answer answer = labelled(row);
      if (tag_out_) {
        const std::size_t size = static_cast<std::size_t>(batch.words) * tags_.size();
        const std::size_t some = readings[i].words() * tags_.size();
        const auto tags = tags_in(std::span(tag_scores).subspan(i * size, some));
        put_slots(slots_of(tags), readings[i].sentences.front(), answer);
      }
      Reply& reply = replies.emplace_back();
      reply.cut = readings[i].cut;
      tell_of(readings[i], answer, reply);
      reply.pieces.push_back({inputs[i].text(), reply.cut, {}, {answer}});
      reply.answers.push_back(std::move(answer));
    }
    return replies;
  }

  maps::Map map(const Input& input, const Piece& piece, std::string_view) const override {
    const std::vector<Reading> readings{read(input.text())};
    const TextBatch batch = tables_.batch_of(readings, device());
    const Look look = look_at(batch);
    const std::string& label = piece.answers.front().text;
    return tag_out_ ? maps::Map(alignment(batch, look, readings.front(), label))
                    : maps::Map(document(batch, look, readings.front(), label));
  }

 private:
  /// The vectors to begin with, where there are some; of words without one a draw.
  static Tensor first_words(const ClassifierOptions& options, const Lexicon& lexicon) {
    const std::int64_t count = lexicon.vocabularies.at("words").size();
    Tensor drawn = nn::uniform_within({count, options.dim}, kTableBound);
    const auto at = lexicon.start.find("words");
    if (at == lexicon.start.end()) return drawn;
    const std::vector<float> start = at->second.to_vector<float>();
    std::vector<float> all = drawn.to_vector<float>();
    if (start.size() != all.size())
      fail("attn classify: the vectors to begin with are ", at->second.text(), "; ",
           drawn.text(), " is accepted");
    for (std::size_t i = 0; i < all.size(); ++i)
      if (start[i] != 0.0f) all[i] = kStartScale * start[i];
    return Tensor::from(all, drawn.shape());
  }

  /// What a training counted in its texts; a folder has its own.
  static Tensor counted(const Lexicon& lexicon, const std::string& name, const Shape& shape) {
    const auto at = lexicon.start.find(name);
    return at == lexicon.start.end() ? Tensor::zeros(shape) : at->second;
  }

  std::int64_t out_labels() const { return static_cast<std::int64_t>(labels_.size()); }
  std::int64_t features() const { return 2 * options_.hidden; }

  Reading read(std::string_view text) const {
    return options_.kind == Kind::hierarchical ? read_sentences(text) : read_words(text);
  }

  /// The ids, in training some of them hidden behind the unknown word.
  Tensor seen_ids(const Tensor& ids) const {
    if (!training() || options_.word_dropout == 0.0) return ids;
    const auto draws = uniform(ids.shape(), 0.0, 1.0, nn::random()).to_vector<float>();
    auto numbers = ids.to_vector<std::int64_t>();
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (draws[i] < options_.word_dropout) numbers[i] = text::Mark::unknown;
    return Tensor::from(numbers, ids.shape()).to(device());
  }

  /// A word is its own row, the mean of its pieces and, where there are tags, its shape.
  Tensor embedded(const TextBatch& batch) const {
    const Tensor pieces =
        nn::average_pooling(embedding(pieces_, batch.pieces), batch.piece_counts).output;
    Tensor words = embedding(table_, seen_ids(batch.ids)) + embedding(pieces, batch.places);
    if (shapes_.defined()) words = words + embedding(shapes_, batch.shapes);
    return dropout_(words);
  }

  Look look_at(const TextBatch& batch) const {
    Look look;
    const Tensor words = embedded(batch);
    look.states = reader_(words, {}, batch.word_lens).out;
    switch (options_.kind) {
      case Kind::hierarchical: {
        // The constructor made it for these options.
        // NOLINTNEXTLINE(bugprone-unchecked-optional-access)
        const nn::DocumentLook levels = levels_->forward(
            dropout_(look.states)
                .reshape({batch.texts, batch.sentences, batch.words, features()}),
            batch.word_lens.reshape({batch.texts, batch.sentences}), batch.sentence_lens);
        look.pooled = levels.document;
        look.word_weights = levels.word_weights;
        look.sentence_weights = levels.sentence_weights;
        break;
      }
      case Kind::flat: {
        // The constructor made it for these options.
        // NOLINTNEXTLINE(bugprone-unchecked-optional-access)
        const Attended read = nn::additive_pooling((*hidden_)(look.states), query_, look.states,
                                                   spec::lengths(batch.word_lens));
        look.pooled = read.output.squeeze(1);
        look.word_weights = read.weights;
        break;
      }
      case Kind::mean: {
        const Attended read =
            nn::average_pooling(look.states, batch.word_lens, Want::output | Want::weights);
        look.pooled = read.output;
        look.word_weights = read.weights.unsqueeze(1);
        break;
      }
    }
    if (options_.maxima)
      look.pooled = concat({look.pooled, nn::max_pooling(look.states, batch.word_lens).values,
                            nn::max_pooling(words, batch.word_lens).values},
                           1);
    if (options_.bag == Bag::yes)
      look.pooled = concat({look.pooled, plain_bag(words, batch)}, 1);
    if (options_.bag == Bag::tf_idf)
      look.pooled = concat({look.pooled, tf_idf_bag(words, batch, rarities_)}, 1);
    return look;
  }

  /// The probabilities of all labels. What words vote for is not trained on: it knows the
  /// texts that it was counted in, and the network would learn to lean on it.
  Tensor chances_of(const Look& look, const TextBatch& batch) const {
    const Tensor logits = out_(look.pooled);
    if (options_.votes == 0.0) return softmax(logits);
    const Tensor votes = tf_idf_bag(embedding(votes_, batch.ids), batch, rarities_);
    return softmax(logits + votes * options_.votes);
  }

  /// The state of each word beside what it attends to. Liu and Lane, 2016.
  Tagged tagged(const TextBatch& batch, const Look& look) const {
    const Attended context =
        // The constructor made it for these options.
        // NOLINTNEXTLINE(bugprone-unchecked-optional-access)
        aligned_->forward(look.states, look.states, look.states, spec::lengths(batch.word_lens),
                          Want::output | Want::weights);
    const Tensor both = concat({look.states, context.output}, 2);
    // The constructor made it for these options.
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access)
    return {(*tag_out_)(dropout_(both)), context.weights};
  }

  Tensor right_tags(std::span<const Example* const> examples, const TextBatch& batch) const {
    constexpr std::int64_t kNone = -1;
    std::vector<std::int64_t> right(static_cast<std::size_t>(batch.texts * batch.words), kNone);
    for (std::size_t i = 0; i < examples.size(); ++i) {
      const std::string& line = examples[i]->targets.back();
      std::size_t at = i * static_cast<std::size_t>(batch.words);
      const std::size_t end = at + static_cast<std::size_t>(batch.words);
      for (const std::string_view tag : text::split_words(line))
        if (at < end) right[at++] = tag_ids_.at(std::string(tag));
    }
    return Tensor::from(right, {batch.texts, batch.words}).to(device());
  }

  Answer labelled(std::span<const float> chances) const {
    std::vector<std::size_t> order(chances.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return chances[a] > chances[b]; });
    Labels labels;
    for (const std::size_t i : order) labels.push_back({labels_[i], chances[i]});
    Answer answer;
    const Label& best = answer_among(labels);
    answer.text = best.name;
    answer.log_probability = answer.score = std::log(best.score);
    answer.finished = true;
    answer.output = std::move(labels);
    return answer;
  }

  std::vector<std::string> tags_in(std::span<const float> log_probs) const {
    std::vector<std::string> tags;
    for (const std::size_t tag : likeliest_tags(log_probs, tags_)) tags.push_back(tags_[tag]);
    return tags;
  }

  /// What a person should know beside the label.
  void tell_of(const Reading& reading, const Answer& answer, Reply& reply) const {
    if (reading.cut)
      reply.notes.push_back("the text is long; its first " + std::to_string(reading.words()) +
                            " words are read");
    if (answer.text == kOutOfScope)
      reply.notes.emplace_back("the text seems to be out of scope: none of the labels fits");
    const std::size_t unknown = tables_.unknown_words(reading);
    const auto words = static_cast<double>(reading.words());
    reply.unfamiliar = static_cast<double>(unknown) > kUnknownShare * words;
    if (reply.unfamiliar)
      reply.notes.push_back(std::to_string(unknown) + " of " + std::to_string(reading.words()) +
                            " words are unknown to the model: the label is a guess");
    const double chance = std::exp(answer.log_probability);
    const bool is_label = answer.text != kOutOfScope;
    if (is_label && !reply.unfamiliar && chance < kDoubtful)
      reply.notes.emplace_back("no label is likely: the first is a guess");
  }

  std::string caption(const std::string& label) const {
    return options_.kind == Kind::mean
               ? "Without attention every word counts the same for " + label + "."
           : options_.kind == Kind::flat
               ? "How much each word counts for " + label + "."
               : "How much each word counts in its sentence, and each sentence, for " + label +
                     ".";
  }

  maps::Document document(const TextBatch& batch, const Look& look, const Reading& reading,
                          const std::string& label) const {
    const auto weights = look.word_weights.to_vector<float>();
    std::vector<float> sentence_weights(reading.sentences.size(), 1.0f);
    if (look.sentence_weights.defined())
      sentence_weights = look.sentence_weights.to_vector<float>();
    maps::Document document{label, caption(label), {}};
    for (std::size_t s = 0; s < reading.sentences.size(); ++s) {
      maps::Sentence& sentence = document.sentences.emplace_back();
      sentence.weight = share_of(sentence_weights[s]);
      const auto& words = reading.sentences[s];
      for (std::size_t i = 0; i < words.size(); ++i)
        sentence.words.push_back(
            {words[i], share_of(weights[s * static_cast<std::size_t>(batch.words) + i])});
    }
    return document;
  }

  /// A row for each word's tag, and one for the label.
  maps::Alignment alignment(const TextBatch& batch, const Look& look, const Reading& reading,
                            const std::string& label) const {
    const std::vector<std::string>& words = reading.sentences.front();
    const Tagged tagged_words = tagged(batch, look);
    const auto log_probs = log_softmax(tagged_words.logits).to_vector<float>();
    maps::Alignment map{label,
                        "Where the tag of each word (a row) looked in the text, and, in the "
                        "last row, how much each word counts for the label.",
                        {},
                        words,
                        "tag",
                        "text",
                        {}};
    map.rows = tags_in(log_probs);
    map.rows.push_back(label);
    auto weights = tagged_words.weights.to_vector<float>();
    const auto last = look.word_weights.to_vector<float>();
    weights.insert(weights.end(), last.begin(), last.end());
    for (float& weight : weights) weight = share_of(weight);
    map.weights = {map.rows.size(), words.size(), std::move(weights)};
    return map;
  }

  /// Sums of roundings may leave 0..1.
  static float share_of(float weight) { return std::clamp(weight, 0.0f, 1.0f); }

  ClassifierOptions options_;
  std::string about_;
  std::vector<std::string> labels_;
  std::vector<std::string> tags_;  ///< none: texts have no slots
  WordTables tables_;
  nn::Dropout dropout_;
  Tensor table_;     ///< [words, dim]
  Tensor pieces_;    ///< [buckets, dim]
  Tensor shapes_;    ///< [shapes, dim], where there are tags
  Tensor votes_;     ///< [words, labels], where they count; not trained
  Tensor rarities_;  ///< [words], where the bag is by TF-IDF; not trained
  nn::Gru reader_;
  nn::Linear out_;
  std::optional<nn::HierarchicalAttention> levels_;
  std::optional<nn::Linear> hidden_;  ///< keys of flat attention
  Tensor query_;                      ///< its query, learnt
  std::optional<nn::AdditiveScore> aligned_;
  std::optional<nn::Linear> tag_out_;
  std::map<std::string, std::int64_t> label_ids_;
  std::map<std::string, std::int64_t> tag_ids_;
};

}  // namespace

const std::vector<std::string>& kind_names() {
  static const std::vector<std::string> kNames{"hierarchical", "flat", "mean"};
  return kNames;
}

const std::vector<std::string>& bag_names() {
  static const std::vector<std::string> kNames{"no", "yes", "tf-idf"};
  return kNames;
}

std::shared_ptr<Network> make_classifier(const Json& model, Lexicon lexicon,
                                         const std::string& where) {
  const ClassifierOptions options = options_of(model, where);
  const auto words = lexicon.vocabularies.find("words");
  if (words == lexicon.vocabularies.end() || words->second.units() != text::Units::words)
    fail<FileError>(where, ": there is no vocabulary of words, words.vocab");
  const std::string place = where + ": lexicon.json";
  std::string about = files::to_text(files::member(lexicon.facts, "about", place), place);
  std::vector<std::string> labels = names_of(lexicon.facts, "labels", 2, where);
  std::vector<std::string> tags = names_of(lexicon.facts, "tags", 0, where);
  for (const std::string& tag : tags)
    if (!is_tag(tag)) fail<FileError>(place, ": ", files::in_quotes(tag), " is no tag");
  const bool flat = options.kind != Kind::hierarchical;
  if (!flat && (!tags.empty() || options.maxima))
    fail<FileError>(where, ": model.kind is hierarchical; ",
                    tags.empty() ? "maxima are" : "slots are", " of texts that are read flat");
  return std::make_shared<Classifier>(options, lexicon, std::move(labels), std::move(tags),
                                      std::move(about));
}

}  // namespace attn::tasks::classify
